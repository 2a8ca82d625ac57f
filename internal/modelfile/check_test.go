package modelfile

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	if err := Check(filepath.Join(t.TempDir(), "missing")); err != nil {
		t.Error(err)
	}
	if err := Check("check_test.go"); err == nil || !strings.Contains(err.Error(), "is not a utvi model file") {
		t.Error(err)
	}
}
