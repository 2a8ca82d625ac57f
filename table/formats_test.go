package table

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"
)

// dumpBytes reads a file's bytes twice: as a file, and as a stream that cannot be
// sought. Both must agree.
func dumpBytes(t *testing.T, name string, data []byte) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	read := func(open func() (*Reader, error)) (string, error) {
		r, err := open()
		if err != nil {
			return "", err
		}
		defer r.Close()
		return dump(r)
	}
	file, fileErr := read(func() (*Reader, error) { return Open(path, Options{}) })
	stream, streamErr := read(func() (*Reader, error) { return NewReader(io.MultiReader(bytes.NewReader(data)), path, Options{}) })
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(data)
	w.Close()
	zipped, zippedErr := read(func() (*Reader, error) { return NewReader(&z, path, Options{}) })
	if file != stream || file != zipped || fmt.Sprint(fileErr) != fmt.Sprint(streamErr) || fmt.Sprint(fileErr) != fmt.Sprint(zippedErr) {
		t.Errorf("the file gives\n%s%v, the stream\n%s%v, compressed\n%s%v", file, fileErr, stream, streamErr, zipped, zippedErr)
	}
	if fileErr != nil {
		fileErr = fmt.Errorf("%s", strings.ReplaceAll(fileErr.Error(), path, name))
	}
	return file, fileErr
}

