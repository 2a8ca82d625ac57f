package main

import (
	bytesOf "encoding/binary"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeNpy writes an array of bytes, or of float32.
func writeNpy[T uint8 | float32](t *testing.T, path, shape string, v []T) {
	t.Helper()
	kind := "|u1"
	if _, floats := any(v).([]float32); floats {
		kind = "<f4"
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", kind, shape)
	b := bytesOf.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	b, err := bytesOf.Append(append(b, head...), bytesOf.LittleEndian, v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// An array of images is fitted to classes and to numbers, and is predicted as files of the same images.
func TestImageArrays(t *testing.T) {
	dir, err := bars()
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "photos.utvi")
	dir = t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const n = 120
	var x, class []byte
	var place []float32
	for i := range n {
		im := barImage(i, i%2 == 1).(*image.Gray)
		x = append(x, im.Pix...)
		class = append(class, byte(i%2))
		place = append(place, float32(i%2)+0.5, float32(i%7))
	}
	writeNpy(t, at("x.npy"), fmt.Sprintf("%d, 12, 14", n), x)
	writeNpy(t, at("y.npy"), fmt.Sprintf("%d,", n), class)
	writeNpy(t, at("two.npy"), fmt.Sprintf("%d, 2", n), place)
	if err := writeImage(at("1.png"), barImage(1, true)); err != nil {
		t.Fatal(err)
	}
	_, file, _ := utvi(t, "predict", model, at("1.png"))
	code, all, notes := utvi(t, "predict", model, at("x.npy"))
	rows := strings.Split(all, "\n")
	if code != 0 || len(rows) != n+2 || strings.Replace(rows[2], "x.npy[1]", "1.png", 1) != strings.Split(file, "\n")[1] {
		t.Errorf("%d, %d rows; the array says %s, the file %s: %s", code, len(rows), rows[min(2, len(rows)-1)], file, notes)
	}
	quick := []string{"--steps", "40", "--ensemble", "1", "--width", "4", "--report", "none"}
	for _, c := range []struct {
		target, augment string
		want            string
	}{
		{"y.npy", "none", "y categorical 2: 0, 1 target"},
		{"two.npy", "wear", "regression of two1, two2 from 168 inputs"},
	} {
		args := append([]string{"fit", at("x.npy"), "--target", at(c.target), "--augment", c.augment, "--out", at(c.target + ".utvi")}, quick...)
		code, out, notes := utvi(t, args...)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), c.want) {
			t.Errorf("%d: %s%s", code, out, notes)
		}
		code, out, notes = utvi(t, "eval", at(c.target+".utvi"), at("x.npy"), "--targets", at(c.target))
		if code != 0 || !strings.Contains(out, fmt.Sprintf("rows %20d", n)) && !strings.Contains(strings.Join(strings.Fields(out), " "), fmt.Sprintf("rows %d", n)) {
			t.Errorf("%d: %s%s", code, out, notes)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"fit", at("x.npy")}, "x.npy holds images; --target names a .npy file"},
		{[]string{"fit", at("x.npy"), "--target", "y"}, "x.npy holds images; --target names a .npy file"},
		{[]string{"fit", at("x.npy"), "--target", at("x.npy")}, "has the shape (120, 12, 14); a class or a number for each image"},
		{[]string{"fit", at("x.npy"), "--target", at("y.npy"), "--layout", "chw"}, "--layout takes nhwc or nchw"},
		{[]string{"eval", at("y.npy.utvi"), at("x.npy"), "--targets", at("two.npy")}, "two.npy has 2 columns; the model has 1 targets"},
		{[]string{"predict", at("y.npy.utvi"), at("y.npy")}, "images need three axes"},
	} {
		if code, _, notes := utvi(t, c.args...); code == 0 || !strings.Contains(notes, c.want) {
			t.Errorf("%v: %d, %s", c.args, code, notes)
		}
	}
}
