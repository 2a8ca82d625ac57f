package export

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"utvi/internal/calibrate"
	"utvi/internal/onnx"
	"utvi/predict"
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
// missing; names as strings, "" where they are missing; times as seconds since 1970 in
// float64, NaN where they are missing. A column that writes times with offsets from UTC has
// a second input for these, in seconds, named column_offset. A column of images is an input of rows ×
// channels × height × width, of the size that the model sees, as numbers from 0 to 1. The outputs, in the units of
// the targets, are rows × targets,
//
//	mean, std, lo, hi                                    lo and hi are the interval
//	variance_weights, variance_inputs, variance_noise    parts of std²
//	quantiles                                            rows × targets × levels
//
// The graph of a model of counts has no quantiles, and lo and hi only if the model has
// conformal intervals. For classes the outputs are label (rows), probabilities (rows ×
// classes) and, if the model gives conformal sets, set (rows × classes, booleans), of the
// level of the interval. Every graph has ood (rows): how unlike the training rows a row is.
func Table(m *predict.Model, o TableOptions) (*onnx.Model, error) {
	if m.Net == nil {
		return nil, errors.New("not a tabular model")
	}
	if m.Counts() && o.Quantiles != nil {
		return nil, errors.New("the model predicts counts, whose quantiles a graph cannot compute; export it without quantiles")
	}
	o = o.orDefault()
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
	switch {
	case m.Classes() != nil:
		err = t.classes(p)
	case m.Counts():
		err = t.counts(p)
	default:
		err = t.numbers(p)
	}
	if err != nil {
		return nil, err
	}
	t.output("ood", t.ood(x, p), onnx.Dim{Name: "N"})
	file := t.Model()
	file.Metadata = append(facts(m.Networks.Members[0]), t.metadata()...)
	return file, nil
}

// outputs are the names of all outputs.
var outputs = []string{"mean", "std", "lo", "hi", "variance_weights", "variance_inputs", "variance_noise", "quantiles", "label", "probabilities", "set", "ood"}

func quantilesOf(m *predict.Model, o TableOptions) []float64 {
	if m.Classes() != nil {
		return nil
	}
	return o.Quantiles
}

// metadata says what inputs and outputs mean.
func (t *tableWriter) metadata() []onnx.Entry {
	all := []onnx.Entry{{Key: "utvi.task", Value: string(t.m.Schema.Task)}, {Key: "utvi.targets", Value: strings.Join(t.m.Targets(), "\n")}}
	for _, x := range t.Graph.Inputs {
		if x.Doc != "" {
			all = append(all, onnx.Entry{Key: "utvi.input." + x.Name, Value: x.Doc})
		}
	}
	interval := onnx.Entry{Key: "utvi.interval", Value: strconv.FormatFloat(t.o.Interval, 'g', -1, 64)}
	if t.m.Classes() != nil {
		all = append(all, onnx.Entry{Key: "utvi.classes", Value: strings.Join(t.m.Classes(), "\n")})
		if t.sets() != nil {
			all = append(all, interval)
		}
		return all
	}
	if t.m.Counts() {
		return append(all, onnx.Entry{Key: "utvi.counts", Value: t.m.Net.Report.Members[0].Noise}, interval)
	}
	var levels []string
	for _, q := range t.o.Quantiles {
		levels = append(levels, strconv.FormatFloat(q, 'g', -1, 64))
	}
	return append(all, onnx.Entry{Key: "utvi.quantiles", Value: strings.Join(levels, ",")}, interval)
}

type tableWriter struct {
	*writer
	m    *predict.Model
	o    TableOptions
	lost []value // rows × 1, true where a row cannot be predicted
}

// output is an output of numbers, NaN for rows that cannot be predicted.
func (t *tableWriter) output(name string, v value, dims ...onnx.Dim) {
	t.Output(name, t.known(v, len(dims)), onnx.Float, dims...)
}

// ood is how unlike the training rows rows are; see tabular.Predictions.
func (t *tableWriter) ood(x signal, p parts) value {
	u, n := t.m.Net.InputStats, x.shape.C
	centred := t.sub(x.mean, t.Floats("usual", u.Mean, n))
	var scaled value
	if u.Root != nil {
		scaled = t.matmul(centred, t.transpose(t.Floats("root", u.Root, n, n), 1, 0))
	} else {
		scaled = t.mul(centred, t.Floats("inverse", u.Inv, n))
	}
	distance := t.times(t.sqrt(t.sum(t.square(scaled), 1, false)), 1/u.Distance)
	weights := p.plain
	if t.m.Counts() {
		weights = t.relative(p)
	}
	doubt := t.Op("ReduceMax", []value{weights}, onnx.IntList("axes", 1), onnx.Int("keepdims", 0))
	if t.m.Classes() != nil {
		doubt = t.sum(p.plain, 1, false)
	}
	return t.max(distance, t.times(t.sqrt(doubt), 1/u.Doubt))
}

