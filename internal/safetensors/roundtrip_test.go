package safetensors

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// sample has every type, a scalar, empty tensors between others, odd names and
// the values that a careless conversion changes.
func sample() *File {
	return &File{
		Metadata: map[string]string{"format": "test", "ä \"<\n": "☃\\", "": ""},
		Tensors: []Tensor{
			{Name: "empty first", Shape: []int{0}, F64: []float64{}},
			{Name: "layer.0/mean", Shape: []int{2, 3}, F32: []float32{
				1, float32(math.Copysign(0, -1)), math.Float32frombits(1), // subnormal
				math.Float32frombits(0x7fa00001), // signalling NaN with a payload
				math.Float32frombits(0xffc12345), float32(math.Inf(-1))}},
			{Name: "scalar", Shape: []int{}, F64: []float64{math.Float64frombits(0x7ff0000000000123)}},
			{Name: "empty \u2028", Shape: []int{3, 0, math.MaxInt}, U8: []uint8{}},
			{Name: "step", Shape: []int{1}, U64: []uint64{math.MaxUint64 - 1}},
			{Name: "signed", Shape: []int{1, 2, 1}, I64: []int64{math.MinInt64, 7}},
			{Name: "", Shape: []int{3}, U8: []uint8{0, 1, 255}},
		},
	}
}

func encoded(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parse(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// dump is equal for files with the same content, bit by bit.
func dump(f *File) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%q\n", f.Metadata)
	for _, t := range f.Tensors {
		fmt.Fprintf(&s, "%q %v %t%t%t%t%t %v %v %v\n", t.Name, append([]int{}, t.Shape...),
			t.F32 == nil, t.F64 == nil, t.I64 == nil, t.U64 == nil, t.U8 == nil, t.I64, t.U64, t.U8)
		for _, x := range t.F32 {
			fmt.Fprintf(&s, "%08x ", math.Float32bits(x))
		}
		for _, x := range t.F64 {
			fmt.Fprintf(&s, "%016x ", math.Float64bits(x))
		}
	}
	return s.String()
}

func checkRoundTrip(t *testing.T, f *File) {
	t.Helper()
	b := encoded(t, f)
	g, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if !g.HasChecksum {
		t.Error("the checksum was not seen")
	}
	if got, want := dump(g), dump(f); got != want {
		t.Errorf("read\n%s\nwrote\n%s", got, want)
	}
	if again := encoded(t, g); !bytes.Equal(again, b) {
		t.Error("written again, the bytes differ")
	}
}

func TestRoundTrip(t *testing.T) {
	checkRoundTrip(t, sample())
	checkRoundTrip(t, &File{Metadata: map[string]string{}})
}

// Random bits, and lengths around the size of a chunk.
func TestRoundTripRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	for range 200 {
		f := &File{Metadata: map[string]string{}}
		for i := range r.IntN(5) {
			f.Metadata[fmt.Sprint(r.Uint32())] = strings.Repeat("x", i)
		}
		for i := range r.IntN(6) {
			shape, n := []int{}, 1
			for range r.IntN(4) {
				d := r.IntN(6)
				if r.IntN(40) == 0 {
					d = chunkBytes/8 + r.IntN(3) - 1
				}
				shape, n = append(shape, d), n*d
			}
			tensor := Tensor{Name: fmt.Sprint(i, r.IntN(9)), Shape: shape}
			fillRandom(&tensor, n, r)
			f.Tensors = append(f.Tensors, tensor)
		}
		checkRoundTrip(t, f)
	}
}

func fillRandom(t *Tensor, n int, r *rand.Rand) {
	switch r.IntN(5) {
	case 0:
		t.F32 = make([]float32, n)
		for i := range t.F32 {
			t.F32[i] = math.Float32frombits(r.Uint32())
		}
	case 1:
		t.F64 = make([]float64, n)
		for i := range t.F64 {
			t.F64[i] = math.Float64frombits(r.Uint64())
		}
	case 2:
		t.I64 = make([]int64, n)
		for i := range t.I64 {
			t.I64[i] = int64(r.Uint64())
		}
	case 3:
		t.U64 = make([]uint64, n)
		for i := range t.U64 {
			t.U64[i] = r.Uint64()
		}
	case 4:
		t.U8 = make([]uint8, n)
		for i := range t.U8 {
			t.U8[i] = uint8(r.Uint32())
		}
	}
}

func golden() *File {
	return &File{
		Metadata: map[string]string{"b": "2", "a": "1"},
		Tensors:  []Tensor{{Name: "w", Shape: []int{1, 2}, F32: []float32{1, -2}}},
	}
}

// The bytes are part of the contract: nobody may edit them. The sum is that of
// sha256sum over the file with zeros for the digits.
func TestGolden(t *testing.T) {
	const want = "\xb0\x00\x00\x00\x00\x00\x00\x00" +
		`{"__metadata__":{"checksum":"sha256:` +
		`4ef7c34422b5515801cda653209dc70c601bec9602c610f492ae794c6e80224f` +
		`","a":"1","b":"2"},` +
		`"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}  ` +
		"\x00\x00\x80\x3f\x00\x00\x00\xc0"
	if got := string(encoded(t, golden())); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What another program wrote: no checksum, spaces in the JSON, the header in
// another order than the data, an empty tensor where another one begins.
func TestForeign(t *testing.T) {
	b := raw(`{ "b" : {"shape":[2], "data_offsets":[4, 6], "dtype":"U8"},
		"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},
		"empty":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}   `, "\x00\x00\x80\x3f\x05\x06")
	f, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	want := &File{Metadata: map[string]string{}, Tensors: []Tensor{
		{Name: "empty", Shape: []int{0}, U8: []uint8{}},
		{Name: "a", Shape: []int{}, F32: []float32{1}},
		{Name: "b", Shape: []int{2}, U8: []uint8{5, 6}},
	}}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got %+v, want %+v", f, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := []float32{1}
	for _, c := range []struct {
		want string
		f    File
	}{
		{`the metadata key "checksum" is reserved`, File{Metadata: map[string]string{"checksum": ""}}},
		{`metadata "k" is not valid UTF-8`, File{Metadata: map[string]string{"k": "\xff"}}},
		{`tensor name "\xff" is not valid UTF-8`, File{Tensors: []Tensor{{Name: "\xff", F32: one}}}},
		{`tensor name "__metadata__" is taken`, File{Tensors: []Tensor{{Name: "__metadata__", F32: one}}}},
		{`tensor name "a" is taken`, File{Tensors: []Tensor{{Name: "a", F32: one}, {Name: "a", F32: one}}}},
		{`tensor "a" has no data: an empty tensor needs an empty slice, not nil`, File{Tensors: []Tensor{{Name: "a", Shape: []int{0}}}}},
		{`tensor "a" has data of two types`, File{Tensors: []Tensor{{Name: "a", F32: one, U8: []uint8{}}}}},
		{`tensor "a" has a negative dimension in its shape [-1 -1]`, File{Tensors: []Tensor{{Name: "a", Shape: []int{-1, -1}, F32: one}}}},
		{`tensor "a" holds 1 values, which is not its shape [2]`, File{Tensors: []Tensor{{Name: "a", Shape: []int{2}, F32: one}}}},
	} {
		var b bytes.Buffer
		if err := c.f.Write(&b); err == nil || err.Error() != c.want || b.Len() != 0 {
			t.Errorf("got %v and %d bytes, want %s", err, b.Len(), c.want)
		}
	}
}
