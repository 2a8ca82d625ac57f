package gpu

import (
	"errors"

	"utvi/data"
	"utvi/engine"
	"utvi/internal/cuda"
	"utvi/internal/expr"
	"utvi/rng"
)

// MeasureLittle makes Time launch everything a few times only.
func MeasureLittle() {
	windows = 1
	launchesEach = 2
	repeats = 2
}

// SideBySide returns for how many trainings side by side there was room.
func (e *Engine) SideBySide() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, g := range e.groups {
		for _, p := range g.runs {
			n = max(n, p.room)
		}
	}
	return n
}

// FirstBeside is the name of the first kernel of a step of the trainings that ran side by side most
// recently, and HasManyDense reports whether the card has the kernels of dense nets beside many others.
func (e *Engine) FirstBeside() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.groups {
		for _, p := range g.runs {
			if p.room > 1 {
				return g.calls[0].kernel.Name
			}
		}
	}
	return ""
}

// SetGroupRuns sets how many runs of a group are under way at a time and how many members each has at most, and
// returns what undoes it.
func SetGroupRuns(atOnce, most int) func() {
	a, b := groupRuns, mostOfRun
	groupRuns, mostOfRun = atOnce, most
	return func() { groupRuns, mostOfRun = a, b }
}

// ManyFrom is manyFrom.
const ManyFrom = manyFrom

func (e *Engine) HasManyDense() bool { return e.load().manyDense != nil }

// SetStreamRows sets how many rows a stream takes at a time, and returns what undoes it.
func SetStreamRows(n int) func() {
	before := streamRows
	streamRows = n
	return func() { streamRows = before }
}

// DrawEmitters draws the rows of steps as a trainer does.
func DrawEmitters(e *Engine, s data.Source, key rng.Key, step, rows int, x, y []float32) error {
	k := e.load()
	m, err := newMemory(e.device)
	if err != nil {
		return err
	}
	defer m.release()
	a := drawn(s)
	a.X = m.floats(len(x))
	a.Y = m.floats(len(y))
	a.Key = key
	b := &batch{draws: a, gather: op{Room: int32(rows)}}
	b.fill(&trainer{Job: engine.Job{Batch: rows}}, step, 0)
	return errors.Join(m.err, b.send(k, m.stream, len(y)/3/rows), cuda.Download(m.stream, x, a.X), cuda.Download(m.stream, y, a.Y), m.stream.Sync())
}

// FormulaBase and FormulaPTX are the two parts of the text that is compiled for a formula.
var FormulaBase, FormulaPTX = formulaBase, formulaPTX

// Compiles reports whether a formula has a kernel of its own on the card.
func (e *Engine) Compiles(f *expr.Formula) bool {
	k := e.load()
	return k.formula(e.device, f) != k.formulas
}

// SetInterpret makes formulas run interpreted, or compiled where the driver compiles them,
// and returns what undoes it.
func SetInterpret(on bool) func() {
	before := interpret
	interpret = on
	return func() { interpret = before }
}

// Slow is what happens if the driver takes long to compile the kernels.
func (e *Engine) Slow() { e.slow() }

// SetDenseNets makes dense nets run in kernels of their own or not, and returns what undoes it.
func SetDenseNets(on bool) func() {
	before := withDenseNets
	withDenseNets = on
	return func() { withDenseNets = before }
}

// HasDenseNets reports whether the card has the kernels of dense nets.
func (e *Engine) HasDenseNets() bool { return e.load().denseNets != nil }

// SetConvNets makes conv nets run in kernels of their own or not, and returns what undoes it.
func SetConvNets(on bool) func() {
	before := withConvNets
	withConvNets = on
	return func() { withConvNets = before }
}

// SetPairs makes clusters of two blocks run or not, and returns what undoes it.
func SetPairs(on bool) func() {
	before := withPairs
	withPairs = on
	return func() { withPairs = before }
}

// HasConvNets reports whether the card has the kernels of conv nets.
func (e *Engine) HasConvNets() bool { return e.load().convNets != nil }

