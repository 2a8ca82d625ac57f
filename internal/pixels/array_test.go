package pixels

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/internal/npy"
)

// writeArray writes a .npy file of bytes, or of float32.
func writeArray[T uint8 | float32](t *testing.T, path, shape string, v []T) {
	t.Helper()
	kind := "|u1"
	if _, floats := any(v).([]float32); floats {
		kind = "<f4"
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", kind, shape)
	b := binary.LittleEndian.AppendUint16([]byte(npy.Magic+"\x01\x00"), uint16(len(head)))
	b, err := binary.Append(append(b, head...), binary.LittleEndian, v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func floats[T uint8 | float32](n int, f func(i int) T) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// The images of arrays of several layouts and numbers are the same.
func TestArray(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	byteOf := func(i int) byte { return byte(i * 7) }
	writeArray(t, at("last.npy"), "2, 2, 5, 3", floats(60, byteOf))
	first := func(i int) int { // of an image of 3×2×5, the place in 2×5×3
		channel := i % 30 / 10
		place := i % 10
		return i/30*30 + place*3 + channel
	}
	writeArray(t, at("first.npy"), "2, 3, 2, 5", floats(60, func(i int) byte { return byteOf(first(i)) }))
	writeArray(t, at("whole.npy"), "2, 2, 5, 3", floats(60, func(i int) float32 { return float32(byteOf(i)) }))
	writeArray(t, at("unit.npy"), "2, 2, 5, 3", floats(60, func(i int) float32 { return OfByte(byteOf(i)) }))
	r := Reader{Folder: dir}
	want, err := r.Read("last.npy[1]")
	if err != nil || want.Height != 2 || want.Width != 5 || want.Channels != 3 || want.Pix[4] != OfByte(byteOf(34)) {
		t.Fatalf("%+v, %v", want, err)
	}
	for _, name := range []string{"first.npy[1]", "first.npy[1,nchw]", "whole.npy[1]", "unit.npy[1]", at("last.npy") + "[1]"} {
		im, err := r.Read(name)
		if err != nil || !slices.Equal(im.Pix, want.Pix) {
			t.Errorf("%s: %v, %v", name, im, err)
		}
		if s, err := r.Size(name); err != nil || s != (Size{Height: 2, Width: 5, Channels: 3}) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	writeArray(t, at("ambiguous.npy"), "1, 3, 4, 3", floats(36, byteOf))
	for layout, width := range map[string]int{"": 4, ",nhwc": 4, ",nchw": 3} {
		if im, err := r.Read("ambiguous.npy[0" + layout + "]"); err != nil || im.Width != width {
			t.Errorf("layout %s: %v, %v", layout, im, err)
		}
	}
	writeArray(t, at("clear.npy"), "1, 1, 2, 4", []byte{0, 0, 0, 0, 10, 20, 30, 255})
	if im, err := r.Read("clear.npy[0,nhwc]"); err != nil || !slices.Equal(im.Pix, []float32{1, 1, 1, OfByte(10), OfByte(20), OfByte(30)}) {
		t.Errorf("transparent: %+v, %v", im, err)
	}
}

func TestArrayRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name, shape string, n int) {
		writeArray(t, filepath.Join(dir, name), shape, make([]byte, n))
	}
	write("good.npy", "2, 3, 4", 24)
	write("short.npy", "2, 3, 4", 20)
	write("flat.npy", "6, 4", 24)
	write("many.npy", "1, 2, 2, 7", 28)
	write("none.npy", "1, 0, 4", 0)
	write("vast.npy", "1, 99999, 99999", 8)
	writeArray(t, filepath.Join(dir, "nan.npy"), "1, 1, 2", []float32{1, float32(math.NaN())})
	r := Reader{Folder: dir}
	for name, want := range map[string]string{
		"good.npy[2]":  "has 2 images, counted from 0; there is no image 2",
		"short.npy[0]": "the file is truncated",
		"flat.npy[0]":  "the shape (6, 4); images need three axes",
		"many.npy[0]":  "with 7 channels; 1 (grey), 3 (colours) or 4",
		"none.npy[0]":  "every axis needs numbers",
		"vast.npy[0]":  "the file is truncated",
		"nan.npy[0]":   "a pixel is not a finite number",
		"lost.npy[0]":  "no such file",
	} {
		if _, err := r.Read(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := (Reader{Folder: dir, Inline: true}).Read("good.npy[0]"); err == nil || !strings.Contains(err.Error(), "base64") {
		t.Errorf("a request reads the server's arrays: %v", err)
	}
}