func npyBytes(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rawNpy writes a header and bytes by hand, for what npyio does not write.
func rawNpy(version byte, header string, data ...byte) []byte {
	header += "\n"
	b := append([]byte("\x93NUMPY"), version, 0, byte(len(header)), byte(len(header)>>8))
	if version > 1 {
		b = append(b, 0, 0)
	}
	return append(append(b, header...), data...)
}

func TestNpy(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"matrix":    {npyBytes(t, mat.NewDense(2, 3, []float64{1, 2, 3, math.NaN(), -5.5, math.Inf(1)})), "c1|c2|c3\n1: 1 2 3\n2: _ -5.5 +Inf\n"},
		"vector":    {npyBytes(t, []int32{5, -6}), "c1\n1: 5\n2: -6\n"},
		"float32":   {npyBytes(t, []float32{0.5}), "c1\n1: 0.5\n"},
		"bytes":     {npyBytes(t, []uint8{7, 200}), "c1\n1: 7\n2: 200\n"},
		"bools":     {npyBytes(t, []bool{true, false}), "c1\n1: 1\n2: 0\n"},
		"columns":   {rawNpy(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (3, 2), }", 1, 2, 3, 4, 5, 0xfa), "c1|c2\n1: 1 4\n2: 2 5\n3: 3 -6\n"},
		"bigendian": {rawNpy(2, "{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2), }", 1, 2, 0xff, 0xfe), "c1|c2\n1: 258 -2\n"},
		"half":      {rawNpy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (5,), }", 0, 0x3c, 0, 0xc1, 1, 0, 0, 0x7c, 1, 0x7e), "c1\n1: 1\n2: -2.5\n3: 5.960464477539063e-08\n4: +Inf\n5: _\n"},
	} {
		got, err := dumpBytes(t, name+".npy", c.data)
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n%swant\n%s", name, err, got, c.want)
		}
	}
	big := mat.NewDense(10_000, 3, nil)
	big.Apply(func(i, j int, _ float64) float64 { return float64(3*i + j) }, big)
	r, err := NewReader(bytes.NewReader(npyBytes(t, big)), "big.npy", Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Load(r)
	if err != nil || f.Len() != 10_000 {
		t.Fatal(err)
	}
	c, row := f.At(9_876)
	if _, v := c.Cell(row, 1); v != 3*9_876+1 || c.Line(row) != 9_877 {
		t.Errorf("row 9876 holds %v, number %d", v, c.Line(row))
	}
}

func TestNpyErrors(t *testing.T) {
	good := npyBytes(t, mat.NewDense(2, 3, nil))
	head := func(descr, order, shape string) []byte {
		return rawNpy(1, fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, order, shape), 0, 0, 0, 0)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{good[:len(good)-1], "cannot read a.npy: the file is truncated"},
		{good[:20], "cannot read a.npy: the file is truncated"},
		{head("'<f4'", "True", "(2, 2)"), "cannot read a.npy: the file is truncated"},
		{head("'<U3'", "False", "(2, 2)"), "cannot read a.npy: the array holds <U3; numbers are needed: float64, float32, an integer type or bool"},
		{head("'<c8'", "False", "(2, 2)"), "cannot read a.npy: the array holds <c8; numbers are needed: float64, float32, an integer type or bool"},
		{head("'|O'", "False", "(2, 2)"), "cannot read a.npy: the array holds |O; numbers are needed: float64, float32, an integer type or bool"},
		{head("[('a', '<f4')]", "False", "(2,)"), "cannot read a.npy: the array holds records; plain numbers are needed, one array for each column"},
		{head("'<f4'", "False", "(2, 2, 2)"), "cannot read a.npy: the array has the shape (2, 2, 2); two dimensions are needed, rows and columns"},
		{head("'<f4'", "False", "()"), "cannot read a.npy: the array has the shape (); two dimensions are needed, rows and columns"},
		{head("'<f4'", "False", "(3, 0)"), "cannot read a.npy: the array has the shape (3, 0); a table has from 1 to 1048576 columns, and no more rows than a file can hold"},
		{head("'<f4'", "False", "(99999999999999999999, 2)"), "cannot read a.npy: the header is damaged"},
		{head("'<f4'", "False", "(999999999999, 999999)"), "cannot read a.npy: the array has the shape (999999999999, 999999); a table has from 1 to 1048576 columns, and no more rows than a file can hold"},
		{head("'<f4'", "Maybe", "(2, 2)"), "cannot read a.npy: the header is damaged"},
		{head("'<f4'", "False", "(0, 2)"), "a.npy has no rows"},
		{[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{"), "cannot read a.npy: the header is damaged"},
	} {
		if got, err := dumpBytes(t, "a.npy", c.data); err == nil || err.Error() != c.want {
			t.Errorf("%.80q: got %s\n%v, want\n%s", c.data, got, err, c.want)
		}
	}
}

func TestNpz(t *testing.T) {
	write := func(arrays ...any) ([]byte, error) {
		var b bytes.Buffer
		w := npz.NewWriter(&b)
		for i := 0; i < len(arrays); i += 2 {
			if err := w.Write(arrays[i].(string)+".npy", arrays[i+1]); err != nil {
				return nil, err
			}
		}
		err := w.Close()
		return b.Bytes(), err
	}
	x := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	for _, c := range []struct {
		arrays []any
		want   string
		err    string
	}{
		{[]any{"X", x, "y", []float64{5, 6}}, "X1|X2|y\n1: 1 2 5\n2: 3 4 6\n", ""},
		{[]any{"age", []int64{30, 40}, "b", []float32{.5, .25}}, "age|b\n1: 30 0.5\n2: 40 0.25\n", ""},
		{[]any{"X", x, "y", []float64{5, 6, 7}}, "", "a.npz: the array y has 3 rows, X has 2; all arrays must have the same number of rows"},
		{[]any{"X", x, "X1", []float64{5, 6}}, "", "a.npz: columns 1 and 3 are both named X1; names must differ"},
		{[]any{"X", []string{"a"}}, "", "cannot read X.npy of a.npz: the array holds <U1; numbers are needed: float64, float32, an integer type or bool"},
	} {
		data, err := write(c.arrays...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dumpBytes(t, "a.npz", data)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("got %v, want %s", err, c.err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%v\n%swant\n%s", err, got, c.want)
		}
	}
}

// Columns one after the other, more rows than a chunk has.
func TestNpyColumnsInChunks(t *testing.T) {
	const n = MaxRows + 5
	data := rawNpy(1, fmt.Sprintf("{'descr': '|u1', 'fortran_order': True, 'shape': (%d, 2), }", n))
	for i := range 2 * n {
		data = append(data, byte(i%251))
	}
	r, err := NewReader(bytes.NewReader(data), "a.npy", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Load(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []int{7, n - 1} {
		c, at := f.At(row)
		_, a := c.Cell(at, 0)
		_, b := c.Cell(at, 1)
		if a != float64(row%251) || b != float64((n+row)%251) {
			t.Errorf("row %d is %v, %v", row, a, b)
		}
	}
}
