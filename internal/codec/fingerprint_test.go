package codec_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/internal/codec"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
)

// Two rules of points, and two joint rules, that share a name.
var (
	three = moment.Points("mine", []float64{0, -math.Sqrt(3), math.Sqrt(3)}, []float64{2. / 3, 1. / 6, 1. / 6})
	two   = moment.Points("mine", []float64{-1, 1}, []float64{0.5, 0.5})
)

type called struct{ moment.JointRule }

func (called) String() string { return "mine" }

// A program's own rule is known again by what it gives, not by its name alone.
func TestRulesOfOneName(t *testing.T) {
	apply := func(r moment.Rule) nn.Layer { return nn.Apply{F: fn.Tanh(), Rule: r} }
	joint := func(r moment.JointRule) nn.Layer { return nn.Joint{Map: pair, Rule: called{r}} }
	random := func(r moment.JointRule) nn.Layer {
		return nn.Stochastic{Name: "slope", F: times, Mean: 1, Rule: called{r}}
	}
	lib := func(r moment.Rule, j moment.JointRule) codec.Library {
		return codec.Library{
			Rules:       map[string]moment.Rule{"mine": r},
			JointRules:  map[string]moment.JointRule{"mine": called{j}},
			Maps:        map[string]*moment.Map{"pair": pair},
			Stochastics: library.Stochastics,
			MapFamilies: library.MapFamilies,
		}
	}
	right, wrong := lib(three, moment.JointFifth()), lib(two, moment.JointAxes(3))
	for _, c := range []struct {
		one, other nn.Layer
		what       string
	}{
		{apply(three), apply(two), "rule"},
		{joint(moment.JointFifth()), joint(moment.JointAxes(3)), "joint rule"},
		{joint(moment.JointFifth()), joint(moment.JointMC(7)), "joint rule"},
		{nn.Conditional{Target: 1, Given: []int{0}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true, Rule: called{moment.JointFifth()}},
			nn.Conditional{Target: 1, Given: []int{0}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true, Rule: called{moment.JointUTGauss()}}, "joint rule"},
		{random(moment.JointFifth()), random(moment.JointAxes(3)), "joint rule"},
	} {
		text, err := codec.Marshal(nn.Chain{c.one, c.one})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := codec.Unmarshal(text, right); err != nil {
			t.Errorf("%s gives %v, %v", text, again, err)
		}
		_, err = codec.Unmarshal(text, wrong)
		wants(t, err, "the "+c.what+` "mine" differs from the one that the model was saved with`)
		_, err = codec.Marshal(nn.Chain{c.one, c.other})
		wants(t, err, "two different "+c.what+`s have the name "mine"`)

		// Files from before rules had fingerprints.
		one, err := codec.Marshal(c.one)
		if err != nil {
			t.Fatal(err)
		}
		from := bytes.Index(one, []byte(`,"rule_values"`))
		if from < 0 {
			t.Fatalf("%s has no fingerprint", one)
		}
		to := from + bytes.IndexByte(one[from:], ']') + 1
		if _, err := codec.Unmarshal(append(one[:from:from], one[to:]...), wrong); err != nil {
			t.Errorf("without a fingerprint: %v", err)
		}
		if d := codec.Describe(c.one); strings.Contains(d, "values") {
			t.Errorf("it is described as %q", d)
		}
	}
}

// The derivative of a program's own function is part of what it is.
func TestFunctionsOfOneDerivative(t *testing.T) {
	of := func(df func(float64) float64) *moment.Func {
		return &moment.Func{Name: "mine", F: math.Sin, DF: df}
	}
	right := of(math.Cos)
	wrong := of(math.Sin)
	none := of(nil)
	write := func(f *moment.Func) []byte {
		text, err := codec.Marshal(nn.Apply{F: f})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	read := func(text []byte, f *moment.Func) error {
		_, err := codec.Unmarshal(text, codec.Library{Funcs: map[string]*moment.Func{"mine": f}})
		return err
	}
	wants(t, read(write(right), wrong), `the function "mine" differs from the one`)
	for _, f := range []*moment.Func{right, none} {
		if err := read(write(right), f); err != nil {
			t.Error(err)
		}
	}
	if n := bytes.Count(write(none), []byte(`",`)); n > 6 {
		t.Errorf("%s has slopes that differences gave", write(none))
	}
	for _, f := range []*moment.Func{right, wrong, none} { // as in old files
		if err := read(write(none), f); err != nil {
			t.Error(err)
		}
	}
	_, err := codec.Marshal(nn.Chain{nn.Apply{F: right}, nn.Apply{F: wrong}})
	wants(t, err, `two different functions have the name "mine"`)
}

// A rule with the name of a built-in one would be loaded as that one.
func TestRulesNamedLikeBuiltinOnes(t *testing.T) {
	for _, c := range []struct {
		layer nn.Layer
		want  string
	}{
		{nn.Apply{F: fn.Tanh(), Rule: moment.Points("ut(2)", []float64{-1, 1}, []float64{0.5, 0.5})}, `the rule has the name "ut(2)" of a different, built-in rule; give it another name`},
		{nn.Apply{F: fn.Tanh(), Rule: moment.Points("mc(3)", []float64{-1, 1}, []float64{0.5, 0.5})}, `the rule has the name "mc(3)" of a different, built-in rule`},
		{nn.Apply{F: fn.Tanh(), Rule: moment.Points("", []float64{-1, 1}, []float64{0.5, 0.5})}, `the rule has no name`},
		{nn.Joint{Map: pair, Rule: renamed{moment.JointFifth(), moment.JointAxes(3).String()}}, `of a different, built-in joint rule`},
	} {
		_, err := codec.Marshal(c.layer)
		wants(t, err, c.want)
	}
	same := moment.Points("ut(2)", []float64{0, -math.Sqrt(3), math.Sqrt(3)}, []float64{2. / 3, 1. / 6, 1. / 6})
	if _, err := codec.Marshal(nn.Apply{F: fn.Tanh(), Rule: same}); err != nil {
		t.Errorf("the points of ut(2) under its name: %v", err)
	}
}

type renamed struct {
	moment.JointRule
	name string
}

func (r renamed) String() string { return r.name }
