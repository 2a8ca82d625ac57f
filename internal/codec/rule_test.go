package codec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/codec"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// anySize takes any number of inputs and has no approximation of its own, pair takes two.
var (
	anySize = &moment.Map{Name: "any-size", F: func(x, y []float64) {
		for i := range x {
			y[i] = x[i] * x[(i+1)%len(x)]
		}
	}}
	pair = &moment.Map{Name: "pair", In: 2, Out: 1, F: func(x, y []float64) { y[0] = x[0] * x[1] }}
)

// The default rule is written into the file, and it is the rule that the layer had.
func TestCodecWritesTheDefaultRule(t *testing.T) {
	lib := codec.Library{
		Maps:        map[string]*moment.Map{"any-size": anySize, "pair": pair},
		Stochastics: library.Stochastics,
		MapFamilies: library.MapFamilies,
	}
	for _, c := range []struct {
		layer  nn.Layer
		inputs []int
		rule   string // as written
		old    string // a file without a rule
	}{
		{nn.Joint{Map: fn.Softmax()}, []int{3, 12}, "own", `{"kind":"joint","map":"softmax"}`},
		{nn.Joint{Map: pair}, []int{2}, "fifth", `{"kind":"joint","user_map":"pair"}`},
		{nn.Joint{Map: anySize}, []int{2, 10, 11, 15}, "fifth-or-axes", `{"kind":"joint","user_map":"any-size"}`},
		{nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true}, []int{3}, "fifth",
			`{"kind":"conditional","target":2,"given":[0,1],"joint":true,"map":"photon-node(100,1.05,8)"}`},
		{nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8)}, []int{3}, "",
			`{"kind":"conditional","target":2,"given":[0,1],"map":"photon-node(100,1.05,8)"}`},
		{nn.Stochastic{Name: "slope", F: times, Mean: 1}, []int{3}, "joint-gh(3)",
			`{"kind":"stochastic","name":"slope","mean":1,"std":0,"prior":{"mean":0,"std":0}}`},
	} {
		written, err := codec.Marshal(c.layer)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`"rule":%q`, c.rule)
		if c.rule == "" {
			want = `"map"`
		}
		if !strings.Contains(string(written), want) || strings.Contains(string(written), `"rule"`) != (c.rule != "") {
			t.Errorf("%s, want %s", written, want)
		}
		read, err := codec.Unmarshal(written, lib)
		if err != nil {
			t.Fatal(err)
		}
		old, err := codec.Unmarshal([]byte(c.old), lib)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range c.inputs {
			mean, variance := make([]float64, n), make([]float64, n)
			for i := range mean {
				mean[i], variance[i] = 0.3*float64(i+1), 0.1+0.05*float64(i)
			}
			want := pushRow(c.layer, mean, variance)
			for name, l := range map[string]nn.Layer{"read": read, "of a file without a rule": old} {
				if got := pushRow(l, mean, variance); !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Var, want.Var) {
					t.Errorf("%s, %d inputs: the layer %s gives other moments", written, n, name)
				}
			}
		}
	}
}

// Files without a rule mean what the default was when they were written. Who changes
// DefaultJoint must keep this for them.
func TestDefaultJointOfOldFiles(t *testing.T) {
	for d, want := range map[int]string{1: "fifth", 10: "fifth", 11: "axes(3)", 500: "axes(3)"} {
		if got := moment.DefaultJoint(anySize, d).String(); got != want {
			t.Errorf("%d inputs: %s, want %s", d, got, want)
		}
	}
	if got := moment.DefaultJoint(fn.Softmax(), 3).String(); got != "own" {
		t.Errorf("softmax: %s", got)
	}
}

// pushRow carries one row through a layer in float64.
func pushRow(l nn.Layer, mean, variance []float64) gauss.Batch[float64] {
	n := len(mean)
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: nn.Vec(n), Name: "layer", Form: nn.Independent}
	u, err := nn.Bind(l, b)
	if err != nil {
		panic(err)
	}
	b.Params.Alloc()
	b.Params.Start(rng.New(2), vi.Std(0.3))
	r := u.NewRunner(1, false)
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
	out := gauss.New[float64](1, u.Out().Size())
	r.Forward(&nn.Pass[float64]{In: gauss.Batch[float64]{Rows: 1, Width: n, Mean: mean, Var: variance}, Out: out})
	return out
}
