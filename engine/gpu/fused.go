package gpu

import "utvi/internal/cuda"

// Small networks run in the kernel fused: one launch takes a few rows through all
// operations, with the weights and all signals in shared memory.

// fusedOverhead is what the kernel fused declares of shared memory itself, in bytes.
const fusedOverhead = 17 << 10

// widestFused bounds the sides of dense layers in the kernel fused, mostFusedDense their
// number.
const widestFused, mostFusedDense = 512, 8

// The kernel copies so many matrices and signals.
const mostStays, mostKeeps = 32, 64

// A stay is a matrix of weights that a block copies to shared memory.
type stay struct {
	From                  cuda.Ptr
	Rows, Cols, Pitch, At int32 // At: offset in numbers
}

// A keep is a signal that lies in global memory, too.
type keep struct {
	Far                 cuda.Ptr
	At, Width, After, _ int32 // After < 0: an earlier launch wrote it
}

type fusedLayout struct {
	Stays                   [mostStays]stay
	Keeps                   [mostKeeps]keep
	Staying, Early, Kept, _ int32
}

const sizeLayout = 24*(mostStays+mostKeeps) + 16

type fusedArgs struct {
	Ops                     cuda.Ptr
	First, Count, Rows, Per int32
	Control, Results        cuda.Ptr
	Layout                  cuda.Ptr
	Turns, _                int32
}

// fusedPath runs small networks in the kernel fused: one launch takes a few rows through all
// operations.
type fusedPath struct{ small }

func (fusedPath) accepts(w *weights, u use) bool { return w.isSmall(u.train) }

func (fusedPath) pass(w *weights, b *launches) pass {
	b.fuse(w)
	return newStagedPass(w, b)
}

// isSmall reports whether all operations on rows of a plan can run in the kernel fused:
// their signals fit into shared memory, and weights that do not can be read where they are.
func (w *weights) isSmall(train bool) bool {
	if !w.kernels.hasFused {
		return false
	}
	bytes := 0
	dense := 0
	for i := range w.plan.layers {
		l := &w.plan.layers[i]
		if !l.fuses() {
			return false
		}
		if l.kind == opDense {
			dense++
		}
		bytes += w.fusedSignals(l, train) + w.fusedWeights(l)
	}
	return dense > 0 && dense <= mostFusedDense && bytes <= w.device.Shared-fusedOverhead
}

// fuses reports whether a layer can be part of a small network.
func (l *layer) fuses() bool {
	if l.sense || l.cov || l.needs {
		return false
	}
	switch l.kind {
	case opDense:
		return max(l.in, l.out) <= widestFused
	case opConv, opApply, opNoise, opScale, opMultiply, opDropout, opAdd, opPiecewise, opAppend, opLayerNorm, opSoftmax, opConditional, opEmbed:
		return true
	}
	return false
}

// fusedSignals is how many bytes the signals of a layer take in shared memory.
func (w *weights) fusedSignals(l *layer, train bool) int {
	const signal = 2 * 4 * rowsPerBlock // bytes of a unit
	switch {
	case l.kind == opConv && l.folds(): // its outputs are the inputs of the next layer
		return signal * l.in
	case l.kind == opConv:
		return 0
	case train: // a gradient, and one more where two meet
		return 2 * signal * (l.in + l.out)
	}
	return signal * (l.in + l.out)
}

// fusedWeights is how many bytes the weights of a layer take that must be copied to shared memory.
func (w *weights) fusedWeights(l *layer) int {
	if l.kind != opDense {
		return 0
	}
	bytes := 4*2*l.out + 32
	matrix := 4 * 2 * l.in * fusedPitch(l.in, l.out)
	switch {
	case min(l.in, l.out) <= mostThin:
		bytes += matrix + 32
	case l.out%4 != 0 || w.mean[l.tensors[0]]%4 != 0:
		bytes += matrix
	}
	return bytes
}

// fusedPitch is how far the rows of a matrix are apart in shared memory, in numbers, so
// that threads beside one another read from different banks.
func fusedPitch(in, out int) int {
	if min(in, out) <= mostThin {
		return out | 1
	}
	return 4 * (tiles(out, 4) | 1)
}

// place codes an offset in shared memory, in numbers, for the fields of an operation.
func sharedPlace(at, width int) cuda.Ptr { return cuda.Ptr(1<<63 | uint64(width)<<32 | uint64(4*at)) }

// A fuser lays out the shared memory of one launch.
type fuser struct {
	layout  fusedLayout
	next    int // offset of what is placed next
	room    int
	signals map[cuda.Ptr]cuda.Ptr // and their places
}

func (f *fuser) take(n int) int {
	at := f.next
	f.next += (n + 3) / 4 * 4
	return at
}

func (f *fuser) keep(far cuda.Ptr, at, width, after int) {
	if int(f.layout.Kept) == mostKeeps {
		panic("gpu: a small network has too many signals")
	}
	f.layout.Keeps[f.layout.Kept] = keep{Far: far, At: int32(at), Width: int32(width), After: int32(after)}
	f.layout.Kept++
}

// signal places a signal; after is the operation that writes it, −1 where it is read first.
func (f *fuser) signal(p *cuda.Ptr, width, after int, kept map[cuda.Ptr]bool) {
	if *p == 0 {
		return
	}
	s, ok := f.signals[*p]
	if !ok {
		at := f.take(rowsPerBlock * width)
		s = sharedPlace(at, width)
		f.signals[*p] = s
		if after < 0 || kept[*p] {
			f.keep(*p, at, width, after)
		}
	}
	*p = s
}

