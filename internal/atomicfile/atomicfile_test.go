package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func put(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// expect checks the content of path, and that its folder holds count files.
func expect(t *testing.T, path, want string, count int) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%.50q, %v; want %.50q", got, err, want)
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	if len(files) != count {
		t.Errorf("the folder holds %v, not %d files", files, count)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, s := range []string{"first", "", strings.Repeat("long", 100_000), "last"} {
		if err := Write(path, put(s)); err != nil {
			t.Fatal(err)
		}
		expect(t, path, s, 1)
	}
	t.Chdir(filepath.Dir(path))
	if err := Write("f", put("without a folder")); err != nil {
		t.Fatal(err)
	}
	expect(t, path, "without a folder", 1)
}

func TestFailureLeavesOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, put("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no more ink")
	fail := func(w io.Writer) error {
		put(strings.Repeat("new", 100_000))(w)
		return broken
	}
	err := Write(path, fail)
	wantError(t, err, "cannot write "+path+": no more ink")
	if !errors.Is(err, broken) {
		t.Error("the cause is lost")
	}
	expect(t, path, "old", 1)

	func() {
		defer func() { recover() }()
		Write(path, func(io.Writer) error { panic("on purpose") })
	}()
	expect(t, path, "old", 1)
}

func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such permissions")
	}
	dir := t.TempDir()
	mode := func(name string) os.FileMode {
		if err := Write(filepath.Join(dir, name), put("x")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	// What open gives under this umask.
	f, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := f.Stat()
	f.Close()
	if got := mode("new"); got != info.Mode().Perm() {
		t.Errorf("a new file has %v, want %v", got, info.Mode().Perm())
	}
	for _, want := range []os.FileMode{0o600, 0o664} {
		if err := os.Chmod(filepath.Join(dir, "new"), want); err != nil {
			t.Fatal(err)
		}
		if got := mode("new"); got != want {
			t.Errorf("an old file has %v, want %v", got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("fixed"), []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("none"), in("dangling")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		"":              "this is not a file name",
		in("x") + "/":   "this is not a file name",
		dir:             "it is a folder",
		os.DevNull:      "it is not a regular file",
		in("fixed"):     "the file is read-only",
		in("fixed/f"):   "not a directory",
		in("dangling"):  "the link leads nowhere: no such file or directory",
		in("missing/f"): "the folder " + in("missing") + " does not exist",
	} {
		wantError(t, Write(path, put("x")), "cannot write "+path+": "+want)
	}
	expect(t, in("fixed"), "old", 2)
}

func TestLinkIsFollowed(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "f")
	if err := Write(elsewhere, put("old")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, put("new")); err != nil {
		t.Fatal(err)
	}
	expect(t, elsewhere, "new", 1)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10 {
				if err := Write(path, put(strings.Repeat(fmt.Sprint(i), 100_000))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 100_000 || strings.Trim(string(got), string(got[:1])) != "" {
		t.Errorf("%d bytes, mixed, %v", len(got), err)
	}
	expect(t, path, string(got), 1)
}
