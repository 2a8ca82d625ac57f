//go:build unix

package inputfile

import (
	"syscall"
	"testing"
)

func makePipe(t *testing.T, path string) (string, bool) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Log("no pipe is tried:", err)
		return "", false
	}
	return path, true
}
