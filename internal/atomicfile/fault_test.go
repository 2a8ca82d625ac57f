package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Every system call of a Write fails once, in each of several ways: the old file stays or the new
// one stands whole, nothing else is left in the folder, and the error is one sentence without the
// temporary name.
func TestEveryCallFails(t *testing.T) {
	defer func() { Fault = nil }()
	old, text := "old", strings.Repeat("new ", 50_000) // three writes of the buffer
	names := map[string]int{}
	for _, reason := range []error{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, syscall.EINTR} {
		for failing := 0; ; failing++ {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
				t.Fatal(err)
			}
			calls, last := 0, ""
			Fault = func(call string) error {
				calls++
				if calls-1 != failing {
					return nil
				}
				last = call
				return reason
			}
			err := Write(path, put(text))
			Fault = nil
			if last == "" {
				if err != nil {
					t.Errorf("nothing failed, but %v", err)
				}
				break
			}
			names[last]++
			want := old
			if last == "sync folder" {
				want = text // it stands, but may not survive a power cut
			}
			expect(t, path, want, 1)
			if err == nil || !errors.Is(err, reason) || strings.Contains(err.Error(), "tmp-") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s fails with %v: the error is %v", last, reason, err)
			}
		}
	}
	if got, want := fmt.Sprint(names), "map[chmod:4 close:4 create:4 rename:4 sync:4 sync folder:4 write:16]"; got != want {
		t.Errorf("the calls that failed are %s, want %s", got, want)
	}
}