// classes writes the outputs of a classification.
func (t *tableWriter) classes(p parts) error {
	names := t.m.Classes()
	q := t.max(p.mean, t.Float(0))
	q = t.div(q, t.sum(q, 1, true))
	raw := t.known(q, 2)
	if c := t.m.Calibration; c != nil && c[0].Temperature != nil {
		log := t.times(t.unary("Log", t.max(q, t.Float(1e-30))), 1/c[0].Temperature.T)
		q = t.Op("Softmax", []value{log})
	}
	best := t.Op("ArgMax", []value{q}, onnx.Int("axis", 1), onnx.Int("keepdims", 0))
	label := best
	if len(t.lost) > 0 { // "", behind the classes
		label = t.where(t.unknown(1), t.Ints(len(names)), best)
	}
	t.Output("label", t.Op("Gather", []value{t.Texts("classes", append(slices.Clone(names), "")), label}), onnx.String, onnx.Dim{Name: "N"})
	dim := []onnx.Dim{{Name: "N"}, {Size: int64(len(names))}}
	t.output("probabilities", q, dim...)
	if s := t.sets(); s != nil {
		t.Output("set", t.set(s, raw, label), onnx.Bool, dim...)
	}
	return nil
}

// sets is the calibration that gives sets of classes, nil if there is none.
func (t *tableWriter) sets() *calibrate.Sets {
	if t.m.Calibration == nil {
		return nil
	}
	return t.m.Calibration[0].Sets
}

// set marks the classes of conformal sets: the most probable class, and all whose
// probability before any temperature is large enough. A class that is within the rounding
// of float32 of the bound is in the set, so that the promised coverage holds.
func (t *tableWriter) set(s *calibrate.Sets, raw, label value) value {
	const rounding = 1e-6
	numbers := make([]int, len(t.m.Classes()))
	for i := range numbers {
		numbers[i] = i
	}
	likely := t.Op("GreaterOrEqual", []value{raw, t.Float(1 - s.Bound(t.o.Interval) - rounding)})
	top := t.Op("Equal", []value{t.unsqueeze(label, 1), t.Ints(numbers...)})
	return t.Op("Or", []value{likely, top})
}

// A correction is what calibration does to the targets of a regression or to counts.
type correction struct {
	factor       []float64 // of standard deviations
	below, above []float64 // conformal intervals, in standard deviations
	conformal    int       // targets that have them
}

func (t *tableWriter) correction(width int) correction {
	k := correction{factor: make([]float64, width), below: make([]float64, width), above: make([]float64, width)}
	for i := range width {
		k.factor[i] = 1
		if t.m.Calibration == nil {
			continue
		}
		c := t.m.Calibration[i]
		if c.Scale != nil {
			k.factor[i] = c.Scale.Factor
		}
		if c.Conformal != nil {
			k.conformal++
			k.below[i], k.above[i] = c.Conformal.Factors(t.o.Interval)
		}
	}
	return k
}

// numbers writes the outputs of a regression.
func (t *tableWriter) numbers(p parts) error {
	columns := t.m.Schema.Targets()
	width := len(columns)
	k := t.correction(width)
	if k.conformal > 0 && k.conformal < width {
		return errors.New("only some targets have conformal intervals; calibrate all of them alike")
	}
	scale := make([]float64, width)
	shift := make([]float64, width)
	for i, c := range columns {
		scale[i] = c.SD
		shift[i] = c.Mean
	}
	row := func(name string, v []float64) value { return t.floats(name, v, width) }
	n := len(t.o.Quantiles)
	d := t.predicted(p, t.inner(append(slices.Clone(t.o.Quantiles), (1-t.o.Interval)/2, (1+t.o.Interval)/2)))
	unit := row("unit", scale)
	offset := row("shift", shift)
	mean := t.add(t.mul(d.mean, unit), offset)
	wide := t.mul(d.sd, unit) // before any correction
	std := t.mul(wide, row("calibration", k.factor))
	dim := []onnx.Dim{{Name: "N"}, {Size: int64(width)}}
	// A scale stretches a distribution about its mean.
	q := t.sub(d.quantiles, t.unsqueeze(d.mean, 2))
	q = t.add(t.unsqueeze(mean, 2), t.mul(q, t.unsqueeze(t.mul(unit, row("calibration", k.factor)), 1)))
	lo, hi := t.squeeze(t.slice(q, 2, n, n+1, 1), 2), t.squeeze(t.slice(q, 2, n+1, n+2, 1), 2)
	if k.conformal > 0 {
		lo, hi = t.sub(mean, t.mul(wide, row("below", k.below))), t.add(mean, t.mul(wide, row("above", k.above)))
	}
	if shift, sd, ok := t.bent(p, d); ok {
		mean, std = t.add(mean, t.mul(std, shift)), t.mul(std, sd)
	}
	if low, high, ok := t.bounds(columns); ok {
		least := row("least", low)
		most := row("most", high)
		clip := func(v, least, most value) value { return t.min(t.max(v, least), most) }
		mean = clip(mean, least, most)
		lo = clip(lo, least, most)
		hi = clip(hi, least, most)
		q = clip(q, t.unsqueeze(least, 1), t.unsqueeze(most, 1))
	}
	t.output("mean", mean, dim...)
	t.output("std", std, dim...)
	t.output("lo", lo, dim...)
	t.output("hi", hi, dim...)
	t.variances(p, std, dim)
	t.output("quantiles", t.slice(q, 2, 0, n, 1), dim[0], dim[1], onnx.Dim{Size: int64(n)})
	return nil
}

// variances writes the parts of std².
func (t *tableWriter) variances(p parts, std value, dim []onnx.Dim) {
	ratio := t.div(t.square(std), t.max(p.variance, t.Float(1e-37)))
	for _, x := range []struct {
		name string
		v    value
	}{{"variance_weights", p.weights}, {"variance_inputs", p.inputs}, {"variance_noise", p.noise}} {
		t.output(x.name, t.mul(x.v, ratio), dim...)
	}
}
