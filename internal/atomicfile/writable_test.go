package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{dir, in("new"), in("new/and/deeper")} {
		if err := Writable(d); err != nil {
			t.Error(err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left %v, %v", files, err)
	}
	if err := os.WriteFile(in("file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{in("file"), in("file/sub/sub")} {
		wantError(t, Writable(d), "cannot write to the folder "+d+": "+in("file")+" is not a folder")
	}
	if err := os.Symlink(in("none"), in("dangling")); err != nil {
		t.Skip(err)
	}
	d := in("dangling/sub")
	wantError(t, Writable(d), "cannot write to the folder "+d+": "+in("dangling")+" is a link that leads nowhere")
}

// A folder that no one may write to: root may write to any, but not to /proc.
func TestNotWritable(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip(err)
	}
	if err := Writable("/proc/self/fd"); err == nil {
		t.Error("/proc was said to be writable")
	} else {
		t.Log(err)
	}
	if os.Getuid() == 0 {
		return
	}
	dir := filepath.Join(t.TempDir(), "shut")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	wantError(t, Writable(dir), "cannot write to the folder "+dir+": permission denied")
	wantError(t, Write(filepath.Join(dir, "f"), put("x")), "cannot write "+filepath.Join(dir, "f")+": permission denied")
}
