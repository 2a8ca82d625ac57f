package codec_test

import (
	"reflect"
	"strings"
	"testing"

	"utvi/internal/codec"
	"utvi/likelihood"
)

// laplace stands for a likelihood from outside the module.
type laplace struct {
	likelihood.Normal `json:"-"`
	Width             float64        `json:"width"`
	scale             func() float64 // which no file can hold
}

func (laplace) Kind() string { return "laplace" }

func TestLikelihoodsStored(t *testing.T) {
	for text, l := range map[string]likelihood.Likelihood{
		`{"kind":"normal"}`:                                                   likelihood.Normal{},
		`{"kind":"normal","floor":1e-9}`:                                      likelihood.Normal{Floor: 1e-9},
		`{"kind":"heteroscedastic","floor":0.001}`:                            likelihood.Heteroscedastic{Floor: 1e-3},
		`{"kind":"expected_normal","std":0.25}`:                               likelihood.ExpectedNormal{Std: 0.25},
		`{"kind":"poisson"}`:                                                  likelihood.Poisson{},
		`{"kind":"categorical"}`:                                              likelihood.Categorical{},
		`{"kind":"bernoulli","floor":0.01}`:                                   likelihood.Bernoulli{Floor: 0.01},
		`{"kind":"weighted","of":{"kind":"heteroscedastic"}}`:                 likelihood.Weighted{Of: likelihood.Heteroscedastic{}},
		`{"kind":"weighted","of":{"kind":"laplace","width":2}}`:               likelihood.Weighted{Of: laplace{Width: 2}},
		`{"kind":"per place","channels":2,"of":[{"kind":"heteroscedastic"}]}`: likelihood.PerPlace{Of: likelihood.Heteroscedastic{}, Channels: 2},
		`{"kind":"several","of":[{"kind":"normal"},{"kind":"weighted","of":{"kind":"laplace","width":2}}],"parts":[{"name":"a","outputs":2},{"outputs":1,"weight":3}]}`: likelihood.Several{
			Parts: []likelihood.Part{{Name: "a", Outputs: 2, Of: likelihood.Normal{}}, {Outputs: 1, Weight: 3, Of: likelihood.Weighted{Of: laplace{Width: 2}}}}},
	} {
		got, err := codec.MarshalLikelihood(l)
		if err != nil || string(got) != text {
			t.Errorf("%#v is stored as %s (%v), want %s", l, got, err, text)
		}
		lib := codec.Likelihoods{}
		if err := lib.Add(laplace{}); err != nil {
			t.Fatal(err)
		}
		if again, err := codec.UnmarshalLikelihood([]byte(text), lib); err != nil || !reflect.DeepEqual(again, l) {
			t.Errorf("%s came back as %#v (%v), want %#v", text, again, err, l)
		}
	}
}

// What a file cannot hold is kept from the likelihood that was brought, by value or
// by pointer.
func TestLikelihoodsStoredOwn(t *testing.T) {
	three := func() float64 { return 3 }
	for _, proto := range []likelihood.Likelihood{laplace{scale: three}, &laplace{scale: three}} {
		lib := codec.Likelihoods{}
		if err := lib.Add(proto); err != nil {
			t.Fatal(err)
		}
		l, err := codec.UnmarshalLikelihood([]byte(`{"kind":"laplace","width":5}`), lib)
		if err != nil || reflect.TypeOf(l) != reflect.TypeOf(proto) {
			t.Fatalf("%#v, %v", l, err)
		}
		got := reflect.Indirect(reflect.ValueOf(l)).Interface().(laplace)
		if got.Width != 5 || got.scale == nil || got.scale() != 3 {
			t.Errorf("%#v", got)
		}
	}
}

func TestUnmarshalLikelihoodRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`3`:                                   "an object with a kind",
		`{}`:                                  "an object with a kind",
		`{"kind":"laplace"}`:                  `unknown likelihood "laplace"`,
		`{"kind":"normal","flor":1}`:          `unknown field "flor"`,
		`{"kind":"normal","floor":"a"}`:       "floor is text; it must be a number",
		`{"kind":"weighted"}`:                 "an object with a kind",
		`{"kind":"normal","of":{"kind":"a"}}`: `unknown field "of"`,
		`{"kind":"per place"}`:                `its "of", must be a list`,
		`{"kind":"per place","of":[]}`:        "1 parts have 0 likelihoods",
		`{"kind":"several","of":[{"kind":"normal"}],"parts":[]}`:                                       "0 parts have 1 likelihoods",
		`{"kind":"per place","of":[{"kind":"b"}]}`:                                                     `unknown likelihood "b"`,
		strings.Repeat(`{"kind":"weighted","of":`, 20) + `{"kind":"normal"}` + strings.Repeat("}", 20): "too deep",
	} {
		if l, err := codec.UnmarshalLikelihood([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", text, l, err, want)
		}
	}
	lib := codec.Likelihoods{}
	if err := lib.Add(falseNormal{}); err == nil || !strings.Contains(err.Error(), `the kind "normal"`) {
		t.Errorf("a second normal was accepted: %v", err)
	}
	if _, err := codec.MarshalLikelihood(falseNormal{}); err == nil {
		t.Error("an falseNormal was stored as the library's own")
	}
}

type falseNormal struct{ likelihood.Poisson }

func (falseNormal) Kind() string { return "normal" }

// What files once held as a sentence is found again.
func TestParseLikelihood(t *testing.T) {
	for _, l := range []likelihood.Likelihood{
		likelihood.Normal{}, likelihood.Normal{Floor: 1.25e-9}, likelihood.Heteroscedastic{}, likelihood.Heteroscedastic{Floor: 1e-8},
		likelihood.ExpectedNormal{Std: 0.1}, likelihood.Poisson{}, likelihood.Categorical{}, likelihood.Bernoulli{Floor: 0.01},
		likelihood.Weighted{Of: likelihood.Heteroscedastic{}},
	} {
		if got := codec.ParseLikelihood(l.String()); got != l {
			t.Errorf("%q is %#v, want %#v", l.String(), got, l)
		}
	}
	for _, s := range []string{"", "normality", "normal, floor x", "expected normal", "weighted ", "weighted a", "poisson, floor 1"} {
		if l := codec.ParseLikelihood(s); l != nil {
			t.Errorf("%q is %#v", s, l)
		}
	}
}
