package serve

import (
	"context"
	"time"

	"utvi/serve/oip"
)

// ModelInfer predicts.
func (g *service) ModelInfer(ctx context.Context, r *oip.ModelInferRequest) (*oip.ModelInferResponse, error) {
	begin := time.Now()
	m, err := g.s.models.find(r.ModelName, r.ModelVersion)
	if err != nil {
		return nil, statusOf(err)
	}
	q := &inference{l: m.now.Load(), limits: g.s.Limits, mem: &ticketOf(ctx).lease}
	out, rows, err := g.infer(ctx, begin.Add(g.s.Limits.Time), q, r)
	code := 200
	if err != nil {
		f := faultOf(err)
		code = f.status
		if f.kind == busy {
			g.s.refused.Add(1)
			tryLater(ctx)
		}
		if f.kind == internal {
			g.s.Log.Error("internal error", "error", err)
		}
	} else {
		out.ModelName = m.Name
		out.ModelVersion = m.Version
	}
	m.count(byGRPC, code, rows, time.Since(begin))
	return out, statusOf(err)
}

// infer reads a message, predicts and makes the answer.
func (g *service) infer(ctx context.Context, end time.Time, q *inference, r *oip.ModelInferRequest) (*oip.ModelInferResponse, int, error) {
	binary := len(r.RawInputContents) > 0 // outputs come as inputs do
	for name, p := range r.Parameters {
		if err := q.parameter(name, value(p), &binary); err != nil {
			return nil, 0, err
		}
	}
	g.s.noteOldNames(&q.options)
	for _, o := range r.Outputs {
		if err := q.want(o.GetName()); err != nil {
			return nil, 0, err
		}
	}
	if err := q.readMessage(r); err != nil {
		return nil, 0, err
	}
	all, rows, err := q.run(ctx, end)
	if err != nil {
		return nil, rows, err
	}
	out, err := q.message(all, binary)
	if err != nil {
		return nil, rows, err
	}
	out.Id = r.Id
	return out, rows, nil
}

// readMessage reads the inputs of a message.
func (q *inference) readMessage(r *oip.ModelInferRequest) error {
	raw := len(r.RawInputContents) > 0
	if raw && len(r.RawInputContents) != len(r.Inputs) {
		return failf(invalid, "there are %d inputs and %d raw contents", len(r.Inputs), len(r.RawInputContents))
	}
	for i, in := range r.Inputs {
		t := tensor{name: in.GetName(), datatype: in.GetDatatype(), shape: in.GetShape()}
		n, err := t.elements(q.limits)
		if err != nil {
			return err
		}
		if raw && in.Contents != nil {
			return failf(invalid, "tensor %.60q has contents and raw contents", t.name)
		}
		have := contentsLen(in.Contents)
		if raw {
			have = len(r.RawInputContents[i])
		}
		err = q.mem.take(t.memory(min(n, have)))
		if err != nil {
			return err
		}
		if raw {
			err = t.readRaw(r.RawInputContents[i], n)
		} else {
			err = t.readContents(in.Contents, n)
		}
		if err != nil {
			return err
		}
		err = q.input(t)
		if err != nil {
			return err
		}
	}
	return nil
}

// message is the answer with outputs as numbers, or as bytes.
func (q *inference) message(all []tensor, binary bool) (*oip.ModelInferResponse, error) {
	out := &oip.ModelInferResponse{Parameters: map[string]*oip.InferParameter{}}
	for name, v := range responseParameters(q.l) {
		out.Parameters[name] = &oip.InferParameter{ParameterChoice: &oip.InferParameter_StringParam{StringParam: v}}
	}
	for i := range all {
		t := &all[i]
		o := &oip.ModelInferResponse_InferOutputTensor{Name: t.name, Datatype: t.datatype, Shape: t.shape}
		if binary {
			if err := q.mem.take(int64(t.rawSize())); err != nil {
				return nil, err
			}
			out.RawOutputContents = append(out.RawOutputContents, t.appendRaw(make([]byte, 0, t.rawSize())))
		} else {
			o.Contents = &oip.InferTensorContents{Fp64Contents: t.floats, BytesContents: t.texts, BoolContents: t.bools}
		}
		out.Outputs = append(out.Outputs, o)
	}
	return out, nil
}

// contentsLen is the number of elements of all fields.
func contentsLen(c *oip.InferTensorContents) int {
	return len(c.GetBoolContents()) + len(c.GetBytesContents()) + len(c.GetFp64Contents()) + len(c.GetFp32Contents()) +
		len(c.GetInt64Contents()) + len(c.GetIntContents()) + len(c.GetUintContents()) + len(c.GetUint64Contents())
}

// readContents reads n elements from the field of the tensor's type.
func (t *tensor) readContents(c *oip.InferTensorContents, n int) error {
	got := 0
	switch t.datatype {
	case "BOOL":
		t.bools, got = append([]bool{}, c.GetBoolContents()...), len(c.GetBoolContents())
	case "BYTES":
		t.texts, got = append([][]byte{}, c.GetBytesContents()...), len(c.GetBytesContents())
	case "FP64":
		t.floats, got = append([]float64{}, c.GetFp64Contents()...), len(c.GetFp64Contents())
	case "FP32":
		t.floats, got = convert[float64](c.GetFp32Contents()), len(c.GetFp32Contents())
	case "INT64":
		t.ints, got = append([]int64{}, c.GetInt64Contents()...), len(c.GetInt64Contents())
	case "INT8", "INT16", "INT32":
		t.ints, got = convert[int64](c.GetIntContents()), len(c.GetIntContents())
	case "UINT8", "UINT16", "UINT32":
		t.ints, got = convert[int64](c.GetUintContents()), len(c.GetUintContents())
	case "UINT64":
		all := c.GetUint64Contents()
		got = len(all)
		t.unsigned(got, func(i int) uint64 { return all[i] })
	default:
		return failf(invalid, "tensor %.60q of datatype %s needs raw contents", t.name, t.datatype)
	}
	if got != n {
		return failf(invalid, "tensor %.60q has %d elements of datatype %s; its shape %s needs %d", t.name, got, t.datatype, t.shape, n)
	}
	return t.ranged()
}

func convert[T int64 | float64, S float32 | int32 | uint32](all []S) []T {
	out := make([]T, len(all))
	for i, v := range all {
		out[i] = T(v)
	}
	return out
}
