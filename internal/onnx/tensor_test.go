package onnx

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		t    Tensor
		want []float64
	}{
		{Tensor{Elem: Float, Dims: []int64{2}, Raw: []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}}, []float64{1, -2}},
		{Tensor{Elem: Float, Dims: []int64{2}, Floats: []float32{0.5, -2}}, []float64{0.5, -2}},
		{Tensor{Elem: Double, Dims: []int64{1}, Doubles: []float64{0.1}}, []float64{0.1}},
		{Tensor{Elem: Int64, Raw: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, []float64{-1}},
		{Tensor{Elem: Int32, Dims: []int64{1, 1}, Int32s: []int32{-7}}, []float64{-7}},
		{Tensor{Elem: Int8, Dims: []int64{2}, Raw: []byte{0xff, 2}}, []float64{-1, 2}},
		{Tensor{Elem: Uint8, Dims: []int64{1}, Int32s: []int32{200}}, []float64{200}},
		{Tensor{Elem: Float16, Dims: []int64{5}, Raw: []byte{0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b, 0, 0x7c}}, []float64{1, -2, 0x1p-24, 65504, math.Inf(1)}},
		{Tensor{Elem: BFloat16, Dims: []int64{1}, Raw: []byte{0x80, 0x3f}}, []float64{1}},
		{Tensor{Elem: Float, Dims: []int64{0}}, []float64{}},
	} {
		got, err := c.t.Float64s(nil)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v", c.t, got, err)
		}
	}
}

// Sizes are compared with what is there before memory is taken.
func TestWrongTensors(t *testing.T) {
	for _, c := range []struct {
		t    Tensor
		want string
	}{
		{Tensor{Elem: Float, Dims: []int64{1 << 40, 1 << 40}}, "elements are allowed"},
		{Tensor{Elem: Float, Dims: []int64{-1}}, "elements are allowed"},
		{Tensor{Elem: Float, Dims: []int64{1 << 30}, Raw: []byte{1}}, "needs 4294967296"},
		{Tensor{Elem: Float, Dims: []int64{1 << 30}}, "has 0 elements"},
		{Tensor{Elem: Double, Dims: []int64{2}, Floats: []float32{1, 2}}, "has 0 elements"},
		{Tensor{Elem: String, Dims: []int64{1}, Strings: []string{"a"}}, "numbers of a known type"},
		{Tensor{Elem: Elem(77), Dims: []int64{1}}, "numbers of a known type"},
	} {
		if _, err := c.t.Float64s(nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.t.Dims, err, c.want)
		}
	}
}

func TestDataOutside(t *testing.T) {
	beside := fstest.MapFS{"w.bin": {Data: []byte{9, 9, 9, 9, 0, 0, 0x80, 0x3f}}, "deep/w.bin": {Data: make([]byte, 99)}}
	at := func(entries ...string) *Tensor {
		x := &Tensor{Elem: Float, Dims: []int64{1}, Outside: true}
		for i := 0; i < len(entries); i += 2 {
			x.External = append(x.External, Entry{entries[i], entries[i+1]})
		}
		return x
	}
	v, err := at("location", "w.bin", "offset", "4", "length", "4").Float64s(beside)
	if err != nil || v[0] != 1 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := at("location", "w.bin").Float64s(nil); err == nil {
		t.Error("data outside were read from nowhere")
	}
	if _, err := at("location", "none.bin").Float64s(os.DirFS(t.TempDir())); err == nil || !strings.Contains(err.Error(), "cannot read none.bin, which holds its data: no such file") {
		t.Error(err)
	}
	for _, entries := range [][]string{
		{"location", "../w.bin"}, {"location", "/etc/passwd"}, {"location", "deep/w.bin"}, {"location", ""}, {},
		{"location", "w.bin", "offset", "5"}, {"location", "w.bin", "offset", "-4"}, {"location", "w.bin", "offset", "9223372036854775807"},
		{"location", "w.bin", "length", "8"}, {"location", "w.bin", "offset", "x"}, {"location", "none.bin"}, {"location", "deep"},
	} {
		if v, err := at(entries...).Float64s(beside); err == nil {
			t.Errorf("%v: read %v", entries, v)
		}
	}
}
