package gpu

import (
	"fmt"

	"utvi/internal/cuda"
	"utvi/vi"
)

// weights are the parameters of a network on the card, with what is derived from them:
// variances and, for training, transposes.
type weights struct {
	*memory
	kernels   *kernelSet
	plan      *plan
	size      int // numbers in theta
	mean, rho []int
	theta     cuda.Ptr
	tensors   []tensor
	table     cuda.Ptr // the tensors
	chunks    cuda.Ptr
	chunkOf   []int32 // tensor of each chunk
	control   cuda.Ptr
	results   cuda.Ptr
	adam      adamArgs
}

// chunk is how many parameters a block updates: enough that few blocks keep the card
// busy, and as many as a block has threads at least.
func (w *weights) chunk() int32 { return int32(256 * max(1, w.size/(256*1024))) }

const sizeOp, sizeTensor, sizeControl, sizeResult, sizeProduct, sizeJob = 296, 80, 80, 40, 224, 16

func newWeights(e *Engine, p *plan, train bool, slots int) (*weights, error) {
	k, err := e.load()
	if err != nil {
		return nil, err
	}
	m, err := newMemory(e.device)
	if err != nil {
		return nil, err
	}
	w := &weights{memory: m, kernels: k, plan: p, size: len(p.params.Theta)}
	w.mean, w.rho = offsets(p.params)
	w.theta = w.floats(w.size)
	for i, t := range p.params.Tensors {
		w.tensors = append(w.tensors, tensor{Len: int32(t.Len()), Mean: int64(w.mean[i]), Rho: int64(w.rho[i]), Parts: 1})
		x := &w.tensors[i]
		if t.Random {
			x.Random = 1
			x.S = w.floats(t.Len())
		}
		if t.NoDecay {
			x.NoDecay = 1
		}
	}
	for _, l := range p.layers {
		if l.kind != opDense {
			continue
		}
		x := &w.tensors[l.tensors[0]]
		x.Rows, x.Cols = int32(l.in), int32(l.out)
		if train && !l.wide() {
			x.WT = w.floats(l.in * l.out)
			if x.Random != 0 {
				x.ST = w.floats(l.in * l.out)
			}
		}
	}
	var chunks []int32
	for i, t := range w.tensors {
		for lo := int32(0); lo < t.Len; lo += w.chunk() {
			chunks, w.chunkOf = append(chunks, int32(i), lo), append(w.chunkOf, int32(i))
		}
	}
	w.chunks = place(w.memory, chunks, 4)
	w.table = w.alloc(len(w.tensors), sizeTensor)
	w.control, w.results = w.alloc(1, sizeControl), w.alloc(1+slots, sizeResult)
	w.adam = adamArgs{Theta: w.theta, Tensors: w.table, Chunks: w.chunks, Chunk: w.chunk(), Prepare: 1, Control: w.control, Results: w.results}
	if w.err == nil {
		w.err = cuda.Upload(w.stream, w.results, []result{{Finite: allFinite, Clip: 1}})
	}
	if w.err == nil {
		w.err = w.upload(p.params)
	}
	if w.err != nil {
		err := w.err
		w.release()
		return nil, fmt.Errorf("network: %w", err)
	}
	return w, nil
}

// upload copies parameters and priors to the card and prepares what is derived from
// them.
func (w *weights) upload(p *vi.Params[float32]) error {
	for i, t := range p.Tensors {
		w.tensors[i].PriorMean, w.tensors[i].PriorVar = t.Prior.Mean, t.Prior.Std*t.Prior.Std
		if !t.Random {
			w.tensors[i].PriorVar = 1
		}
	}
	if err := cuda.Upload(w.stream, w.table, w.tensors); err != nil {
		return err
	}
	if err := cuda.Upload(w.stream, w.theta, p.Theta); err != nil {
		return err
	}
	prepare := w.adam
	prepare.Prepare = 1
	if err := cuda.Launch(w.stream, w.kernels.adamw, cuda.Grid{X: len(w.chunkOf)}, 256, &prepare); err != nil {
		return err
	}
	return w.stream.Sync()
}

// at is the address of a tensor's means, rhoAt that of its ρ.
func (w *weights) at(tensor int) cuda.Ptr { return w.theta.Add(4 * w.mean[tensor]) }

// A signal is a batch on the card; v is 0 if it is fixed.
type signal struct{ m, v cuda.Ptr }

func (w *weights) signal(rows, width int, variances bool) signal {
	s := signal{m: w.floats(rows * width)}
	if variances {
		s.v = w.floats(rows * width)
	}
	return s
}

// operation returns the forward operation of a layer.
func (w *weights) operation(l *layer, in, out signal) op {
	o := op{Kind: l.kind, In: int32(l.in), Out: int32(l.out), F: l.f, M: in.m, V: in.v, OM: out.m, OV: out.v, P: l.p}
	switch l.kind {
	case opDense:
		t := w.tensors[l.tensors[0]]
		o.W, o.S, o.WT, o.ST = w.at(l.tensors[0]), t.S, t.WT, t.ST
		if len(l.tensors) > 1 {
			o.B, o.BS = w.at(l.tensors[1]), w.tensors[l.tensors[1]].S
		}
	case opApply:
		if l.nodes != nil {
			o.F.Nodes = place(w.memory, l.nodes, 4)
			if len(l.nodes) == 6 {
				copy(o.F.Three[:], l.nodes)
			}
		}
		if l.f.Rule == learned {
			o.F.Kappa = w.at(l.tensors[0])
		}
	case opNoise:
		if !l.off {
			o.Raw = w.at(l.tensors[0])
		}
	case opScale:
		o.Raw = w.at(l.tensors[0])
	case opMultiply:
		o.Raw = place(w.memory, l.by, 4)
	}
	return o
}
