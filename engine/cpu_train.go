package engine

import (
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// trainer trains on the CPU: it runs the phases of a step on a pool of workers.
//
//	blocks     forward → likelihood → backward     (tasks own rows)
//	gradients  sums over all blocks in row order   (tasks own weights)
//	update     KL gradient, AdamW, then σ² and packed panels (tasks own weights)
type trainer struct {
	Job
	net     Network[float32]
	form    nn.Form // of the inputs
	unit    nn.Unit[float32]
	params  *vi.Params[float32] // in the memory of the host
	moments [2]*vi.Params[float32]
	dataKey rng.Key
	step    int // the current step

	rows    int // of a block, at most
	scratch []workerScratch
	shares  *shares
	tape    []float32
	blocks  []nn.Block[float32] // of the current step
	nll     []float64
	floors  []int
	ranges  []paramRange
	tasks   []stepTask
	unowned []int // ranges that no task owns
	adamw   kernel.AdamW
	follow  float32 // how far running numbers go towards those of the batch
	draws   *draws  // nil: moments are propagated

	spread bool // weights have priors of their own

	runGrad, runSpread, runNorm, runCheck, runUnowned, runStep, runPrepare, runPrior func(worker, task int)
}

// A workerScratch is the memory of one worker.
type workerScratch struct {
	runner        nn.Runner[float32]
	pass          nn.Pass[float32]
	in, out, dout gauss.Batch[float32]
	y             []float32
	row           []float64 // y, mean, variance, dmean, dvar of a row
	variances     []float32 // of a few weights
	means         []float32 // of a range, from the centre of its prior
}

// Train accepts float32 networks only: the type in which networks are trained.
func (cpu[T]) Train(n Network[T], j Job) (Trainer, error) {
	net, ok := any(n).(Network[float32])
	if !ok {
		panic("engine: training needs a float32 network")
	}
	form := nn.Fixed
	if j.Data.Uncertain() {
		form = nn.Independent
	}
	b := &nn.Binder[float32]{Form: form, Train: true}
	unit, err := Bind(net, b)
	if err != nil {
		return nil, err
	}
	b.Params.AllocGrads()
	t := &trainer{Job: j, net: net, form: form, unit: unit, params: b.Params, dataKey: j.Seed.Sub(0, 0)}
	for i := range t.moments {
		t.moments[i] = t.params.Like()
	}
	if j.Draws > 0 {
		if err := t.draw(); err != nil {
			return nil, err
		}
	}
	t.nll, t.floors = make([]float64, j.Batch), make([]int, j.Batch)
	t.allocate()
	t.ranges = paramRanges(t.params)
	t.planStep()
	t.runGrad = t.doGrad
	t.spread = slices.ContainsFunc(t.params.Tensors, func(x *vi.Tensor[float32]) bool { return x.Spread != nil })
	t.runSpread = t.doSpread
	t.runNorm = t.doNorm
	t.runCheck = t.doCheck
	t.runUnowned = t.doUnowned
	t.runStep = t.doStep
	t.runPrepare, t.runPrior = t.doPrepare, t.sumPriorMoments
	t.prepare()
	return t, nil
}

func (t *trainer) allocate() {
	t.shares = newShares(t.Pool, far(t.params), t.doBlock)
	t.rows = t.shares.most(t.Batch)
	outputs := t.unit.Out().Size()
	t.tape = compute.Make[float32](t.Batch * t.unit.TapeWidth()) // in one array, gradients sum several blocks at once
	t.blocks = make([]nn.Block[float32], 0, t.Pool.Workers()+t.Batch/maxBlock)
	t.cut()
	batch := func(width int, form nn.Form) gauss.Batch[float32] {
		b := gauss.New[float32](t.rows, width)
		if form == nn.Fixed {
			b.Var = nil
		}
		return b
	}
	t.scratch = make([]workerScratch, t.Pool.Workers())
	for i := range t.scratch {
		l := &t.scratch[i]
		l.runner = t.unit.NewRunner(t.rows, true)
		l.in = batch(t.Data.Inputs(), t.form)
		l.out, l.dout = batch(outputs, t.unit.Form()), batch(outputs, t.unit.Form())
		l.y = make([]float32, t.rows*t.Data.Targets())
		l.row = make([]float64, t.Data.Targets()+4*outputs)
		l.variances = make([]float32, priorChunk)
		if slices.ContainsFunc(t.params.Tensors, func(x *vi.Tensor[float32]) bool { return x.Center != nil }) {
			l.means = make([]float32, rangeSize)
		}
	}
}

// cut cuts the batch of the current step.
func (t *trainer) cut() {
	t.shares.cut(t.Batch)
	t.blocks = t.blocks[:0]
	width := t.unit.TapeWidth()
	for rows := range t.shares.all {
		t.blocks = append(t.blocks, nn.Block[float32]{Rows: rows.to - rows.from, Tape: t.tape[rows.from*width : rows.to*width]})
	}
}

func (t *trainer) State() State { return State{t.params, t.moments[0], t.moments[1]} }

// Sync has nothing to do: the engine works in the memory of the host.
func (t *trainer) Sync() error { return nil }

func (t *trainer) Load() error {
	for i, x := range t.params.Tensors {
		t.net.Params.Tensors[i].Prior = x.Prior
	}
	t.prepare()
	return nil
}

func (t *trainer) Gradient(step int) Score {
	t.step = step
	t.Data.Begin(t.dataKey, uint64(step), t.Batch)
	t.cut()
	if step == 1 {
		t.settle()
	}
	return t.measure()
}

// measure runs the batch and stores its gradients.
func (t *trainer) measure() Score {
	if t.draws != nil {
		return t.drawBatch()
	}
	var s Score
	t.scoreBatch(&s)
	return s
}

// scoreBatch runs the batch through the prepared unit, adds its score to s and stores
// its gradients.
func (t *trainer) scoreBatch(s *Score) {
	t.shares.run()
	var nll float64
	for i := range t.nll {
		nll += t.nll[i]
		s.Floored += t.floors[i]
	}
	s.NLL += nll / float64(t.Batch)
	s.Finite = compute.Finite(s.NLL)
	if s.Finite {
		t.Pool.Run(t.unit.GradTiles(), t.runGrad)
	}
}

// prepare prepares the unit for the next step. Drawn weights are prepared as they are
// drawn.
func (t *trainer) prepare() {
	if t.draws == nil {
		t.Pool.Run(t.unit.PrepareTiles(), t.runPrepare)
	}
}
