package codec

import (
	"fmt"
	"math"
	"strconv"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
)

// A fingerprint is what a program's own function or rule gives at a few places. A model
// file holds it beside the name, so that another function or rule of that name is not
// taken for it.
type fingerprint []string

// printed returns the values as text: twelve digits, infinities or NaN.
func printed(values []float64) fingerprint {
	p := make(fingerprint, len(values))
	for i, v := range values {
		p[i] = strconv.FormatFloat(v, 'g', 12, 64)
	}
	return p
}

// same reports whether two fingerprints belong to one function. Machines may round
// differently, but it is unlikely that a function has a jump or a pole at these
// points.
func (p fingerprint) same(q fingerprint) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		a, err1 := strconv.ParseFloat(p[i], 64)
		b, err2 := strconv.ParseFloat(q[i], 64)
		if err1 != nil || err2 != nil {
			return false
		}
		if p[i] != q[i] && !(math.Abs(a-b) <= 1e-6*(1+math.Abs(a))) {
			return false
		}
	}
	return true
}

// places are numbers that few functions treat alike.
var places = [...]float64{-2.1, -0.55, 0.27, 1.3, 3.7}

// printFunc gives the values at places, then the slopes.
func printFunc(f *moment.Func) fingerprint {
	var y, slopes []float64
	for _, x := range places {
		y, slopes = append(y, f.F(x)), append(slopes, f.Slope(x))
	}
	return printed(append(y, slopes...))
}

// values is the part of printFunc without the slopes.
func (p fingerprint) values() fingerprint { return p[:len(places)] }

// printRule gives the moments of tanh of three Normals. A rule that refuses tanh has no
// fingerprint.
func printRule(r moment.Rule) fingerprint {
	var y []float64
	f := fn.Tanh()
	for i, x := range [][2]float64{{-1.1, 0.4}, {0.3, 1.2}, {0.8, 0.05}} {
		j, err := moment.At(f, r, x[0], x[1], rng.New(uint64(i)))
		if err != nil {
			return nil
		}
		y = append(y, j.Mean, j.Var)
	}
	return printed(y)
}

// printJointRule gives the moments of a map of one, two and three Normals, without
// those numbers of inputs that the rule refuses.
func printJointRule(r moment.JointRule) fingerprint {
	var y []float64
	mean, variance := []float64{0.3, -0.7, 1.1}, []float64{0.5, 1.2, 0.2}
	for d := 1; d <= 3; d++ {
		m, cov, err := moment.JointAt(jointPlace, r, mean[:d], variance[:d], rng.New(uint64(d)))
		if err == nil {
			y = append(append(y, m...), cov...)
		}
	}
	return printed(y)
}

// jointPlace treats all its inputs differently.
var jointPlace = &moment.Map{Name: "fingerprint", Out: 2, F: func(x, y []float64) {
	sum, product := 0.0, 1.0
	for i, x := range x {
		sum += float64(i+1) * x
		product *= 1 + x/2
	}
	y[0], y[1] = math.Tanh(sum/3), product
}}

func printMap(m *moment.Map) fingerprint { return printed(sampleMap(m)) }

func printStochastic(l *nn.Stochastic) fingerprint {
	var y []float64
	for _, x := range [][2]float64{{-2.1, 0.3}, {-0.55, 1.7}, {0.27, -0.8}, {1.3, 0.9}} {
		y = append(y, l.F(x[0], x[1]))
	}
	return printed(y)
}

// once notes the fingerprint that a name stands for while a network is written; two
// functions, or two rules, cannot share one.
func (c *coder) once(what, name string, p fingerprint) error {
	if name == "" {
		return fmt.Errorf("the %s has no name; a model file stores %ss by name", what, what)
	}
	key := what + " " + name
	if q, ok := c.prints[key]; ok && !p.same(q) {
		return fmt.Errorf("two different %ss have the name %q; give one of them another name", what, name)
	}
	c.prints[key] = p
	return nil
}

// is reports whether the function or rule that was brought is the one that was saved.
// Old files hold no fingerprint.
func (p fingerprint) is(what, name string, brought fingerprint) error {
	if p == nil || p.same(brought) {
		return nil
	}
	return fmt.Errorf("the %s %q differs from the one that the model was saved with: it returns %v at the test points, the saved one returned %v", what, name, []string(brought), []string(p))
}
