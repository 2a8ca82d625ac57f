package onnx

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sample has every message and every kind of field.
func sample() *Model {
	b := NewBuilder("sample")
	x := b.Input("x", Float, Dim{Name: "N"}, Dim{Size: 3})
	s := b.Input("s", String, Dim{Name: "N"}, Dim{Size: 1})
	y := b.Op("Gemm", []string{x, b.Floats("w", []float32{1, 2, 3, 4, 5, 6}, 3, 2), ""}, Int("transB", 0), Number("alpha", 0.5))
	y = b.Op("Reshape", []string{y, b.Ints(-1, 2)}, IntList("perm", -1, 0, 1<<40), FloatList("f", []float32{1, -2}), Text("t", "a"), TextList("ts", []string{"", "b"}))
	b.ML("LabelEncoder", []string{s}, Attribute{Name: "t", Kind: KindTensor, Tensor: &Tensor{Elem: Double, Dims: []int64{2}, Doubles: []float64{1, 2}}})
	b.Reserve("y")
	b.Output("y", y, Float, Dim{Name: "N"}, Dim{Size: 2})
	b.Texts("names", []string{"a", "", "ü"})
	m := b.Model()
	m.Doc, m.Version = "doc", "1"
	m.Graph.Inputs[0].Doc = "metres"
	m.Metadata = []Entry{{"k", "v"}, {"empty", ""}}
	m.Graph.Initializers = append(m.Graph.Initializers,
		&Tensor{Name: "i", Elem: Int32, Dims: []int64{3}, Int32s: []int32{1, -1, 0}},
		&Tensor{Name: "f", Elem: Float, Dims: []int64{2}, Floats: []float32{1, -1}},
		&Tensor{Name: "l", Elem: Int64, Dims: []int64{2}, Int64s: []int64{1, -1}},
		&Tensor{Name: "u", Elem: Uint64, Dims: []int64{2}, Uint64s: []uint64{1, 1 << 63}},
		&Tensor{Name: "o", Elem: Float, Dims: []int64{2}, Outside: true, External: []Entry{{"location", "w.bin"}}})
	m.Graph.Values = []Value{{Name: "v", Elem: Float, Known: true}}
	return m
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	b, err := want.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwrote\n%+v", got.Graph, want.Graph)
	}
}

// Nodes and constants that exist already are used again; names are never used twice.
func TestBuilderShares(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", Float)
	first := []string{b.Op("Exp", []string{x}), b.Float(2)}
	if again := []string{b.Op("Exp", []string{x}), b.Float(2)}; !slices.Equal(again, first) {
		t.Error("the same value was computed twice")
	}
	if b.Op("Cast", []string{x}, Int("to", 1)) == b.Op("Cast", []string{x}, Int("to", 7)) || b.Float(2) == b.Float(3) || b.Ints(1) == b.Index(1) {
		t.Error("different values share a name")
	}
	seen := map[string]bool{}
	for range 3 {
		for _, name := range []string{"x", "Exp", "x_1", "x_2", "Exp_1"} {
			unique := b.fresh(name)
			if seen[unique] {
				t.Errorf("%s was given out twice", unique)
			}
			seen[unique] = true
		}
	}
}

// Every prefix of a file is answered in one sentence.
func TestCutFiles(t *testing.T) {
	b, err := sample().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for n := range b {
		if _, err := Unmarshal(b[:n]); err != nil {
			if !strings.HasPrefix(err.Error(), "not an ONNX file: ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%d bytes: %v", n, err)
			}
			refused++
		}
	}
	if refused < len(b)/2 {
		t.Errorf("only %d of %d cut files were refused", refused, len(b))
	}
}

// What can be read is written and read again to the same.
func FuzzUnmarshal(f *testing.F) {
	b, err := sample().Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Add([]byte{0x3a, 0x02, 0x0a, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Unmarshal(b)
		if err != nil {
			return
		}
		for _, x := range m.Graph.Initializers {
			x.Float64s(nil)
		}
		again, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Unmarshal(again); err != nil {
			t.Fatalf("written and not read: %v", err)
		}
	})
}
