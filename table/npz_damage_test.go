package table

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// archive packs arrays as numpy.savez (stored) or savez_compressed do.
func archive(t *testing.T, method uint16, members map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A number that changed on the way is noticed by the archive's checksum, in any order of the
// array's numbers.
func TestDamagedArchive(t *testing.T) {
	inRows := npyBytes(t, mat.NewDense(50, 3, nil))
	inColumns := rawNpy(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (3, 2), }", 1, 2, 3, 4, 5, 6)
	for name, array := range map[string][]byte{"rows": inRows, "columns": inColumns} {
		whole := archive(t, zip.Store, map[string][]byte{"x.npy": array})
		if _, err := dumpBytes(t, "a.npz", whole); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		damaged := bytes.Clone(whole)
		damaged[bytes.Index(damaged, array)+len(array)-2] ^= 4
		_, err := dumpBytes(t, "a.npz", damaged)
		if err == nil || !strings.Contains(err.Error(), "a.npz: the file is damaged") {
			t.Errorf("%s: a changed number gives %v", name, err)
		}
	}
}

// Bytes behind an array's numbers are refused: nobody knows what they are.
func TestArchiveWithMore(t *testing.T) {
	array := append(npyBytes(t, []int32{1, 2}), 7, 7)
	_, err := dumpBytes(t, "a.npz", archive(t, zip.Deflate, map[string][]byte{"x.npy": array}))
	if err == nil || err.Error() != "cannot read x.npy of a.npz: bytes follow the numbers that its shape announces" {
		t.Error(err)
	}
}
