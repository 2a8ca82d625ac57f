package safetensors

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe nobody writes to is refused, not waited for.
func TestRefusesPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.HasSuffix(err.Error(), "it is a pipe, not a regular file") {
		t.Error(err)
	}
}