// matrix copies weights to shared memory, if there is room.
func (f *fuser) matrix(p *cuda.Ptr, rows, cols, pitch int) bool {
	if *p == 0 {
		return true
	}
	s, ok := f.signals[*p]
	if !ok {
		if f.next+rows*pitch+4 > f.room || f.layout.Staying == mostStays {
			return false
		}
		at := f.take(rows * pitch)
		s = sharedPlace(at, 0)
		f.signals[*p] = s
		f.layout.Stays[f.layout.Staying] = stay{From: *p, Rows: int32(rows), Cols: int32(cols), Pitch: int32(pitch), At: int32(at)}
		f.layout.Staying++
	}
	*p = s
	return true
}

// fuse lays out a launch of operations in shared memory, and writes the places into them.
// Signals in kept are needed elsewhere.
func fuse(ops []op, bytes int, kept map[cuda.Ptr]bool) fusedLayout {
	f := &fuser{room: bytes / 4, signals: map[cuda.Ptr]cuda.Ptr{}}
	for i := range ops {
		f.operation(&ops[i], i, kept)
	}
	for i := range ops {
		if o := &ops[i]; o.Kind == opDense {
			f.matrix(&o.B, 1, int(o.Out), int(o.Out))
			f.matrix(&o.BS, 1, int(o.Out), int(o.Out))
		}
	}
	f.weights(ops, true)
	f.layout.Early = f.layout.Staying
	f.weights(ops, false)
	if f.next > f.room {
		panic("gpu: a small network does not fit into shared memory")
	}
	return f.layout
}

// operation places the signals of operation number i.
func (f *fuser) operation(o *op, i int, kept map[cuda.Ptr]bool) {
	in, out := int(o.In), int(o.Out)
	if out == 0 {
		out = in
	}
	if o.Kind == opInput { // it reads the table, and writes the targets too
		f.signal(&o.OM, in, i, kept)
		f.signal(&o.OV, in, i, kept)
		f.signal(&o.YO, int(o.Count), i, kept)
		return
	}
	f.signal(&o.M, in, -1, kept)
	f.signal(&o.V, in, -1, kept)
	f.signal(&o.G, out, -1, kept)
	f.signal(&o.H, out, -1, kept)
	f.signal(&o.Y, int(o.Count), -1, kept)
	f.signal(&o.OM, out, i, kept)
	f.signal(&o.OV, out, i, kept)
	f.signal(&o.DM, in, i, kept)
	f.signal(&o.DV, in, i, kept)
}

// weights copies the weights of thin layers, or of others, to shared memory. Those that do not
// fit are read where they are.
func (f *fuser) weights(ops []op, thin bool) {
	for i := range ops {
		o := &ops[i]
		in, out := int(o.In), int(o.Out)
		if o.Kind != opDense && o.Kind != opDenseBack || thin != (min(in, out) <= mostThin) {
			continue
		}
		pitch := fusedPitch(in, out)
		before := *o
		o.Room = int32(pitch)
		if !f.matrix(&o.W, in, out, pitch) || !f.matrix(&o.S, in, out, pitch) {
			*o = before
			o.Room = o.Out
		}
	}
}

// fuse lays out all launches of operations on rows.
func (b *launches) fuse(w *weights) {
	for i := range b.stages {
		s, ok := b.stages[i].(*rowsStage)
		if !ok {
			continue
		}
		kept := map[cuda.Ptr]bool{}
		for _, p := range b.kept {
			kept[p] = true
		}
		for j, other := range b.stages {
			if j != i {
				for _, p := range other.reads() {
					kept[p] = true
				}
			}
		}
		layout := fuse(s.ops(), w.device.Shared-fusedOverhead, kept)
		s.fused = &many[fusedArgs]{One: fusedArgs{Layout: place(w.memory, []fusedLayout{layout}, sizeLayout)}}
	}
}

// sideBySideTurns is how often a block takes rows where many networks run side by side, so
// that it copies the weights less often.
const sideBySideTurns = 8

// halves reports whether blocks take half as many rows, so that more of them are busy.
func (w *weights) halves(rows int) bool { return 2*tiles(rows, rowsPerBlock) <= w.device.Processors }

// share returns how many rows a block takes at a time, and how often.
func (w *weights) share(rows int) (per, turns int32) {
	switch n := w.device.Processors; {
	case w.sideBySide:
		return rowsPerBlock, sideBySideTurns
	case w.halves(rows):
		return rowsPerBlock / 2, 1
	default:
		return rowsPerBlock, int32(max(1, rows/(rowsPerBlock*2*n)))
	}
}

// runFused queues a launch of the first count operations.
func (s *rowsStage) runFused(w *weights, rows, count int) error {
	f := &s.fused.One
	f.Ops = s.first.Ops
	f.First = s.first.First
	f.Control = s.first.Control
	f.Results = s.first.Results
	f.Count = int32(count)
	f.Rows = int32(rows)
	f.Per, f.Turns = w.share(rows)
	kernel := pick(s.rare, w.kernels.fusedAny, w.kernels.fused)
	return launch(w, kernel, cuda.Grid{X: tiles(rows, int(f.Per*f.Turns))}, rowThreads, s.fused)
}
