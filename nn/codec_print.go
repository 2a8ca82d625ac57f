package nn

import (
	"fmt"
	"math"
	"strconv"

	"utvi/moment"
)

// A fingerprint holds the values of a user's function at a few points. A model file
// stores it beside the name of the function, so that another function of that name is
// refused.
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

// printFunc, printMap and printStochastic look at places that few functions treat
// alike.
func printFunc(f *moment.Func) fingerprint {
	var y []float64
	for _, x := range []float64{-2.1, -0.55, 0.27, 1.3, 3.7} {
		y = append(y, f.F(x))
	}
	return printed(y)
}

func printMap(m *moment.Map) fingerprint { return printed(sampleMap(m)) }

func printStochastic(l *Stochastic) fingerprint {
	var y []float64
	for _, x := range [][2]float64{{-2.1, 0.3}, {-0.55, 1.7}, {0.27, -0.8}, {1.3, 0.9}} {
		y = append(y, l.F(x[0], x[1]))
	}
	return printed(y)
}

// once stores the fingerprint of a name while a network is written; two different
// functions cannot share a name.
func (c *coder) once(what, name string, p fingerprint) error {
	key := what + " " + name
	if q, ok := c.prints[key]; ok && !p.same(q) {
		return fmt.Errorf("two different %ss have the name %q; give one of them another name", what, name)
	}
	c.prints[key] = p
	return nil
}

// is reports whether the provided function is the one that was saved. Old files have
// no fingerprint.
func (p fingerprint) is(what, name string, brought fingerprint) error {
	if p == nil || p.same(brought) {
		return nil
	}
	return fmt.Errorf("the %s %q differs from the one that the model was saved with: it returns %v at the test points, the saved one returned %v", what, name, []string(brought), []string(p))
}
