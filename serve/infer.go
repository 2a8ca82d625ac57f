package serve

import (
	"context"
	"fmt"
	"slices"
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

// run answers a request. It returns the outputs in the order asked for.
func (q *inference) run(ctx context.Context, end time.Time) (out []tensor, rows int, err error) {
	x, err := q.encode()
	if err != nil {
		return nil, 0, err
	}
	if q.options.Density > 0 {
		return nil, 0, failf(invalid, "a density cannot be a tensor; ask for quantiles")
	}
	if err := q.fits(x.Rows, q.l, q.limits, q.mem); err != nil {
		return nil, 0, err
	}
	p, err := q.predictor(q.l)
	if err != nil {
		return nil, 0, err
	}
	all := outputs(q.l, p, len(q.Quantiles))
	want := q.outputs
	if want == nil {
		for _, o := range all {
			want = append(want, o.name)
		}
	}
	var write []output
	for _, name := range want {
		i := slices.IndexFunc(all, func(o output) bool { return o.name == name })
		if i < 0 {
			var names []string
			for _, o := range all {
				names = append(names, o.name)
			}
			return nil, 0, failf(invalid, "the model has no output %.60q; it has %s", name, strings.Join(names, ", "))
		}
		write = append(write, all[i])
		out = append(out, all[i].make(x.Rows))
	}
	_, err = q.l.queue.predict(ctx, end, x, p, func(b *predict.Batch, at int, j *job) {
		for i := range j.x.Rows {
			for k := range write {
				write[k].read(&out[k], b, at+i, j.first+i)
			}
		}
	})
	return out, x.Rows, as(invalid, err)
}

// encode turns the inputs into rows.
func (q *inference) encode() (gauss.Batch[float32], error) {
	if len(q.inputs) == 0 {
		return gauss.Batch[float32]{}, failf(invalid, "the request has no inputs; the model needs %s", inputNames(q.l))
	}
	rows := int(q.inputs[0].shape[0])
	seen := map[string]bool{}
	for i := range q.inputs {
		t := &q.inputs[i]
		if int(t.shape[0]) != rows {
			return gauss.Batch[float32]{}, failf(invalid, "tensor %.60q has %d rows, tensor %.60q %d", q.inputs[0].name, rows, t.name, t.shape[0])
		}
		if seen[t.name] {
			return gauss.Batch[float32]{}, failf(invalid, "the input %.60q occurs twice", t.name)
		}
		seen[t.name] = true
	}
	if err := q.mem.take(int64(rows) * q.l.rowBytes); err != nil {
		return gauss.Batch[float32]{}, err
	}
	if q.l.Schema == nil {
		return q.encodeNetwork(rows)
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
			return gauss.Batch[float32]{}, failf(invalid, "tensor %.60q has the shape %v; a column has the shape [%d] or [%d, 1]", t.name, t.shape, rows, rows)
		}
	}
	for row := range rows {
		for i := range q.inputs {
			q.inputs[i].set(build, at[i], row)
		}
		if err := build.End(); err != nil {
			return gauss.Batch[float32]{}, as(invalid, err)
		}
	}
	x, err := build.Batch()
	x.Rows, x.Width = rows, q.l.Inputs()
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
		if n := max(len(t.floats), len(t.ints), len(t.texts), len(t.bools)); n != rows*x.Width {
			return x, failf(invalid, "tensor %.60q has the shape %v; %d rows of the network have %d numbers", t.name, t.shape, rows, rows*x.Width)
		}
		if t.floats == nil && t.ints == nil && rows > 0 {
			return x, failf(invalid, "tensor %.60q is of datatype %s; numbers are needed", t.name, t.datatype)
		}
		*to = make([]float32, 0, rows*x.Width)
		for _, v := range t.floats {
			*to = append(*to, float32(v))
		}
		for _, v := range t.ints {
			*to = append(*to, float32(v))
		}
	}
	if x.Mean == nil {
		return x, failf(invalid, "the input %q is missing", networkInput)
	}
	return x, nil
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
