package codec_test

import (
	"reflect"
	"testing"

	"utvi/fn"
	"utvi/internal/codec"
	"utvi/moment"
	"utvi/nn"
)

// shift and twice are layers as another module would write them; only their options matter
// here.
type shift struct {
	nn.Flatten `json:"-"`
	By         float64 `json:"by"`
}

func (shift) Kind() string { return "shift" }

type twice struct {
	nn.Flatten   `json:"-"`
	Name         string   `json:"name"`
	First, Later nn.Layer `json:"-"`
}

func (twice) Kind() string           { return "twice" }
func (l twice) Children() []nn.Layer { return []nn.Layer{l.First, l.Later} }

func (l twice) WithChildren(c []nn.Layer) nn.Layer {
	return twice{Name: l.Name, First: c[0], Later: c[1]}
}

func TestOutsideLayersAreSaved(t *testing.T) {
	var lib codec.Library
	for _, l := range []nn.Layer{shift{}, twice{}} {
		if err := lib.AddLayer(l); err != nil {
			t.Fatal(err)
		}
	}
	net := nn.Chain{shift{By: 2}, twice{Name: "a", First: nn.Dense{Out: 4}, Later: nn.Residual{Branch: shift{By: -1}}}, nn.Noise{}}
	text, err := codec.Marshal(net)
	if err != nil {
		t.Fatal(err)
	}
	again, err := codec.Unmarshal(text, lib)
	if err != nil || !reflect.DeepEqual(again, nn.Layer(net)) {
		t.Errorf("%s gives %v, %v", text, again, err)
	}
	if got := codec.Describe(net[1]); got != "children=[dense(out=4) residual(branch=shift(by=-1))] name=a" {
		t.Errorf("it is described as %q", got)
	}
	_, err = codec.Unmarshal(text, codec.Library{})
	wants(t, err, `unknown layer kind "shift"`)
	for text, want := range map[string]string{
		`{"kind":"shift","by":1,"children":[]}`:                      "has none",
		`{"kind":"shift","by":"x"}`:                                  "shift: ",
		`{"kind":"shift","wrong":1}`:                                 "wrong",
		`{"kind":"twice","name":"","children":[{"kind":"flatten"}]}`: "1 children; the layer needs 2",
		`{"kind":"twice","name":"","children":3}`:                    "must be a list of layers",
	} {
		_, err := codec.Unmarshal([]byte(text), lib)
		wants(t, err, want)
	}
	wants(t, lib.AddLayer(nn.Dense{}), "built in")
	wants(t, lib.AddLayer(shift{}), "two layer kinds")
}

// A rule of points from outside is saved by its name.
func TestOutsideRule(t *testing.T) {
	mine := moment.Points("mine", []float64{0, -2, 2}, []float64{0.75, 0.125, 0.125})
	var lib codec.Library
	if err := lib.AddRule(mine); err != nil {
		t.Fatal(err)
	}
	text, err := codec.Marshal(nn.Apply{F: fn.Tanh(), Rule: mine})
	if err != nil {
		t.Fatal(err)
	}
	l, err := codec.Unmarshal(text, lib)
	if err != nil || l.(nn.Apply).Rule.String() != "mine" {
		t.Errorf("%s gives %v, %v", text, l, err)
	}
	_, err = codec.Unmarshal(text, codec.Library{})
	wants(t, err, `the model needs the rule "mine": load it with model.WithRule`)
	wants(t, lib.AddRule(moment.UT(2)), "built in")
	if err := moment.Points("bad", []float64{0, 1}, []float64{0.5, 0.5}).Check(fn.Tanh()); err == nil {
		t.Error("points without the moments of a Normal were accepted")
	}
}
