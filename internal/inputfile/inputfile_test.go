package inputfile

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Read(path, 2)
	if err != nil || string(b) != "abc" {
		t.Errorf("read %q, %v", b, err)
	}
	f, size, err := Open(path)
	if err != nil || size != 3 {
		t.Fatalf("opened with size %d, %v", size, err)
	}
	f.Close()
}

// Each refusal is one sentence that names the file, and nothing is waited for.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	cases := map[string]string{dir: "it is a folder", missing: "no such file or directory"}
	if _, err := os.Stat("/dev/null"); err == nil {
		cases["/dev/null"] = "it is a device, not a regular file"
	}
	if pipe, ok := makePipe(t, filepath.Join(dir, "pipe")); ok {
		cases[pipe] = "it is a pipe, not a regular file"
	}
	for path, want := range cases {
		want = "cannot read " + path + ": " + want
		if _, _, err := Open(path); err == nil || err.Error() != want {
			t.Errorf("Open(%s): %v, want %s", path, err, want)
		}
		if _, err := Read(path, 1); err == nil || err.Error() != want {
			t.Errorf("Read(%s): %v, want %s", path, err, want)
		}
	}
}

// A file that does not fit is refused before memory is taken: this one has holes of 20 GB.
func TestTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(20 << 30); err != nil {
		t.Skip("this file system has no holes:", err)
	}
	_, err = read(path, 3, 1<<30)
	if err == nil || !strings.Contains(err.Error(), "its 20 GiB need about 60 GiB of memory, and 1 GiB are free") {
		t.Errorf("read 20 GB: %v", err)
	}
	if err := f.Truncate(1000); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path, 3, 2999); err == nil {
		t.Error("3000 bytes were taken of 2999")
	}
	if b, err := read(path, 3, 3000); err != nil || len(b) != 1000 {
		t.Errorf("read %d bytes, %v", len(b), err)
	}
	if _, err := read(path, 1e9, math.Inf(1)); err != nil {
		t.Error(err)
	}
}
