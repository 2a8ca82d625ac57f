//go:build unix

package table

import (
	"errors"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// A stream that outgrows the room for its copy is told so, not that it cannot be read.
func TestCopyOutgrowsTheDisk(t *testing.T) {
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
	r := &Reader{head: &Header{File: "a.npz"}}
	_, _, err := r.seekable(nil, strings.NewReader(strings.Repeat("x", 150_000)))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, done := range r.done {
		done()
	}
	if !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(), "a.npz must be copied into a temporary file to be read, and none can be written in ") {
		t.Error(err)
	}
}
