package widths

import (
	"math"
	"testing"
)

func TestLevelFactor(t *testing.T) {
	var none *Level
	l := &Level{Power: 0.5, Least: 0.25, Most: 4}
	tilted := &Level{Power: 0.5, Least: 0.25, Most: 4, Tilt: 0.5, Low: -2, High: 4}
	curve := &Curve{Along: 0.5, At: []float64{-1, 0, 2}, Log: []float64{1, 0, -2}}
	bent := &Level{Power: 0.5, Least: 0.25, Most: 4, Curve: curve}
	for _, x := range []struct{ got, want float64 }{
		{bent.Factor(0, 1), 1}, {bent.Factor(2, 1), math.Exp(-1)}, {bent.Factor(-1, 1), math.Exp(0.5)}, {bent.Factor(-2, 0.01), 2 * math.E},
		{bent.Factor(-2, math.E), 1}, {bent.Factor(9, 4), math.Exp(-2) / 2},
		{none.Factor(3, 7), 1}, {l.Factor(3, 1), 1}, {l.Factor(3, 4), 0.5}, {l.Factor(3, 100), 0.5}, {l.Factor(3, 0), 2},
		{tilted.Factor(0, 4), 0.5}, {tilted.Factor(2, 4), 0.5 / math.E}, {tilted.Factor(9, 1), math.Exp(-2)}, {tilted.Factor(-9, 1), math.E},
	} {
		if math.Abs(x.got-x.want) > 1e-15 {
			t.Errorf("the factor is %v, want %v", x.got, x.want)
		}
	}
	if none.Check() != nil || l.Check() != nil || tilted.Check() != nil || bent.Check() != nil {
		t.Error(none.Check(), l.Check(), tilted.Check(), bent.Check())
	}
	for _, l := range []Level{{}, {Power: 1, Least: 1, Most: 2}, {Power: math.NaN(), Least: 1, Most: 2}, {Least: 2, Most: 1}, {Least: 1, Most: math.Inf(1)},
		{Least: 1, Most: 2, Tilt: 1}, {Least: 1, Most: 2, Tilt: math.NaN()}, {Least: 1, Most: 2, Low: 1}, {Least: 1, Most: 2, High: math.Inf(1)}} {
		if l.Check() == nil {
			t.Errorf("%+v passed", l)
		}
	}
	for _, c := range []Curve{{}, {At: []float64{1}, Log: []float64{1}}, {At: []float64{1, 2}, Log: []float64{1}}, {At: []float64{1, 1}, Log: []float64{1, 1}},
		{At: []float64{1, math.Inf(1)}, Log: []float64{1, 1}}, {At: []float64{1, 2}, Log: []float64{1, math.NaN()}}, {At: []float64{1, 2}, Log: []float64{1, 99}},
		{At: []float64{1, 2}, Log: []float64{1, 1}, Along: math.NaN()}} {
		if (&Level{Least: 1, Most: 2, Curve: &c}).Check() == nil {
			t.Errorf("%+v passed", c)
		}
	}
}
