//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	release, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(path); !errors.Is(err, ErrBusy) {
		t.Errorf("held twice: %v", err)
	}
	release()
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was left")
	}
	again, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
