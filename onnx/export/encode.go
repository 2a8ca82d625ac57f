package export

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/onnx"
	"utvi/internal/schema"
	"utvi/nn"
)

// encode writes the inputs of the networks; see schema.Encoder.
func (t *tableWriter) encode() (signal, error) {
	s := t.m.Schema
	x := signal{form: nn.Fixed}
	if s.Uncertain() {
		x.form = nn.Independent
	}
	if err := t.inputs(); err != nil {
		return x, err
	}
	var all encoded
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == schema.Input {
			t.Scope(c.Name)
			t.column(c, &all)
		}
	}
	t.Scope("")
	x.shape = nn.Vec(len(s.Inputs()))
	x.mean = t.concat(1, all.means...)
	if x.form != nn.Fixed {
		x.variance = t.concat(1, all.variances...)
	}
	return x, nil
}

// inputs declares the inputs of the graph: the columns that a prediction needs.
func (t *tableWriter) inputs() error {
	for i := range t.m.Schema.Columns {
		c := &t.m.Schema.Columns[i]
		switch {
		case c.Role != schema.Input && c.Role != schema.Std:
		case slices.Contains(outputs, c.Name):
			return fmt.Errorf("the column %s has the name of an output of the graph; rename the column", c.Name)
		case c.Image != nil:
			t.pictureInput(c)
		case c.Type == schema.Categorical:
			t.input(c.Name, onnx.String, "")
		case c.Type == schema.Times:
			if err := t.timeInput(c); err != nil {
				return err
			}
		default:
			t.input(c.Name, onnx.Float, "")
		}
	}
	return nil
}

// encoded are the inputs of the networks so far.
type encoded struct{ means, variances []value }

func (e *encoded) add(mean, variance value) {
	e.means = append(e.means, mean)
	e.variances = append(e.variances, variance)
}

// column writes the inputs that a column becomes.
func (t *tableWriter) column(c *schema.Column, to *encoded) {
	exact := func(v value) { to.add(v, t.zeros(v)) }
	switch {
	case c.Image != nil:
		exact(t.picture(c))
		return
	case c.Embedded:
		exact(t.cast(t.level(c.Name, c)))
		return
	case c.Type == schema.Categorical:
		exact(t.oneHot(c.Name, c))
		return
	}
	t.note(c)
	z, variance, missing := t.number(c, c.Name, c.StdFrom)
	to.add(z, variance)
	for _, wave := range t.calendar(c) {
		exact(wave)
	}
	if t.m.Schema.MarksMissing(c) {
		exact(missing)
	}
}

// input declares an input of rows × 1.
func (t *tableWriter) input(name string, elem onnx.Elem, doc string) {
	t.Input(name, elem, onnx.Dim{Name: "N"}, onnx.Dim{Size: 1})
	t.Graph.Inputs[len(t.Graph.Inputs)-1].Doc = doc
}

// note notes the rows that cannot be predicted: a missing number that is not imputed, or one
// without its deviation or its offset.
func (t *tableWriter) note(c *schema.Column) {
	lost := t.unary("IsNaN", c.Name)
	if !t.m.Schema.Impute {
		t.lost = append(t.lost, lost)
	}
	var with []value
	if c.StdFrom != "" {
		with = append(with, c.StdFrom)
	}
	if c.Type == schema.Times && zoned(c) {
		with = append(with, offsetOf(c))
	}
	for _, v := range with {
		t.lost = append(t.lost, t.Op("And", []value{t.unary("IsNaN", v), t.unary("Not", lost)}))
	}
}

// known is a value, rows × …, with NaN in the rows that cannot be predicted. Runtimes
// differ in whether the smaller of NaN and a number is NaN, so that NaN may get lost on its
// way through a network.
func (t *tableWriter) known(v value, rank int) value {
	if len(t.lost) == 0 {
		return v
	}
	return t.where(t.unknown(rank), t.Float(math.NaN()), v)
}

// unknown marks the rows that cannot be predicted, in a tensor of the given rank.
func (t *tableWriter) unknown(rank int) value {
	lost := t.lost[0]
	for _, v := range t.lost[1:] {
		lost = t.Op("Or", []value{lost, v})
	}
	switch rank {
	case 1:
		return t.squeeze(lost, 1)
	case 3:
		return t.unsqueeze(lost, 2)
	}
	return lost
}

