package serve

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"utvi/gauss"
	"utvi/predict"
)

// An inference is a request of the Open Inference Protocol, over REST or gRPC.
type inference struct {
	l       *loaded
	limits  Limits
	mem     *lease
	inputs  []tensor
	outputs []string // nil: all
	options
}

// input adds an input. There are no more of them than the model has, so that their names
// need no search of a long list.
func (q *inference) input(t tensor) error {
	for i := range q.inputs {
		if q.inputs[i].name == t.name {
			return failf(invalid, "the input %.60q occurs twice", t.name)
		}
	}
	if len(q.inputs) == q.mostInputs() {
		return failf(invalid, "the request has more than %d inputs; the model needs %s", q.mostInputs(), inputNames(q.l))
	}
	q.inputs = append(q.inputs, t)
	return nil
}

// mostInputs is the number of inputs that the model knows.
func (q *inference) mostInputs() int {
	if q.l.Schema == nil {
		return 2
	}
	return len(q.l.Schema.Columns)
}

// want asks for an output.
func (q *inference) want(name string) error {
	if slices.Contains(q.outputs, name) {
		return failf(invalid, "the output %.60q is asked for twice", name)
	}
	if len(q.outputs) == mostOutputs {
		return failf(invalid, "more than %d outputs are asked for; no model has so many", mostOutputs)
	}
	q.outputs = append(q.outputs, name)
	return nil
}

// mostOutputs is more than any model has.
const mostOutputs = 32

// run answers a request. It returns the outputs in the order asked for.
func (q *inference) run(ctx context.Context, end time.Time) (out []tensor, rows int, err error) {
	x, err := q.encode()
	if err != nil {
		return nil, 0, err
	}
	if err := q.fits(x.Rows, q.l, q.limits); err != nil {
		return nil, 0, err
	}
	p, err := q.predictor(q.l)
	if err != nil {
		return nil, 0, err
	}
	write, err := q.choose(outputs(q.l, p, len(q.Quantiles)))
	if err != nil {
		return nil, 0, err
	}
	for _, o := range write {
		if err := q.mem.take(o.memory(x.Rows)); err != nil {
			return nil, 0, err
		}
		out = append(out, o.make(x.Rows))
	}
	o := &order{x: x, p: p, extra: q.extra(), end: end}
	o.read = func(b *predict.Batch, row int, j *job, i int) {
		for k := range write {
			write[k].read(&out[k], b, row, j.first+i)
		}
	}
	_, err = q.l.queue.predict(ctx, o)
	return out, x.Rows, as(invalid, err)
}

