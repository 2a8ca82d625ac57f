package codec_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/internal/codec"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
	"utvi/vi"
)

// layers holds every layer with options that are not its zero values, by the
// name of its type.
var layers = map[string]nn.Layer{
	"Append":          nn.Append{Count: 2, Start: -1},
	"Apply":           nn.Apply{F: fn.LeakyReLU(0.2), Rule: moment.GenUT(0.5, 3.5)},
	"AvgPool2D":       nn.AvgPool2D{Size: [2]int{2, 3}, Stride: 1, Pad: [4]int{0, 1, 1, 2}, CountPad: true},
	"BatchNorm":       nn.BatchNorm{Mean: []float64{1, 2}, Var: []float64{3, 0.1}, Gain: []float64{5, 6}, Offset: []float64{7, 1e-300}, Eps: 0.1},
	"Chain":           nn.Chain{nn.Dense{Out: 2}, nn.Chain{nn.Scale{}, nn.Apply{F: fn.Abs(), Rule: moment.Exact()}}},
	"Conditional":     nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true, Rule: moment.JointUT(1.5)},
	"Conv1D":          nn.Conv1D{Out: 2, Kernel: 3, Stride: 2, Dilation: 3, Groups: 2, Padding: nn.Same, Pad: [2]int{1, 2}, Fixed: true, NoBias: true},
	"Conv2D":          nn.Conv2D{Out: 2, Kernel: [2]int{3, 2}, Stride: 2, Strides: [2]int{1, 3}, Dilation: [2]int{4, 5}, Groups: 2, Padding: nn.Same, Pad: [4]int{1, 2, 3, 4}, Fixed: true, NoBias: true},
	"ConvTranspose1D": nn.ConvTranspose1D{Out: 2, Kernel: 3, Stride: 2, Dilation: 3, Groups: 2, Pad: [2]int{1, 2}, OutputPad: 1, Fixed: true, NoBias: true},
	"ConvTranspose2D": nn.ConvTranspose2D{Out: 2, Kernel: [2]int{3, 2}, Stride: 2, Strides: [2]int{1, 3}, Dilation: [2]int{4, 5}, Groups: 2, Pad: [4]int{1, 2, 3, 4}, OutputPad: [2]int{0, 1}, Fixed: true, NoBias: true},
	"Correlated":      nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 2}, nn.Scale{Start: 2}}},
	"Dense":           nn.Dense{Out: 3, Fixed: true, NoBias: true},
	"Dropout":         nn.Dropout{P: 0.1},
	"Embed":           nn.Embed{Categories: []nn.Category{{Unit: 1, Levels: 60, Width: 4}}},
	"Flatten":         nn.Flatten{},
	"GRU":             nn.GRU{Units: 1, Direction: nn.Bidirectional, Last: true, Fixed: true, NoBias: true, ResetBefore: true, Start: []float64{1, 2}, Rule: moment.UT(2)},
	"GlobalAvgPool":   nn.GlobalAvgPool{},
	"GlobalMaxPool":   nn.GlobalMaxPool{},
	"GroupNorm":       nn.GroupNorm{Groups: 2, Eps: 0.25},
	"InstanceNorm":    nn.InstanceNorm{Eps: 0.25},
	"Joint":           nn.Joint{Map: fn.Softmax(), Rule: moment.JointUTGauss()},
	"LSTM":            nn.LSTM{Units: 1, Direction: nn.Bidirectional, Last: true, Fixed: true, NoBias: true, Start: []float64{1, 2, 3, 4}, Rule: moment.UT(2)},
	"LayerNorm":       nn.LayerNorm{Eps: 0.25},
	"MaxPool2D":       nn.MaxPool2D{Size: [2]int{2, 3}, Stride: 1, Pad: [4]int{1, 0, 0, 2}},
	"Multiply":        nn.Multiply{By: []float64{2, -0.5}},
	"Noise":           nn.Noise{Start: 0.5, Off: true},
	"Pad2D":           nn.Pad2D{Pad: [4]int{1, 2, 3, 4}, Border: nn.Edge},
	"Periodic":        nn.Periodic{Frequencies: [][]float64{{-1, 0.5, 2}, {}}},
	"Piecewise":       nn.Piecewise{Edges: [][]float64{{-1, 0.5, 2}, {}}},
	"RNN":             nn.RNN{Units: 2, F: fn.LeakyReLU(0.2), Direction: nn.Reverse, Last: true, Fixed: true, NoBias: true, Start: []float64{1, 2}, Rule: moment.UT(2)},
	"Residual":        nn.Residual{Branch: nn.Chain{nn.Dense{Out: 3}, nn.Scale{Start: 2}}, Skip: nn.Dense{Out: 3, NoBias: true}},
	"RMSNorm":         nn.RMSNorm{Eps: 0.25},
	"Resize":          nn.Resize{Size: [2]int{2, 3}, Scale: 4, Bilinear: true, AlignCorners: true},
	"Scale":           nn.Scale{Start: 0.3},
	"Stochastic":      nn.Stochastic{Name: "slope", F: times, Mean: 1, Std: 0.1, PerUnit: true, Prior: vi.Prior{Mean: 1, Std: 2}, Rule: moment.JointMC(9)},
	"Concat":          nn.Concat{Axis: nn.Width},
	"Graph": nn.Graph{
		Inputs: []nn.Input{{Name: "image", Shape: nn.Shape{H: 2, W: 3, C: 4}}, {Name: "numbers"}},
		Steps: []nn.Step{
			{Name: "a", Layer: nn.Dense{Out: 2}, From: []string{"image", "numbers"}},
			{Name: "b", Layer: nn.Chain{nn.Apply{F: fn.Abs(), Rule: moment.Exact()}}},
		},
		Outputs: []string{"b", "a"},
	},
	"MatMul":             nn.MatMul{TransposeA: true, TransposeB: true, Scale: 0.5},
	"MultiHeadAttention": nn.MultiHeadAttention{Heads: 2, Dim: 3, Out: 4, Causal: true, Masked: true, Fixed: true, NoBias: true},
	"PerPlace":           nn.PerPlace{Layer: nn.Chain{nn.Dense{Out: 2}}},
	"Positions":          nn.Positions{Sinusoidal: true, Fixed: true},
	"Product":            nn.Product{},
	"Reshape":            nn.Reshape{H: 1, C: 3},
	"Slice":              nn.Slice{Axis: nn.Height, From: 1, To: 3},
	"Softmax":            nn.Softmax{Axis: nn.Width, Causal: true},
	"Sum":                nn.Sum{By: []float64{1, -1}},
	"Transpose":          nn.Transpose{Order: [3]nn.Axis{nn.Width, nn.Channels, nn.Height}},
}

