package table

import (
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// openNow are the files in a folder that this process has open.
func openNow(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err == nil && filepath.Dir(name) == folder {
			names = append(names, name)
		}
	}
	return names
}

// A table keeps its file open until it is closed, and one that is refused not at all.
func TestFilesAreClosed(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct {
		data []byte
		good bool
	}{
		"a.csv":     {[]byte("x,y\n1,2\n"), true},
		"a.npy":     {npyBytes(t, mat.NewDense(2, 2, []float64{1, 2, 3, 4})), true},
		"a.npz":     {archive(t, 8, map[string][]byte{"x.npy": npyBytes(t, []int32{1, 2, 3})}), true},
		"empty.csv": {nil, false},
		"bits.csv":  {[]byte{0, 1, 2, 3}, false},
		"odd.npy":   {rawNpy(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", 1), false},
		"half.npz":  {[]byte("PK\x03\x04half"), false},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, Options{})
		if (err == nil) != c.good {
			t.Fatalf("%s: %v", name, err)
		}
		if held := openNow(t, folder); err == nil && len(held) == 0 {
			t.Errorf("%s is read, but not open: this shows nothing", name)
		}
		if err == nil {
			r.Close()
		}
		if held := openNow(t, folder); len(held) > 0 {
			t.Errorf("%s is done with; %v stays open", name, held)
		}
	}
}
