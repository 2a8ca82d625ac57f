package export

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"utvi/calibrate"
	"utvi/nn"
	"utvi/onnx"
	"utvi/predict"
	"utvi/table"
)

// TableOptions say what the graph of a table's model offers.
type TableOptions struct {
	Quantiles []float64 // levels; nil means 0.05, 0.25, 0.5, 0.75, 0.95
	Interval  float64   // level of the interval; 0 means 0.9
}

func (o TableOptions) orDefault() TableOptions {
	if o.Quantiles == nil {
		o.Quantiles = []float64{0.05, 0.25, 0.5, 0.75, 0.95}
	}
	if o.Interval == 0 {
		o.Interval = 0.9
	}
	return o
}

// Table writes a model of a table as a graph, with encoding, ensemble and calibration
// inside. Each column is an input of rows × 1: numbers as floats, NaN where they are
// missing; names as strings, "" where they are missing. The outputs, in the units of the
// targets, are rows × targets,
//
//	mean, std, lo, hi                                    lo and hi are the interval
//	variance_weights, variance_inputs, variance_noise    parts of std²
//	quantiles                                            rows × targets × levels
//
// or, for classes, label (rows) and probabilities (rows × classes), and always ood (rows):
// how unfamiliar a row is.
func Table(m *predict.Model, o TableOptions) (*onnx.Model, error) {
	o = o.orDefault()
	if m.Net == nil {
		return nil, errors.New("not a tabular model")
	}
	if _, err := m.NewPredictor(predict.Options{Interval: o.Interval, Quantiles: quantilesOf(m, o)}); err != nil {
		return nil, err
	}
	t := &tableWriter{writer: &writer{ops: ops{onnx.NewBuilder("utvi")}}, m: m, o: o}
	t.Reserve(outputs...)
	x, err := t.encode()
	if err != nil {
		return nil, err
	}
	p, err := t.head(x)
	if err != nil {
		return nil, err
	}
	t.Scope("")
	if m.Classes() != nil {
		err = t.classes(p)
	} else {
		err = t.numbers(p)
	}
	if err != nil {
		return nil, err
	}
	t.Output("ood", t.unfamiliar(x, p), onnx.Float, onnx.Dim{Name: "N"})
	file := t.Model()
	file.Metadata = append(facts(m.Networks.Members[0]), t.metadata()...)
	return file, nil
}

// outputs are the names of all outputs.
var outputs = []string{"mean", "std", "lo", "hi", "variance_weights", "variance_inputs", "variance_noise", "quantiles", "label", "probabilities", "ood"}

func quantilesOf(m *predict.Model, o TableOptions) []float64 {
	if m.Classes() != nil {
		return nil
	}
	return o.Quantiles
}

// metadata says what the outputs mean.
func (t *tableWriter) metadata() []onnx.Entry {
	all := []onnx.Entry{{Key: "utvi.task", Value: string(t.m.Schema.Task)}, {Key: "utvi.targets", Value: strings.Join(t.m.Targets(), "\n")}}
	if t.m.Classes() != nil {
		return append(all, onnx.Entry{Key: "utvi.classes", Value: strings.Join(t.m.Classes(), "\n")})
	}
	var levels []string
	for _, q := range t.o.Quantiles {
		levels = append(levels, strconv.FormatFloat(q, 'g', -1, 64))
	}
	return append(all, onnx.Entry{Key: "utvi.quantiles", Value: strings.Join(levels, ",")}, onnx.Entry{Key: "utvi.interval", Value: strconv.FormatFloat(t.o.Interval, 'g', -1, 64)})
}

type tableWriter struct {
	*writer
	m *predict.Model
	o TableOptions
}

// encode writes the inputs of the networks; see table.Encoder.
func (t *tableWriter) encode() (signal, error) {
	s := t.m.Schema
	x := signal{form: nn.Fixed}
	for _, c := range s.Columns {
		elem := onnx.Float
		switch {
		case c.Role != table.Input && c.Role != table.Std:
			continue
		case slices.Contains(outputs, c.Name):
			return x, fmt.Errorf("the column %s has the name of an output of the graph; rename the column", c.Name)
		case c.Type == table.Categorical:
			elem = onnx.String
		}
		t.Input(c.Name, elem, onnx.Dim{Name: "N"}, onnx.Dim{Size: 1})
	}
	if s.Uncertain() {
		x.form = nn.Independent
	}
	var means, variances []value
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Role != table.Input {
			continue
		}
		t.Scope(c.Name)
		if c.Type == table.Categorical {
			hot := t.oneHot(c.Name, c.Levels)
			means, variances = append(means, hot), append(variances, t.zeros(hot))
			continue
		}
		z, variance, missing := t.number(c, c.Name, c.StdFrom)
		means, variances = append(means, z), append(variances, variance)
		if s.Impute && c.Missing > 0 {
			means, variances = append(means, missing), append(variances, t.zeros(missing))
		}
	}
	t.Scope("")
	x.shape = nn.Vec(len(s.Inputs()))
	x.mean = t.concat(1, means...)
	if x.form != nn.Fixed {
		x.variance = t.concat(1, variances...)
	}
	return x, nil
}

// oneHot is 1 for the level of each row, or for the last, others.
func (t *tableWriter) oneHot(v value, levels []string) value {
	index := make([]int, len(levels))
	for i := range index {
		index[i] = i
	}
	at := t.ML("LabelEncoder", []value{v}, onnx.TextList("keys_strings", levels), onnx.IntList("values_int64s", index...), onnx.Int("default_int64", len(levels)))
	hot := t.Op("OneHot", []value{at, t.Index(len(levels) + 1), t.Floats("off_on", []float32{0, 1}, 2)})
	return t.squeeze(hot, 1)
}