func times(x, theta float64) float64 { return x * theta }

// library holds the user's functions among them.
var library = codec.Library{
	Stochastics: map[string]*nn.Stochastic{"slope": {F: times}},
	MapFamilies: map[string]codec.MapMaker{localization.Family: localization.FromNumbers},
}

// What is written is read back to what is written the same.
func TestCodec(t *testing.T) {
	for name, l := range layers {
		b, err := codec.Marshal(l)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := codec.Unmarshal(b, library)
		if err != nil {
			t.Errorf("%s: %s: %v", name, b, err)
			continue
		}
		if got, want := exported(again), exported(l); got != want {
			t.Errorf("%s: %s, was %s", name, got, want)
		}
		if c, err := codec.Marshal(again); string(c) != string(b) {
			t.Errorf("%s: %s, then %s (%v)", name, b, c, err)
		}
		if !strings.HasPrefix(string(b), `{"kind":"`+l.Kind()+`"`) || strings.Contains(string(b), "Out") {
			t.Errorf("%s is written %s", name, b)
		}
	}
}

// exported shows the options of a layer, functions by name.
func exported(l any) string {
	v := reflect.ValueOf(l)
	var s strings.Builder
	fmt.Fprintf(&s, "%T", l)
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			s.WriteString(" " + exported(v.Index(i).Interface()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Field(i).Interface().(type) {
			case *moment.Func:
				s.WriteString(" " + f.Name)
			case *moment.Map:
				s.WriteString(" " + f.Name)
			case fmt.Stringer:
				s.WriteString(" " + f.String())
			case nn.Layer:
				s.WriteString(" " + exported(f))
			case []nn.Step:
				for _, step := range f {
					fmt.Fprint(&s, " ", step.Name, step.From, exported(step.Layer))
				}
			case func(x, theta float64) float64:
				fmt.Fprint(&s, " ", f != nil)
			default:
				fmt.Fprintf(&s, " %v", f)
			}
		}
	}
	return s.String()
}

