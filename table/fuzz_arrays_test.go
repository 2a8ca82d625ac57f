package table

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
)

// readAll reads a table to its end; no input may panic, or give a chunk and an error without a word.
func readAll(t *testing.T, name string, data []byte) {
	r, err := NewReader(bytes.NewReader(data), name, Options{})
	if err != nil {
		sentence(t, err)
		return
	}
	defer r.Close()
	for rows := 0; rows < 1_000_000; {
		c, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			sentence(t, err)
			return
		}
		if c.Rows() == 0 {
			t.Fatal("an empty chunk")
		}
		rows += c.Rows()
	}
}

// sentence checks that an error can be shown to a user.
func sentence(t *testing.T, err error) {
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\n\x00") || len(text) > 1000 {
		t.Fatalf("the error is %q", text)
	}
}

func FuzzNpy(f *testing.F) {
	f.Add(rawNpy(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (3, 2), }", 1, 2, 3, 4, 5, 6))
	f.Add(rawNpy(2, "{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add(rawNpy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 2), }", 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		readAll(t, "a.npy", append([]byte(npyMagic), bytes.TrimPrefix(data, []byte(npyMagic))...))
	})
}

func FuzzNpz(f *testing.F) {
	array := rawNpy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 0, 0, 128, 63, 0, 0, 0, 64)
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range []string{"x.npy", "y.npy"} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
			if err != nil {
				f.Fatal(err)
			}
			w.Write(array)
		}
		z.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "a.npz", data) })
}
