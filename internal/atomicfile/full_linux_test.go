package atomicfile

import (
	"errors"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The kernel refuses to write on, as on a full disk.
func TestKernelRefusesToWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, put("old")); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	tight := limit
	tight.Cur = 100_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
		t.Skip(err)
	}
	long := strings.Repeat("x", 150_000)
	heeding := Write(path, put(long))
	heedless := Write(path, func(w io.Writer) error {
		put(long)(w)
		return nil
	})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{heeding, heedless} {
		wantError(t, err, "cannot write "+path+": file too large")
		if !errors.Is(err, syscall.EFBIG) {
			t.Error("the cause is lost")
		}
	}
	expect(t, path, "old", 1)
}
