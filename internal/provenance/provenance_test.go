package provenance

import "testing"

func TestHere(t *testing.T) {
	r := Here()
	if r.Version == "" || r.Go == "" || r.System == "" || r.Kernels == "" || r.Cores < 1 {
		t.Errorf("the record has gaps: %+v", r)
	}
}

func TestShort(t *testing.T) {
	for version, want := range map[string]string{
		"v0.0.0-20261115073658-379d94b8be02 379d94b8be02bc48955d": "v0.0.0-20261115073658-379d94b8be02",
		"v1.2.0 379d94b8be02bc48955d":                             "v1.2.0 379d94b8be02bc48955d",
		"(devel)":                                                 "(devel)",
	} {
		if got := Short(version); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