// The types of package nn that are layers are the ones of the list above: a
// layer that cannot be saved is found here.
func TestCodecKnowsEveryLayer(t *testing.T) {
	var types []string
	files, err := os.ReadDir("../../nn")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../nn", f.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.Name == "Bind32" {
				types = append(types, receiver(m))
			}
		}
	}
	if len(types) < 6 {
		t.Fatalf("found only the layers %v", types)
	}
	for _, name := range types {
		if layers[name] == nil {
			t.Errorf("nn.%s is a layer without an example in the table of codec_test.go, and perhaps without a line in kinds of codec.go", name)
		}
	}
	for name := range layers {
		if !slices.Contains(types, name) {
			t.Errorf("nn.%s is no longer a layer", name)
		}
	}
}

func receiver(m *ast.FuncDecl) string {
	t := m.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return t.(*ast.Ident).Name
}

// A user's function is kept by its name.
func TestCodecOfUserFunctions(t *testing.T) {
	sensor := &moment.Func{Name: "sensor", F: func(x float64) float64 { return x * x }}
	b, err := codec.Marshal(nn.Apply{F: sensor})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"kind":"apply","user_f":"sensor","values":["4.41","0.3025","0.0729","1.69","13.69"],"rule":"gh(9)"}`; string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
	l, err := codec.Unmarshal(b, codec.Library{Funcs: map[string]*moment.Func{"sensor": sensor}})
	if err != nil || l.(nn.Apply).F != sensor {
		t.Errorf("%v, %v", l, err)
	}
	_, err = codec.Unmarshal(b, codec.Library{})
	wants(t, err, `the model needs the function "sensor": load it with model.WithFunc`)

	// Another function of that name is refused, here and when it is saved beside it.
	other := &moment.Func{Name: "sensor", F: func(x float64) float64 { return 1.001 * x * x }}
	_, err = codec.Unmarshal(b, codec.Library{Funcs: map[string]*moment.Func{"sensor": other}})
	wants(t, err, `the function "sensor" differs from the one that the model was saved with: it returns [4.41441`)
	_, err = codec.Marshal(nn.Chain{nn.Apply{F: sensor}, nn.Residual{Branch: nn.Apply{F: other}}})
	wants(t, err, `two different functions have the name "sensor"`)
	twin := &moment.Func{Name: "sensor", F: func(x float64) float64 { return x * x }}
	_, err = codec.Marshal(nn.Chain{nn.Apply{F: sensor}, nn.Apply{F: twin}})
	if err != nil {
		t.Error(err)
	}
	// Files without fingerprints are taken as they are.
	_, err = codec.Unmarshal([]byte(`{"kind":"apply","user_f":"sensor","rule":"ut(2)"}`), codec.Library{Funcs: map[string]*moment.Func{"sensor": other}})
	if err != nil {
		t.Error(err)
	}
}

func wants(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %q", err, text)
	}
}

// A stranger is a layer of another module whose fields JSON does not see.
type stranger struct {
	nn.Dense `json:"-"`
	hidden   int
}

func (stranger) Kind() string { return "stranger" }

type impostor struct{ nn.Dense }

func TestCodecRefusesToWrite(t *testing.T) {
	square := func(x float64) float64 { return x * x }
	for want, l := range map[string]nn.Layer{
		"the function has no name":                                nn.Apply{F: &moment.Func{F: square}},
		`the name "tanh" of a different, built-in function`:       nn.Apply{F: &moment.Func{Name: "tanh", F: square}},
		`the name "leaky-relu" of a different, built-in function`: nn.Apply{F: &moment.Func{Name: "leaky-relu", F: square}},
		`the map has the name "softmax" of a different`:           nn.Joint{Map: &moment.Map{Name: "softmax", F: func(x, y []float64) { copy(y, x) }}},
		"the map has no name":                                     nn.Conditional{Location: &moment.Map{F: func(x, y []float64) { copy(y, x) }}},
		"set nn.Stochastic.Name":                                  nn.Stochastic{F: times},
		"no function F; set nn.Apply.F":                           nn.Apply{},
		`a layer of kind "stranger" (codec_test.stranger)`:        nn.Chain{stranger{hidden: 1}},
		`codec_test.impostor has the kind "dense"`:                impostor{},
		"layer 1: a layer is nil":                                 nn.Chain{nn.Scale{}, nil},
		"more than 32 deep":                                       deep(33),
	} {
		_, err := codec.Marshal(l)
		wants(t, err, want)
	}
	if _, err := codec.Marshal(deep(32)); err != nil {
		t.Error(err)
	}
}

func deep(n int) nn.Layer {
	l := nn.Chain{nn.Scale{}}
	for range n - 2 {
		l = nn.Chain{l}
	}
	return l
}

func TestCodecRefusesToRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"joint","map":"hardmax"}`:                                              `unknown map "hardmax"`,
		`{"kind":"joint","user_map":"mine"}`:                                            `the model needs the map "mine": load it with model.WithMap`,
		`{"kind":"joint"}`:                                                              "no map; set",
		`{"kind":"joint","map":"softmax","rule":"joint-mc(100000000)"}`:                 "more than 1048576 points",
		`{"kind":"joint","map":"gain(2,0.5)"}`:                                          `the model needs the maps "gain": load it with model.WithMaps`,
		`{"kind":"joint","map":"gain(2,"}`:                                              `the map "gain(2,": a parenthesis is not closed`,
		`{"kind":"stochastic","name":"curve"}`:                                          `the model needs the stochastic function "curve": load it with model.WithStochastic`,
		`{"kind":"graph","steps":[{"name":"a","layer":{"kind":"dense"}},{"name":"b"}]}`: `step "b": a layer is not a JSON object`,
		`{"kind":"graph","inputs":[{"name":"a","size":3}],"steps":[]}`:                  `unknown field "size"`,
		`{"kind":"residual"}`:                                                           "not a JSON object",
		`[]`:                                                                            "not a JSON object",
		`null`:                                                                          "not a JSON object",
		`{"out":3}`:                                                                     "has no kind",
		`{"kind":7}`:                                                                    "has no kind",
		`{"kind":"quantum"}`:                                                            `unknown layer kind "quantum"; this version knows append, apply, `,
		`{"kind":"dense","out":"3"}`:                                                    "out is text; it must be a whole number",
		`{"kind":"dense","out":1e30}`:                                                   "out is 1e30; it must be a whole number",
		`{"kind":"dense","out":3,"speed":1}`:                                            `unknown field "speed"`,
		`{"kind":"apply","f":"tanh"}`:                                                   `unknown rule ""`,
		`{"kind":"apply","f":"tanh","rule":"ut( 2)"}`:                                   `must be written "ut(2)"`,
		`{"kind":"apply","f":"tanh","rule":"mc(2000000)"}`:                              "more than 1048576 points",
		`{"kind":"apply","f":"nope","rule":"ut(2)"}`:                                    `unknown function "nope"`,
		`{"kind":"apply","rule":"ut(2)"}`:                                               "no function; set",
		`{"kind":"apply","f":"sin","user_f":"a","rule":""}`:                             "one function",
		`{"kind":"chain","layers":[{"kind":"scale"},3]}`:                                "layer 1: a layer is not a JSON object",
		strings.Repeat(`{"kind":"chain","layers":[`, 40) + "]":                          "not a JSON object",
		strings.Repeat(`{"kind":"chain","layers":[`, 40) + strings.Repeat("]}", 40): "more than 32 deep",
	} {
		l, err := codec.Unmarshal([]byte(text), codec.Library{})
		wants(t, err, want)
		if l != nil {
			t.Errorf("%s gave %v", text, l)
		}
	}
}

// Whatever the bytes, no panic; what is read is written and read the same.
func FuzzUnmarshal(f *testing.F) {
	for _, l := range layers {
		b, err := codec.Marshal(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := codec.Unmarshal(b, library)
		if err != nil {
			if l != nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v and %q", l, err)
			}
			return
		}
		c, err := codec.Marshal(l)
		if err != nil {
			t.Fatalf("%s is read but not written: %v", b, err)
		}
		again, err := codec.Unmarshal(c, library)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if d, _ := codec.Marshal(again); string(d) != string(c) {
			t.Errorf("%s, then %s", c, d)
		}
	})
}
