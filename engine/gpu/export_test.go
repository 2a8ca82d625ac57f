package gpu

import (
	"errors"

	"utvi/data"
	"utvi/engine"
	"utvi/expr"
	"utvi/internal/cuda"
	"utvi/rng"
)

// MeasureLittle makes Time launch everything a few times only.
func MeasureLittle() { windows, launchesEach, repeats = 1, 2, 2 }

// SideBySide returns for how many trainings side by side there was room.
func (e *Engine) SideBySide() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, g := range e.gangs {
		for _, p := range g.parties {
			n = max(n, p.room)
		}
	}
	return n
}

// FirstBeside is the name of the first kernel of a step of the trainings that ran side by side most
// recently, and HasCrowds reports whether the card has the kernels of chains beside others.
func (e *Engine) FirstBeside() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.gangs {
		for _, p := range g.parties {
			if p.room > 1 {
				return g.calls[0].kernel.Name
			}
		}
	}
	return ""
}

// SetParties sets how many parties of a crowd run at a time and how many members each has at most, and
// returns what undoes it.
func SetParties(lanes, most int) func() {
	a, b := crowdLanes, crowdParty
	crowdLanes, crowdParty = lanes, most
	return func() { crowdLanes, crowdParty = a, b }
}

// CrowdFrom is crowdFrom.
const CrowdFrom = crowdFrom

func (e *Engine) HasCrowds() bool { return e.load().crowds != nil }

// SetLaneRows sets how many rows a lane takes at a time, and returns what undoes it.
func SetLaneRows(n int) func() {
	before := laneRows
	laneRows = n
	return func() { laneRows = before }
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
	a.X, a.Y, a.Key = m.floats(len(x)), m.floats(len(y)), key
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

// SetChains makes chains run in kernels of their own or not, and returns what undoes it.
func SetChains(on bool) func() {
	before := withChains
	withChains = on
	return func() { withChains = before }
}

// HasChains reports whether the card has the kernels of chains.
func (e *Engine) HasChains() bool { return e.load().chains != nil }

// SetQuartets makes quartets run in kernels of their own or not, and returns what undoes it.
func SetQuartets(on bool) func() {
	before := withQuartets
	withQuartets = on
	return func() { withQuartets = before }
}

// SetPairs makes clusters of two blocks run or not, and returns what undoes it.
func SetPairs(on bool) func() {
	before := withPairs
	withPairs = on
	return func() { withPairs = before }
}

// HasQuartets reports whether the card has the kernels of quartets.
func (e *Engine) HasQuartets() bool { return e.load().quartets != nil }

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
func Sensed(p engine.Predictor[float32]) bool { return p.(*predictor).lanes[0].networks[0].sensed }

// SetLanes sets among how many lanes the gradients of wide layers are shared, and returns
// what undoes it.
func SetLanes(n int) func() {
	before := lanesOf
	lanesOf = func(*cuda.Device) int { return n }
	return func() { lanesOf = before }
}

// CrowdGradients sums up the gradients of a broad layer with the kernel of crowds, given its signals as the pass leaves
// them: by the means and the ρ of the weights w, then by those of the bias.
func CrowdGradients(e *Engine, in, out, rows int, cells []byte, scales, w []float32) ([]float32, error) {
	k := e.load().crowds.gradients.Together(crowdBlocks)
	m, err := newMemory(e.device)
	if err != nil {
		return nil, err
	}
	defer m.release()
	grad := make([]float32, 2*(in+1)*out)
	a := crowdSlope{Planes: m.alloc(len(cells), 1), Scales: m.floats(len(scales)), W: m.floats(len(w)), Turn: m.alloc(1, sizeTurn), Grad: m.floats(len(grad)),
		NLL: m.alloc(rows, 8), Floored: m.alloc(rows, 4), Scores: m.alloc(2, 8), Rows: int32(rows), In: int32(in), Out: int32(out), places: places{0, int32(in * out), int32(2 * in * out), int32((2*in + 1) * out)}}
	return grad, errors.Join(m.err, cuda.Upload(m.stream, a.Planes, cells), cuda.Upload(m.stream, a.Scales, scales), cuda.Upload(m.stream, a.W, w), cuda.Upload(m.stream, a.Turn, []int32{0, 1}),
		cuda.Launch(m.stream, k, cuda.Grid{X: crowdBlocks}, crowdThreads, &many[crowdSlope]{One: a}), cuda.Download(m.stream, grad, a.Grad), m.stream.Sync())
}
