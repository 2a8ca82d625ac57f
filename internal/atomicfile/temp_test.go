package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Only old temporary files of the very same target go.
func TestStaleFilesAreSwept(t *testing.T) {
	dir := t.TempDir()
	const digits = "0123456789abcdef"
	names := map[string]time.Duration{
		".f.tmp-" + digits:                    2 * time.Hour, // the only one to go
		".f.tmp-fedcba9876543210":             30 * time.Minute,
		".f.tmp-0123":                         2 * time.Hour,
		".f.tmp-" + digits + "0":              2 * time.Hour,
		".f.tmp-0123456789abcdeg":             2 * time.Hour,
		".g.tmp-" + digits:                    2 * time.Hour,
		".f.tmp-" + digits + ".tmp-" + digits: 2 * time.Hour,
		"f.tmp-" + digits:                     2 * time.Hour,
	}
	want := []string{"f"}
	for name, age := range names {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		if name != ".f.tmp-"+digits {
			want = append(want, name)
		}
	}
	if err := Write(filepath.Join(dir, "f"), put("x")); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, f := range files {
		got = append(got, f.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left %q\nwant %q", got, want)
	}
}
