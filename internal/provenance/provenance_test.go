package provenance

import "testing"

func TestHere(t *testing.T) {
	r := Here()
	if r.Version == "" || r.Go == "" || r.System == "" || r.Kernels == "" || r.Cores < 1 {
		t.Errorf("the record has gaps: %+v", r)
	}
}
