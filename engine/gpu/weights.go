package gpu

import (
	"utvi/internal/cuda"
	"utvi/vi"
)

// weights are the parameters of a network on the card, with what is derived from them:
// variances and, for training, transposes.
type weights struct {
	*memory
	*recorder
	kernels   *kernelSet
	tile      string // see Engine.Tile
	plan      *plan
	size      int // numbers in theta
	mean, rho []int
	theta     cuda.Ptr
	tensors   []derived
	chunks    []chunk
	table     cuda.Ptr // the chunks
	control   cuda.Ptr
	results   cuda.Ptr
	adam      many[adamArgs]
	cutting   many[cutWeightsArgs] // of layers that run on planes
	path      path
}

// A derived tensor is what the card keeps of a tensor besides its parameters.
type derived struct {
	random     bool
	narrow     bool // of a narrow layer
	rows, cols int
	parts      int       // partial gradients
	s, wt, st  cuda.Ptr  // variances, transposes
	center     cuda.Ptr  // of the priors
	planes     [3]planes // means, variances and squares of means, of layers that are cut
}

// chunk is how many parameters a block updates: enough that few blocks keep the card
// busy, and as many as a block has threads at least. Of networks that are cut, all blocks
// run at a time, since the start and the end of a block take long.
func (w *weights) chunk() int {
	if w.plan.wideCols() > 0 {
		return 256 * tiles(w.size, 2*256*380)
	}
	return 256 * max(1, w.size/(256*1024))
}

const sizeOp, sizeChunk, sizeControl, sizeResult, sizeProduct, sizeJob = 392, 96, 80, 40, 224, 16

// newWeights chooses the path of a plan and places its parameters in m, which it releases if it
// fails.
func newWeights(e *Engine, m *memory, p *plan, u use) (*weights, error) {
	k := e.load()
	w := &weights{memory: m, recorder: &recorder{}, kernels: k, tile: e.tile, plan: p, size: len(p.params.Theta)}
	w.mean, w.rho = offsets(p.params)
	w.path = choosePath(w, u)
	w.path.arrange(w, u)
	for i := range p.layers {
		if l := &p.layers[i]; l.formula != nil {
			l.kernel = k.formula(e.device, l.formula)
		}
	}
	w.theta = w.floats(w.size)
	w.placeTensors()
	w.placeMatrices()
	w.cutChunks()
	w.control = w.alloc(max(1, u.slots), sizeControl)
	w.results = w.alloc(1+u.slots, sizeResult)
	w.placeCuts()
	w.adam.One = adamArgs{Theta: w.theta, Chunks: w.table, Prepare: 1, Control: w.control, Results: w.results}
	if w.err == nil {
		w.err = cuda.Upload(w.stream, w.results, []result{{Finite: allFinite, Clip: 1}})
	}
	if w.err == nil {
		w.err = w.upload(p.params)
	}
	if w.err != nil {
		err := w.err
		w.release()
		return nil, err
	}
	return w, nil
}

// placeTensors makes room for the variances of random tensors, and places the centers of their
// priors. Tensors that are cut have their variances in planes.
func (w *weights) placeTensors() {
	cut := w.plan.cutTensors()
	for i, t := range w.plan.params.Tensors {
		x := derived{random: t.Random, parts: 1}
		if t.Random && !cut[i] {
			x.s = w.floats(t.Len())
		}
		if t.Random && t.Center != nil {
			x.center = place(w.memory, t.Center, 4)
		}
		w.tensors = append(w.tensors, x)
	}
}

// placeMatrices makes room for what is derived of the weights of dense layers: planes and
// transposes.
func (w *weights) placeMatrices() {
	for i := range w.plan.layers {
		l := &w.plan.layers[i]
		if l.kind != opDense {
			continue
		}
		x := &w.tensors[l.tensors[0]]
		x.rows = l.in
		x.cols = l.out
		x.narrow = l.mode == narrow
		if l.mode == onPlanes {
			for j := range x.planes {
				x.planes[j] = w.newPlanes(l.in, l.out)
			}
		}
		if !l.transposed {
			continue
		}
		x.wt = w.floats(l.in * l.out)
		if x.random {
			x.st = w.floats(l.in * l.out)
		}
	}
}

// cutChunks cuts the tensors into chunks, one for a block of the update.
func (w *weights) cutChunks() {
	for i, t := range w.plan.params.Tensors {
		size := w.chunk()
		if w.tensors[i].narrow { // with many partial gradients to add up
			size = 256
		}
		for lo := 0; lo < t.Len(); lo += size {
			w.chunks = append(w.chunks, chunk{Lo: int32(lo), Hi: int32(min(t.Len(), lo+size)), Tensor: int32(i)})
		}
	}
	w.table = w.alloc(len(w.chunks), sizeChunk)
}

// upload copies parameters and priors to the card and prepares what is derived from
// them.
func (w *weights) upload(p *vi.Params[float32]) error {
	if len(w.chunks) == 0 { // nothing is learned
		return w.stream.Sync()
	}
	if err := w.describe(p); err != nil {
		return err
	}
	if err := cuda.Upload(w.stream, w.theta, p.Theta); err != nil {
		return err
	}
	if err := w.prepare(); err != nil {
		return err
	}
	return w.stream.Sync()
}

// prepare queues what is derived from the parameters.
func (w *weights) prepare() error {
	adam, grid := w.adam, cuda.Grid{X: len(w.chunks)}
	adam.One.Prepare = 1
	if err := launch(w, w.kernels.adamw, grid, 256, &adam); err != nil {
		return err
	}
	return w.cutWeights()
}

// describe writes the chunks to the card, with the priors.
func (w *weights) describe(p *vi.Params[float32]) error {
	for i := range w.chunks {
		c := &w.chunks[i]
		t, x := p.Tensors[c.Tensor], w.tensors[c.Tensor]
		c.Random = 0
		c.NoDecay = 0
		c.PriorMean = 0
		c.PriorVar = 1
		if t.Random {
			c.Random = 1
			c.PriorMean = t.Prior.Mean
			c.PriorVar = t.Prior.Std * t.Prior.Std
		}
		if t.NoDecay {
			c.NoDecay = 1
		}
		c.Rows = int32(x.rows)
		c.Cols = int32(x.cols)
		c.Parts = int32(x.parts)
		c.Mean, c.Rho = int64(w.mean[c.Tensor]), int64(w.rho[c.Tensor])
		c.S = x.s
		c.WT = x.wt
		c.ST = x.st
		c.Center = x.center
	}
	return cuda.Upload(w.stream, w.table, w.chunks)
}

// at is the address of a tensor's means.
func (w *weights) at(tensor int) cuda.Ptr { return w.theta.Add(4 * w.mean[tensor]) }

// A signal is a batch on the card; v is 0 if it is fixed, c if nobody wants covariances.
type signal struct{ m, v, c cuda.Ptr }

func (m *memory) signal(rows, width int, variances bool) signal {
	s := signal{m: m.floats(rows * width)}
	if variances {
		s.v = m.floats(rows * width)
	}
	return s
}
