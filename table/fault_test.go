package table

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"
)

// failingAfter gives n bytes and then an error, as a disk or a network does.
type failingAfter struct {
	r   io.Reader
	n   int
	err error
}

func (f *failingAfter) Read(p []byte) (int, error) {
	if f.n == 0 {
		return 0, f.err
	}
	n, err := f.r.Read(p[:min(len(p), f.n)])
	f.n -= n
	return n, err
}

// Wherever reading fails, the error is one sentence with the reason, and no row is made up; a
// stream that gives a byte at a time gives the same table.
func TestReadingFails(t *testing.T) {
	files := map[string][]byte{
		"a.csv": []byte("x,name\n1,a\n2,\"b\nc\"\n3.5,d\n"),
		"a.npy": npyBytes(t, mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8})),
		"b.npy": rawNpy(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (3, 2), }", 1, 2, 3, 4, 5, 6),
		"a.npz": archive(t, 8, map[string][]byte{"x.npy": npyBytes(t, []int32{1, 2, 3})}),
	}
	read := func(name string, src io.Reader) (string, error) {
		r, err := NewReader(src, name, Options{})
		if err != nil {
			return "", err
		}
		defer r.Close()
		return dump(r)
	}
	for name, data := range files {
		want, err := read(name, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := read(name, iotest.OneByteReader(bytes.NewReader(data))); err != nil || got != want {
			t.Errorf("%s, a byte at a time: %v\n%s", name, err, got)
		}
		if got, err := read(name, iotest.DataErrReader(bytes.NewReader(data))); err != nil || got != want {
			t.Errorf("%s, with the end beside the last bytes: %v\n%s", name, err, got)
		}
		for n := range data {
			got, err := read(name, &failingAfter{bytes.NewReader(data), n, syscall.EIO})
			if err == nil || !errors.Is(err, syscall.EIO) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), name) {
				t.Errorf("%s fails after %d bytes: %v\n%s", name, n, err, got)
			}
		}
	}
}