// choose returns the outputs that are asked for: all, if none is named.
func (q *inference) choose(all []output) ([]output, error) {
	if q.outputs == nil {
		return all, nil
	}
	var out []output
	for _, name := range q.outputs {
		i := slices.IndexFunc(all, func(o output) bool { return o.name == name })
		if i < 0 {
			var names []string
			for _, o := range all {
				names = append(names, o.name)
			}
			return nil, failf(invalid, "the model has no output %.60q; it has %s", name, strings.Join(names, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// encode turns the inputs into rows.
func (q *inference) encode() (gauss.Batch[float32], error) {
	if len(q.inputs) == 0 {
		return gauss.Batch[float32]{}, failf(invalid, "the request has no inputs; the model needs %s", inputNames(q.l))
	}
	rows := int(q.inputs[0].shape[0])
	for i := range q.inputs {
		t := &q.inputs[i]
		if int(t.shape[0]) != rows {
			return gauss.Batch[float32]{}, failf(invalid, "tensor %.60q has %d rows, tensor %.60q %d", q.inputs[0].name, rows, t.name, t.shape[0])
		}
	}
	if err := q.mem.take(int64(rows)*q.l.rowBytes + q.l.blockBytes(rows)); err != nil {
		return gauss.Batch[float32]{}, err
	}
	if q.l.Schema == nil {
		return q.encodeNetwork(rows)
	}
	return q.encodeTable(rows)
}

// encodeTable turns columns into rows.
func (q *inference) encodeTable(rows int) (gauss.Batch[float32], error) {
	copied := int64(0) // of texts
	for i := range q.inputs {
		for _, text := range q.inputs[i].texts {
			copied += int64(len(text))
		}
	}
	if err := q.mem.take(copied); err != nil {
		return gauss.Batch[float32]{}, err
	}
	build := q.l.NewRowBuilder()
	at := make([]int, len(q.inputs))
	for i := range q.inputs {
		t := &q.inputs[i]
		at[i] = build.Column([]byte(t.name))
		if at[i] < 0 {
			return gauss.Batch[float32]{}, failf(invalid, "the model has no input %.60q; it needs %s", t.name, inputNames(q.l))
		}
		if len(t.shape) > 2 || len(t.shape) == 2 && t.shape[1] != 1 {
			return gauss.Batch[float32]{}, failf(invalid, "tensor %.60q has the shape %s; a column has the shape [%d] or [%d, 1]", t.name, t.shape, rows, rows)
		}
	}
	for row := range rows {
		for i := range q.inputs {
			t := &q.inputs[i]
			t.set(build, at[i], row)
			if t.texts != nil {
				if err := q.l.takeImage(at[i], t.texts[row], q.mem); err != nil {
					return gauss.Batch[float32]{}, err
				}
			}
		}
		if err := build.End(); err != nil {
			return gauss.Batch[float32]{}, as(invalid, err)
		}
	}
	x, err := build.Batch()
	x.Rows = rows
	x.Width = q.l.Inputs()
	return x, as(invalid, err)
}

// set hands an element to a column.
func (t *tensor) set(build *predict.RowBuilder, column, i int) {
	switch {
	case t.floats != nil:
		build.Number(column, t.floats[i])
	case t.ints != nil:
		build.Integer(column, t.ints[i])
	case t.texts != nil:
		build.Parse(column, t.texts[i])
	case t.bools[i]:
		build.Parse(column, []byte("true"))
	default:
		build.Parse(column, []byte("false"))
	}
}

// The inputs of a network.
const (
	networkInput    = "inputs"
	networkVariance = "variances"
)

func (q *inference) encodeNetwork(rows int) (gauss.Batch[float32], error) {
	x := gauss.Batch[float32]{Rows: rows, Width: q.l.Inputs()}
	for i := range q.inputs {
		t := &q.inputs[i]
		to := &x.Mean
		switch t.name {
		case networkInput:
		case networkVariance:
			to = &x.Var
		default:
			return x, failf(invalid, "the model has no input %.60q; it needs %s", t.name, inputNames(q.l))
		}
		if n := t.len(); n != rows*x.Width {
			return x, failf(invalid, "tensor %.60q has the shape %s; %d rows of the network have %d numbers", t.name, t.shape, rows, rows*x.Width)
		}
		if t.datatype == "BYTES" || t.datatype == "BOOL" {
			return x, failf(invalid, "tensor %.60q is of datatype %s; numbers are needed", t.name, t.datatype)
		}
		*to = t.appendFloats(make([]float32, 0, rows*x.Width))
	}
	if x.Mean == nil {
		return x, failf(invalid, "the input %q is missing", networkInput)
	}
	return x, nil
}

// appendFloats appends the numbers of a tensor.
func (t *tensor) appendFloats(out []float32) []float32 {
	for _, v := range t.floats {
		out = append(out, float32(v))
	}
	for _, v := range t.ints {
		out = append(out, float32(v))
	}
	for _, text := range t.texts { // whole numbers beyond int64
		v, _ := strconv.ParseUint(string(text), 10, 64)
		out = append(out, float32(v))
	}
	return out
}

// inputNames lists the inputs of a model, for a message.
func inputNames(l *loaded) string {
	if l.Schema == nil {
		return fmt.Sprintf("%s (%d numbers a row)", networkInput, l.Inputs())
	}
	const most = 20
	if names := l.Columns(); len(names) > most {
		return fmt.Sprintf("%s … (%d in all)", strings.Join(names[:most], ", "), len(names))
	}
	return strings.Join(l.Columns(), ", ")
}