// number is a scaled number with its variance; missing ones are 0 and marked.
func (t *tableWriter) number(c *table.Column, v, std value) (z, variance, missing value) {
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

// scaled is table.Column.Encode, in float64.
func (t *tableWriter) scaled(c *table.Column, v value) value {
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

// unfamiliar is how far rows are from the training rows; see tabular.Predictions.
func (t *tableWriter) unfamiliar(x signal, p parts) value {
	u, n := t.m.Net.InputStats, x.shape.C
	centred := t.sub(x.mean, t.Floats("usual", u.Mean, n))
	var scaled value
	if u.Root != nil {
		scaled = t.matmul(centred, t.transpose(t.Floats("root", u.Root, n, n), 1, 0))
	} else {
		scaled = t.mul(centred, t.Floats("inverse", u.Inv, n))
	}
	distance := t.times(t.sqrt(t.sum(t.square(scaled), 1, false)), 1/u.Distance)
	doubt := t.Op("ReduceMax", []value{p.weights}, onnx.IntList("axes", 1), onnx.Int("keepdims", 0))
	if t.m.Classes() != nil {
		doubt = t.sum(p.weights, 1, false)
	}
	return t.max(distance, t.times(t.sqrt(doubt), 1/u.Doubt))
}

// classes writes the outputs of a classification.
func (t *tableWriter) classes(p parts) error {
	names := t.m.Classes()
	q := t.max(p.mean, t.Float(0))
	q = t.div(q, t.sum(q, 1, true))
	if c := t.m.Calibration; c != nil && c[0].Temperature != nil {
		log := t.times(t.unary("Log", t.max(q, t.Float(1e-30))), 1/c[0].Temperature.T)
		q = t.Op("Softmax", []value{log})
	}
	best := t.Op("ArgMax", []value{q}, onnx.Int("axis", 1), onnx.Int("keepdims", 0))
	t.Output("label", t.Op("Gather", []value{t.Texts("classes", names), best}), onnx.String, onnx.Dim{Name: "N"})
	t.Output("probabilities", q, onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: int64(len(names))})
	return nil
}

// numbers writes the outputs of a regression.
func (t *tableWriter) numbers(p parts) error {
	columns := t.m.Schema.Targets()
	width := len(columns)
	scale, shift, factor := make([]float64, width), make([]float64, width), make([]float64, width)
	below, above := make([]float64, width), make([]float64, width)
	conformal := false
	for i, c := range columns {
		scale[i], shift[i], factor[i] = c.SD, c.Mean, 1
		if t.m.Calibration == nil {
			continue
		}
		k := t.m.Calibration[i]
		if k.Levels != nil {
			return fmt.Errorf("the calibration of %s bends levels (isotonic), which a graph does not hold; calibrate with scale and conformal", c.Name)
		}
		if k.Scale != nil {
			factor[i] = k.Scale.Factor
		}
		if k.Conformal != nil {
			conformal = true
			below[i], above[i] = k.Conformal.Factors(t.o.Interval)
		}
	}
	if conformal && slices.ContainsFunc(t.m.Calibration, func(c calibrate.Calibration) bool { return c.Conformal == nil }) {
		return errors.New("only some targets have conformal intervals; calibrate all of them alike")
	}
	row := func(name string, v []float64) value { return t.floats(name, v, width) }
	n := len(t.o.Quantiles)
	d := t.predicted(p, append(slices.Clone(t.o.Quantiles), (1-t.o.Interval)/2, (1+t.o.Interval)/2))
	unit, offset := row("unit", scale), row("shift", shift)
	mean := t.add(t.mul(d.mean, unit), offset)
	wide := t.mul(d.sd, unit) // before any correction
	std := t.mul(wide, row("calibration", factor))
	dim := []onnx.Dim{{Name: "N"}, {Size: int64(width)}}
	t.Output("mean", mean, onnx.Float, dim...)
	t.Output("std", std, onnx.Float, dim...)
	// A scale stretches a distribution about its mean.
	q := t.sub(d.quantiles, t.unsqueeze(d.mean, 2))
	q = t.add(t.unsqueeze(mean, 2), t.mul(q, t.unsqueeze(t.mul(unit, row("calibration", factor)), 1)))
	lo, hi := t.squeeze(t.slice(q, 2, n, n+1, 1), 2), t.squeeze(t.slice(q, 2, n+1, n+2, 1), 2)
	if conformal {
		lo, hi = t.sub(mean, t.mul(wide, row("below", below))), t.add(mean, t.mul(wide, row("above", above)))
	}
	t.Output("lo", lo, onnx.Float, dim...)
	t.Output("hi", hi, onnx.Float, dim...)
	ratio := t.div(t.square(std), t.max(p.variance, t.Float(1e-37)))
	for _, x := range []struct {
		name string
		v    value
	}{{"variance_weights", p.weights}, {"variance_inputs", p.inputs}, {"variance_noise", p.noise}} {
		t.Output(x.name, t.mul(x.v, ratio), onnx.Float, dim...)
	}
	t.Output("quantiles", t.slice(q, 2, 0, n, 1), onnx.Float, dim[0], dim[1], onnx.Dim{Size: int64(n)})
	return nil
}
