//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	if who := Holder(path); !strings.Contains(who, strconv.Itoa(os.Getpid())) {
		t.Errorf("it is held by %q", who)
	}
	release()
	if who := Holder(path); who != "" {
		t.Errorf("nobody holds it, but %q", who)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was left")
	}
	again, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
