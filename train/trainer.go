package train

import (
	"context"
	"iter"
	"math"
	"runtime"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

func gomaxprocs() int { return runtime.GOMAXPROCS(0) }

// A Step is what one step of training did. NLL and KL are of the parameters
// before the step.
type Step struct {
	Step, Epoch int     // counted from 1
	NLL         float64 // mean of the batch's rows, nats
	KL          float64 // of all weights, nats, unscaled
	Loss        float64 // NLL + Weight·KL/N
	Weight      float64 // of the KL
	GradNorm    float64
	Rate        float64
	Floored     int // variances raised to the likelihood's floor
}

// A Trainer trains one network. It is not safe for concurrent use.
type Trainer struct {
	config Config
	net    *model.Model
	unit   nn.Unit[float32]
	params *vi.Params[float32]
	pool   *compute.Pool

	step    int // finished
	moments [2]*vi.Params[float32]
	seed    rng.Key
	dataKey rng.Key

	block  int // rows
	lanes  []lane
	blocks []nn.Block[float32]
	nll    []float64
	floors []int
	ranges []paramRange
	adamw  compute.AdamW

	scoredBy string // the likelihood's name

	sampling *sampling // nil: moments are propagated

	runBlock, runGrad, runNorm, runCheck, runUpdate, runPrepare, runSize func(worker, task int)
}

// A lane is one worker's scratch.
type lane struct {
	runner        nn.Runner[float32]
	pass          nn.Pass[float32]
	in, out, dout gauss.Batch[float32]
	y             []float32
	row           []float64 // y, mean, variance, dmean, dvar of a row
	variances     []float32 // of a few weights
}

// New returns a trainer of m. If the checkpoint of the configuration exists, the
// trainer and the network continue from it.
func New(m *model.Model, c Config) (*Trainer, error) {
	if err := c.check(m); err != nil {
		return nil, err
	}
	unit, params, err := m.TrainUnit()
	if err != nil {
		return nil, err
	}
	t := &Trainer{config: c, net: m, unit: unit, params: params, pool: c.pool(), scoredBy: c.Likelihood.String()}
	t.seed = rng.New(c.Seed)
	t.dataKey = t.seed.Sub(0, 0)
	for i := range t.moments {
		t.moments[i] = params.Like()
	}
	if c.Draws > 0 {
		if err := t.sample(m); err != nil {
			return nil, err
		}
	}
	t.nll, t.floors = make([]float64, c.Batch), make([]int, c.Batch)
	t.allocate()
	t.ranges = paramRanges(params)
	t.runBlock, t.runGrad = t.doBlock, t.doGrad
	t.runNorm, t.runCheck, t.runUpdate = t.doNorm, t.doCheck, t.doUpdate
	t.runPrepare, t.runSize = t.doPrepare, t.doSize
	if err := t.resume(); err != nil {
		return nil, err
	}
	t.prepare()
	return t, nil
}

func (t *Trainer) allocate() {
	c := t.config
	t.block = model.BlockRows(c.Batch)
	width := t.unit.TapeWidth()
	for lo := 0; lo < c.Batch; lo += t.block {
		rows := min(t.block, c.Batch-lo)
		t.blocks = append(t.blocks, nn.Block[float32]{Rows: rows, Tape: make([]float32, rows*width), Det: !c.Data.Uncertain()})
	}
	t.lanes = make([]lane, t.pool.Workers())
	for i := range t.lanes {
		l := &t.lanes[i]
		l.runner = t.unit.NewRunner(t.block, true)
		l.in = gauss.New[float32](t.block, t.net.Inputs())
		if !c.Data.Uncertain() {
			l.in.Var = nil
		}
		l.out = gauss.New[float32](t.block, t.net.Outputs())
		l.dout = gauss.New[float32](t.block, t.net.Outputs())
		l.y = make([]float32, t.block*c.Data.Targets())
		l.row = make([]float64, c.Data.Targets()+4*t.net.Outputs())
		l.variances = make([]float32, priorChunk)
	}
}

// Step is the number of steps done.
func (t *Trainer) Step() int { return t.step }

// Steps trains, a step an iteration, until Config.Steps are done or ctx is
// cancelled. Breaking off the loop keeps the state: a later call continues.
// Cancellation, a number that is not finite, or a checkpoint that cannot be
// written end it with an error; the parameters are then those of the last good
// step, and the checkpoint that of the last good write.
func (t *Trainer) Steps(ctx context.Context) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for t.step < t.config.Steps {
			if err := ctx.Err(); err != nil {
				if cerr := t.Save(); cerr != nil {
					err = cerr
				}
				yield(Step{Step: t.step}, err)
				return
			}
			s, err := t.Advance()
			if err == nil && t.due() {
				err = t.Save()
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func (t *Trainer) due() bool {
	every := t.config.CheckpointEvery
	return t.step == t.config.Steps || every > 0 && t.step%every == 0
}

// Run trains to the end.
func (t *Trainer) Run(ctx context.Context) error {
	for _, err := range t.Steps(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close ends the trainer's workers; without it they end some time after the
// trainer is garbage.
func (t *Trainer) Close() { t.pool.Close() }

// Advance makes one step, without checkpoint.
func (t *Trainer) Advance() (Step, error) {
	c := t.config
	n := t.step + 1
	rowsPerEpoch := c.Data.Rows()
	s := Step{Step: n, Epoch: (n-1)*c.Batch/rowsPerEpoch + 1}
	s.Weight, s.Rate = c.KL(s.Epoch, n), c.Optimizer.Rate(n)
	if err := checkSchedules(s); err != nil {
		return s, err
	}
	c.Data.Begin(t.dataKey, uint64(n), c.Batch)
	if c.Prior != nil && c.Prior.Due(n) {
		t.updatePriors()
	}
	if !t.batch(&s) {
		return s, t.explain(s, "the negative log-likelihood")
	}
	t.setAdamW(s)
	if !t.update(&s) {
		return s, t.explain(s, "the gradient")
	}
	s.Loss = s.NLL + s.Weight*s.KL/float64(rowsPerEpoch)
	t.prepare()
	t.step = n
	t.record(s.NLL)
	t.net.Changed()
	return s, nil
}

// record tells the network how far its training is.
func (t *Trainer) record(nll float64) {
	f := &t.net.Facts
	f.Rows, f.Steps, f.Likelihood, f.NLL = t.config.Data.Rows(), t.step, t.scoredBy, nll
}

// update makes the AdamW step, unless the gradients are not finite. The norm must
// be known before the step only if it may be clipped.
func (t *Trainer) update(s *Step) bool {
	if clip := t.config.Optimizer.Clip; clip > 0 {
		t.pool.Run(len(t.ranges), t.runNorm)
		t.sumRanges(s)
		if !compute.Finite(s.GradNorm) || !compute.Finite(s.KL) {
			return false
		}
		t.adamw.Clip = min(1, clip/s.GradNorm)
		t.pool.Run(len(t.ranges), t.runUpdate)
		return true
	}
	t.pool.Run(len(t.ranges), t.runCheck)
	for _, r := range t.ranges {
		if !r.tame {
			return false
		}
	}
	t.pool.Run(len(t.ranges), t.runUpdate)
	t.sumRanges(s)
	return compute.Finite(s.GradNorm) && compute.Finite(s.KL)
}

func (t *Trainer) sumRanges(s *Step) {
	var norm2 float64
	for _, r := range t.ranges {
		s.KL += r.kl
		norm2 += r.norm2
	}
	s.GradNorm = math.Sqrt(norm2)
}

// batch leaves the gradients of the batch and its score; it reports whether the
// score is finite.
func (t *Trainer) batch(s *Step) bool {
	if t.sampling != nil {
		return t.drawBatch(s)
	}
	return t.scoreBatch(s)
}

// scoreBatch carries the batch through the unit as it is prepared.
func (t *Trainer) scoreBatch(s *Step) bool {
	t.pool.Run(len(t.blocks), t.runBlock)
	var nll float64
	for i := range t.nll {
		nll += t.nll[i]
		s.Floored += t.floors[i]
	}
	s.NLL += nll / float64(t.config.Batch)
	if !compute.Finite(s.NLL) {
		return false
	}
	t.pool.Run(t.unit.GradTiles(), t.runGrad)
	return true
}

// prepare readies the unit for the next step; drawn weights are readied as they
// are drawn.
func (t *Trainer) prepare() {
	if t.sampling == nil {
		t.pool.Run(t.unit.PrepareTiles(), t.runPrepare)
	}
}

func (t *Trainer) setAdamW(s Step) {
	o := t.config.Optimizer
	n := float64(s.Step)
	t.adamw = compute.AdamW{
		LR: s.Rate, Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Epsilon,
		C1: 1 - math.Pow(o.Beta1, n), C2: 1 - math.Pow(o.Beta2, n),
		Clip: 1, KL: s.Weight / float64(t.config.Data.Rows()),
	}
	if o.DecayOn != optim.DecayNone {
		t.adamw.DecayMean = o.Decay
	}
	if o.DecayOn == optim.DecayAll {
		t.adamw.DecayRho = o.Decay
	}
}
