package methodpage

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"utvi/internal/browser"
)

func TestAnswer(t *testing.T) {
	a := Question{Function: "relu", Rule: "ut(2)", Mean: 2, Std: 1, Sweep: true}.Answer()
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	// All three points are above the kink, where a ReLU is the identity.
	if math.Abs(float64(a.Rule.Mean)-2) > 1e-12 || math.Abs(float64(a.Rule.Std)-1) > 1e-12 || len(a.Points) != 3 {
		t.Errorf("rule %v, points %v", a.Rule, a.Points)
	}
	// E[max(x, 0)] = mΦ(m) + φ(m) for σ = 1.
	want := 2*0.5*(1+math.Erf(2/math.Sqrt2)) + math.Exp(-2)/math.Sqrt(2*math.Pi)
	if math.Abs(float64(a.Exact.Mean)-want) > 1e-9 {
		t.Errorf("exact mean %v, want %v", a.Exact.Mean, want)
	}
	if len(a.Atoms) != 1 || math.Abs(a.Atoms[0].Mass-0.02275) > 1e-4 || a.Atoms[0].At != 0 {
		t.Errorf("atoms %v", a.Atoms)
	}
	mass := a.Atoms[0].Mass
	for _, d := range a.Density.Values {
		mass += float64(d) * (a.Density.To - a.Density.From) / float64(len(a.Density.Values))
	}
	if math.Abs(mass-1) > 2e-3 { // the view ends
		t.Errorf("the density holds %v", mass)
	}
	if len(a.Sweep) != 81 || math.Abs(a.Sweep[40].At-2) > 1e-12 || a.Sweep[40].Rule != a.Rule || a.Sweep[0].Exact.Std > a.Sweep[40].Exact.Std {
		t.Errorf("sweep %v", a.Sweep)
	}
}

// Whatever is asked, the answer is JSON, and what cannot be answered is told in a sentence.
func TestAsk(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{`{"function":"tanh","rule":"gh(5)","std":1}`, ``},
		{`{"function":"x","rule":"exact","mean":1,"std":0,"sweep":true}`, ``},
		{`{"function":"1/x","rule":"ut(2)","std":1}`, `1/x`},
		{`{"function":"exp(x)","rule":"linear","mean":700,"std":1}`, `not finite`},
		{`{"function":"log(x)","rule":"ut(2)","mean":1,"std":1}`, `log`},
		{`{"function":"blah","rule":"ut(2)","std":1}`, `unknown function`},
		{`{"function":"x +","rule":"ut(2)","std":1}`, `x +`},
		{`{"function":"tanh","rule":"ut(-9)","std":1}`, `ut`},
		{`{"function":"tanh","rule":"mc(1e9)","std":1}`, `samples`},
		{`{"function":"tanh","rule":"gh(5)","std":-1}`, `standard deviation`},
		{`[]`, `not what this page asks`},
	} {
		var a struct{ Error string }
		err := json.Unmarshal(Ask([]byte(c.question)), &a)
		if err != nil {
			t.Fatalf("%s: %v", c.question, err)
		}
		if (a.Error == "") != (c.want == "") || !strings.Contains(a.Error, c.want) {
			t.Errorf("%s: %q", c.question, a.Error)
		}
	}
}

func TestFolder(t *testing.T) {
	all, err := Folder()
	if !browser.HasProgram() {
		if err == nil {
			t.Error("a build without the program makes a page")
		}
		return
	}
	if err != nil || len(all) != 8 {
		t.Errorf("%d files, %v", len(all), err)
	}
}