// FirstAlone is the name of the first kernel of a step of a training that runs alone.
func FirstAlone(t engine.Trainer) (string, error) {
	calls, err := t.(*trainer).recorded(false)
	if err != nil {
		return "", err
	}
	return calls[0].kernel.Name, nil
}

// FirstKernel is the name of the first kernel of a training's step.
func FirstKernel(t engine.Trainer) string { return t.(*trainer).calls[0].kernel.Name }

// Sensed reports whether a predictor's networks run in the kernel sensed.
func Sensed(p engine.Predictor[float32]) bool { return p.(*predictor).streams[0].networks[0].sensed }

// SetWorkers sets among how many workers the gradients of wide layers are shared, and returns
// what undoes it.
func SetWorkers(n int) func() {
	before := workersOf
	workersOf = func(*cuda.Device) int { return n }
	return func() { workersOf = before }
}

// ManyDenseGradients sums up the gradients of a broad layer with the kernel of many dense nets, given its signals as the pass leaves
// them: by the means and the variances of the weights w, then by those of the bias. They are what a step of AdamW that
// forgets at once leaves as first moments. With ρ = 16, σ is 16 and grows as ρ does.
func ManyDenseGradients(e *Engine, in, out, rows int, cells []byte, scales, w []float32) ([]float32, error) {
	const spread = 16
	m, err := newMemory(e.device)
	if err != nil {
		return nil, err
	}
	defer m.release()
	theta, grad := make([]float32, 2*(in+1)*out), make([]float32, 2*(in+1)*out)
	for i := range theta {
		theta[i] = spread
	}
	copy(theta, w)
	var chunks []chunk
	derived := m.floats(len(theta))
	add := func(lo, hi, at, n int) {
		chunks = append(chunks, chunk{Lo: int32(lo), Hi: int32(hi), Random: 1, Parts: 1, Mean: int64(at), Rho: int64(at + n), PriorVar: 1, S: derived.Add(4 * at)})
	}
	for lo := 0; lo < in*out; lo += 256 {
		add(lo, lo+256, 0, in*out)
	}
	add(0, out, 2*in*out, out)
	first, second := m.zeros(len(theta)), m.zeros(len(theta))
	u := denseNetUpdate{Norm: normArgs{Theta: m.floats(len(theta)), Chunks: m.alloc(len(chunks), sizeChunk), Count: int32(len(chunks)), Control: m.alloc(1, sizeControl), Results: m.alloc(2, sizeResult),
		NLL: m.alloc(rows, 8), Floored: m.alloc(rows, 4), Rows: int32(rows), Slots: 1}, Turn: m.alloc(1, sizeTurn)}
	u.Adam = adamArgs{Theta: u.Norm.Theta, First: first, Second: second}
	a := manyDenseLearn{Update: u, Planes: m.alloc(len(cells), 1), Scales: m.floats(len(scales)), Pieces: place(m, dealSmall(chunks, 0, len(chunks)-1), 4), In: int32(in), Out: int32(out), Noise: -1}
	err = errors.Join(m.err, cuda.Upload(m.stream, a.Planes, cells), cuda.Upload(m.stream, a.Scales, scales), cuda.Upload(m.stream, u.Norm.Theta, theta), cuda.Upload(m.stream, u.Norm.Chunks, chunks),
		cuda.Upload(m.stream, u.Norm.Control, []control{{Batch: int32(rows), KeepMean: 1, KeepRho: 1, Eps: 1}}), cuda.Upload(m.stream, u.Turn, []int32{0, 1}), m.stream.Zero(u.Norm.NLL, 8*rows), m.stream.Zero(u.Norm.Floored, 4*rows),
		cuda.Launch(m.stream, e.load().manyDense.learn.Together(learnBlocks), cuda.Grid{X: learnBlocks}, learnThreads, &many[manyDenseLearn]{One: a}), cuda.Download(m.stream, grad, first), m.stream.Sync())
	for _, by := range [][]float32{grad[in*out : 2*in*out], grad[(2*in+1)*out:]} {
		for i := range by {
			by[i] /= 2 * spread
		}
	}
	return grad, err
}
