package gpu_test

import (
	"strings"
	"testing"
)

// A user hears what a first start waits for.
func TestNotice(t *testing.T) {
	e := card(t)
	said := ""
	e.Notice(func(reason error) { said = reason.Error() })
	if e.Slow(); !strings.HasPrefix(said, "the driver compiles the kernels for ") {
		t.Errorf("said %q", said)
	}
}