// oneHot is 1 for the level of each row, or for one of the last: others, and what is missing.
func (t *tableWriter) oneHot(v value, c *schema.Column) value {
	width := len(c.Levels) + 1
	if c.Apart {
		width++
	}
	hot := t.Op("OneHot", []value{t.level(v, c), t.Index(width), t.Floats("off_on", []float32{0, 1}, 2)})
	return t.squeeze(hot, 1)
}

// level is the number of the level of each row: that after the last for other levels, and
// the next one for missing cells where the column tells them apart.
func (t *tableWriter) level(v value, c *schema.Column) value {
	keys := slices.Clone(c.Levels)
	index := make([]int, len(keys))
	for i := range index {
		index[i] = i
	}
	if apart := c.Apart || c.Embedded && t.m.Schema.Impute; apart && !slices.Contains(keys, "") {
		keys, index = append(keys, ""), append(index, len(c.Levels)+1)
	}
	return t.ML("LabelEncoder", []value{v}, onnx.TextList("keys_strings", keys), onnx.IntList("values_int64s", index...), onnx.Int("default_int64", len(c.Levels)))
}

// number is a scaled number, or the trend of a time, with its variance; missing ones are 0 and marked.
func (t *tableWriter) number(c *schema.Column, v, std value) (z, variance, missing value) {
	wide := t.Op("Cast", []value{v}, toDouble) // a mean far from 0 would cost digits
	z = t.cast(t.scaled(c, wide))
	lost := t.unary("IsNaN", v)
	missing = t.cast(lost)
	if t.m.Schema.Impute {
		z = t.where(lost, t.Float(0), z)
	}
	switch {
	case std != "":
		std = t.Op("Cast", []value{std}, toDouble)
	case c.Std > 0:
		std = t.Doubles("std", c.Std)
	default:
		return z, t.zeros(z), missing
	}
	var sd value
	if s := c.Scale; s == nil || len(s.X) == 0 {
		sd = t.add(t.zeros(z), t.cast(t.div(std, t.Doubles("sd", c.SD))))
	} else { // half of what an interval of ± one standard deviation becomes
		sd = t.times(t.cast(t.sub(t.scaled(c, t.add(wide, std)), t.scaled(c, t.sub(wide, std)))), 0.5)
	}
	variance = t.square(sd)
	if t.m.Schema.Impute {
		variance = t.where(lost, t.Float(0), variance)
	}
	return z, variance, missing
}

var toDouble = onnx.Int("to", int(onnx.Double))

// scaled is schema.Column.Encode, in float64.
func (t *tableWriter) scaled(c *schema.Column, v value) value {
	number := func(x float64) value { return t.Doubles("number", x) }
	s := c.Scale
	if s == nil || len(s.X) == 0 {
		z := t.div(t.sub(v, number(c.Mean)), number(c.SD))
		if s == nil {
			return z
		}
		lo, hi := (c.Min-c.Mean)/c.SD, (c.Max-c.Mean)/c.SD
		return t.bend(z, lo-2*(hi-lo), hi+2*(hi-lo))
	}
	// What each segment between knots adds, and the ends of the first and the last one.
	n := len(s.X) - 1
	slopes := make([]float64, n)
	for i := range slopes {
		slopes[i] = (s.Z[i+1] - s.Z[i]) / (s.X[i+1] - s.X[i])
	}
	list := func(name string, v []float64) value { return t.reshape(t.Doubles(name, v...), 1, n) }
	from, to := list("from", s.X[:n]), list("to", s.X[1:])
	inside := t.mul(t.sub(t.min(t.max(v, from), to), from), list("slopes", slopes))
	z := t.add(t.sum(inside, 1, true), number(s.Z[0]))
	z = t.add(z, t.mul(t.min(t.sub(v, number(s.X[0])), number(0)), number(slopes[0])))
	z = t.add(z, t.mul(t.max(t.sub(v, number(s.X[n])), number(0)), number(slopes[n-1])))
	return t.bend(z, s.Z[0]-1, s.Z[n]+1)
}

// bend leaves z within bounds, and lets it grow by the logarithm of the distance beyond.
func (t *tableWriter) bend(z value, lo, hi float64) value {
	number := func(x float64) value { return t.Doubles("number", x) }
	log := func(beyond value) value { return t.unary("Log", t.add(t.max(beyond, number(0)), number(1))) }
	inside := t.min(t.max(z, number(lo)), number(hi))
	return t.sub(t.add(inside, log(t.sub(z, number(hi)))), log(t.sub(number(lo), z)))
}
