package export

import (
	"utvi/internal/widths"
)

// curve is ln of the factor of widths.Curve, where log is ln of the factor before it; "" if no
// target has one. It is the sum of what x covers of each stretch between two knots, by the
// slope there. Targets with fewer knots than others have stretches of length 0.
func (t *tableWriter) curve(m *memberParts, log value) value {
	curves := make([]*widths.Curve, len(t.m.Net.Residuals))
	knots := 0
	for i, s := range t.m.Net.Residuals {
		if s.Level != nil && s.Level.Curve != nil {
			curves[i] = s.Level.Curve
			knots = max(knots, len(curves[i].At))
		}
	}
	if knots == 0 {
		return ""
	}
	row := func(name string, of func(c *widths.Curve) float64) value { // 0 for targets without a curve
		x := make([]float64, len(curves))
		for i, c := range curves {
			if c != nil {
				x[i] = of(c)
			}
		}
		return t.floats(name, x, len(x))
	}
	at := func(c *widths.Curve, knot int) float64 { return c.At[min(knot, len(c.At)-1)] }
	x := t.add(t.unary("Log", m.v), log)
	x = t.add(x, t.mul(m.m, row("along", func(c *widths.Curve) float64 { return c.Along })))
	sum := row("curve", func(c *widths.Curve) float64 { return c.Log[0] })
	for k := range knots - 1 {
		from := row("from", func(c *widths.Curve) float64 { return at(c, k) })
		to := row("to", func(c *widths.Curve) float64 { return at(c, k+1) })
		slope := row("slope", func(c *widths.Curve) float64 {
			if k+1 >= len(c.At) {
				return 0
			}
			return (c.Log[k+1] - c.Log[k]) / (c.At[k+1] - c.At[k])
		})
		sum = t.add(sum, t.mul(t.sub(t.min(t.max(x, from), to), from), slope))
	}
	return sum
}
