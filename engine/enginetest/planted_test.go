package enginetest

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A mistake is what is wrong with a planted engine.
type mistake string

const (
	none           mistake = ""
	nameless       mistake = "has no name"
	meanOff        mistake = "predicts means that are off"
	varianceOff    mistake = "predicts variances that are off"
	lastRow        mistake = "forgets the last row of a batch"
	sharedScratch  mistake = "lets predictors depend on one another"
	deafToChanges  mistake = "keeps a copy of the parameters"
	predictAllocs  mistake = "allocates in a prediction"
	rateOff        mistake = "steps too far"
	noClip         mistake = "does not clip"
	noKL           mistake = "forgets the KL"
	noPriors       mistake = "does not fit priors"
	scoreOff       mistake = "scores wrongly"
	otherSeed      mistake = "takes another seed every time"
	forgetsMoments mistake = "loads parameters only"
	staleState     mistake = "does not synchronise its state"
	oneDraw        mistake = "draws one network for all"
	stepAllocs     mistake = "allocates in a step"
	alwaysFinite   mistake = "takes every score for finite"
	updatesAnyway  mistake = "updates by gradients that are not finite"
	explainsBadly  mistake = "does not say where"
	refusesBadly   mistake = "refuses layers without their names"
	refusesDense   mistake = "refuses dense layers"
	takesAll       mistake = "does not check layers"
	runsOn         mistake = "goes on after a step that is not finite"
	otherSteps     mistake = "makes other steps without waiting"
	swaps          mistake = "swaps the networks of an ensemble"
	anyProgram     mistake = "lets networks of other engines join"
	tooWide        mistake = "finds intervals that are too wide"
	neighbours     mistake = "lets trainings depend on one another"
)

// planted is the CPU with a mistake, and with all abilities.
type planted struct {
	engine.Engine[float32]
	mistake
	trainings atomic.Int64 // under way
	made      atomic.Int64
}

func newPlanted(m mistake) *planted { return &planted{Engine: engine.CPU[float32](), mistake: m} }

func (e *planted) Name() string {
	if e.mistake == nameless {
		return ""
	}
	return "planted"
}

func (e *planted) Abilities() engine.Abilities[float32] {
	return engine.Abilities[float32]{Card: "a card", Concurrent: 2, NewEnsemble: e.newEnsemble, NewIntervals: e.newIntervals}
}

// residual reports whether a network has the layer that a bad refusal is about.
func residual(layers nn.Layer) bool {
	c, ok := layers.(nn.Chain)
	return ok && slices.ContainsFunc(c, func(l nn.Layer) bool { return l.Kind() == "residual" })
}

// length is how many layers a chain has.
func length(layers nn.Layer) int {
	c, _ := layers.(nn.Chain)
	return len(c)
}

func (e *planted) Compile(n engine.Network[float32], form nn.Form) (engine.Program[float32], error) {
	switch {
	case e.mistake == refusesBadly && residual(n.Layers):
		return nil, errors.New("this network cannot be run")
	case e.mistake == refusesDense:
		return nil, errors.New("layer 0.dense: it cannot be run")
	case e.mistake == takesAll && length(n.Layers) == 2:
		n.Layers = nn.Chain{nn.Dense{Out: 4}}
		n.Params = &vi.Params[float32]{}
	case e.mistake == deafToChanges:
		n = copied(n)
	}
	p, err := e.Engine.Compile(n, form)
	if err != nil {
		return nil, err
	}
	return &plantedProgram{Program: p, mistake: e.mistake}, nil
}

// copied returns a network with parameters of its own.
func copied(n engine.Network[float32]) engine.Network[float32] {
	p := &vi.Params[float32]{}
	for _, x := range n.Params.Tensors {
		c := *x
		p.Tensors = append(p.Tensors, &c)
	}
	p.Alloc()
	copy(p.Theta, n.Params.Theta)
	n.Params = p
	return n
}

type plantedProgram struct {
	engine.Program[float32]
	mistake
	predictors atomic.Int64
}

func (p *plantedProgram) NewPredictor(pool *engine.Pool, most int) engine.Predictor[float32] {
	return &plantedPredictor{Predictor: p.Program.NewPredictor(pool, most), mistake: p.mistake, number: p.predictors.Add(1)}
}

func (e *planted) newEnsemble(programs []engine.Program[float32], pool *engine.Pool, most int) (engine.EnsemblePredictor[float32], bool) {
	all := plantedEnsemble{mistake: e.mistake}
	for _, p := range programs {
		if _, ok := p.(*plantedProgram); !ok && e.mistake != anyProgram {
			return nil, false
		}
		all.members = append(all.members, p.NewPredictor(pool, most))
	}
	return all, true
}

type plantedEnsemble struct {
	mistake
	members []engine.Predictor[float32]
}

func (t plantedEnsemble) PredictAll(x gauss.Batch[float32], outs []gauss.Batch[float32]) {
	for i, m := range t.members {
		if t.mistake == swaps {
			i = len(outs) - 1 - i
		}
		m.Predict(x, outs[i])
	}
}

type plantedPredictor struct {
	engine.Predictor[float32]
	mistake
	number int64
	sink   []float32
}

func (q *plantedPredictor) Predict(x, out gauss.Batch[float32]) {
	if q.mistake == lastRow && x.Rows > 0 {
		x = x.Slice(0, x.Rows-1)
		out = out.Slice(0, x.Rows)
	}
	q.Predictor.Predict(x, out)
	if x.Rows == 0 {
		return
	}
	switch q.mistake {
	case meanOff:
		out.Mean[0] += 0.001 * float32(math.Sqrt(float64(out.Var[0])))
	case varianceOff:
		out.Var[0] *= 1.01
	case sharedScratch:
		out.Mean[0] *= 1 + float32(q.number)*1e-6
	case predictAllocs:
		q.sink = make([]float32, 3)
	}
}

func (e *planted) newIntervals(members, most int, shapes []engine.Shape) (engine.Intervals, error) {
	return plantedIntervals{e.mistake, shapes}, nil
}

type plantedIntervals struct {
	mistake
	shapes []engine.Shape
}

func (f plantedIntervals) Find(level float64, n int, mean, variance [][]float32, lo, hi []float64) error {
	if f.mistake == tooWide {
		level += (1 - level) / 100
	}
	for i := range n {
		below := func(x float64) (p float64) {
			s := f.shapes[i%len(f.shapes)]
			for k := range mean {
				for j, w := range s.Weights {
					p += w / float64(len(mean)) * special.CDF((x-float64(mean[k][i]))/math.Sqrt(float64(variance[k][i])*s.Factors[j]))
				}
			}
			return p
		}
		lo[i] = quantile(below, (1-level)/2)
		hi[i] = quantile(below, (1+level)/2)
	}
	return nil
}

func quantile(below func(x float64) float64, p float64) float64 {
	lo, hi := -1e3, 1e3
	for range 80 {
		mid := (lo + hi) / 2
		if below(mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (e *planted) Train(n engine.Network[float32], j engine.Job) (engine.Trainer, error) {
	switch {
	case e.mistake == refusesBadly && residual(n.Layers):
		return nil, errors.New("this network cannot be trained")
	case e.mistake == refusesDense:
		return nil, errors.New("layer 0.dense: it cannot be trained")
	case e.mistake == noClip:
		j.Optimizer.Clip = 0
	case e.mistake == otherSeed:
		j.Seed = rng.New(uint64(e.made.Add(1)))
	case e.mistake == oneDraw && j.Draws > 0:
		j.Draws = 1
	}
	tr, err := e.Engine.Train(n, j)
	if err != nil {
		return nil, err
	}
	e.trainings.Add(1)
	t := &plantedTrainer{Trainer: tr, engine: e, mistake: e.mistake}
	if e.mistake == staleState {
		s := tr.State()
		t.stale = &engine.State{Params: copied(engine.Network[float32]{Params: s.Params}).Params, First: s.First, Second: s.Second}
	}
	return t, nil
}

type plantedTrainer struct {
	engine.Trainer
	mistake
	engine *planted
	stale  *engine.State
	finite bool
	sink   []float32
}

// Close ends the training.
func (t *plantedTrainer) Close() error {
	t.engine.trainings.Add(-1)
	return nil
}

func (t *plantedTrainer) State() engine.State {
	if t.stale != nil {
		return *t.stale
	}
	return t.Trainer.State()
}

func (t *plantedTrainer) Load() error {
	if t.mistake == forgetsMoments {
		clear(t.State().First.Theta)
		clear(t.State().Second.Theta)
	}
	return t.Trainer.Load()
}

func (t *plantedTrainer) FitPriors(e vi.EmpiricalBayes) {
	if t.mistake != noPriors {
		t.Trainer.FitPriors(e)
	}
}

func (t *plantedTrainer) Gradient(step int) engine.Score {
	s := t.Trainer.Gradient(step)
	switch t.mistake {
	case scoreOff:
		s.NLL *= 1.001
	case alwaysFinite:
		s.Finite = true
	case stepAllocs:
		t.sink = make([]float32, 3)
	}
	t.finite = s.Finite
	return s
}

func (t *plantedTrainer) Update(u engine.Update) engine.Change {
	switch {
	case t.mistake == rateOff:
		u.Rate *= 1.1
	case t.mistake == noKL:
		u.KL = 0
	case t.mistake == neighbours && t.engine.trainings.Load() > 1:
		u.Rate *= 1.1
	}
	c := t.Trainer.Update(u)
	if t.mistake == updatesAnyway && !c.Finite {
		t.Trainer.State().Params.Theta[0] += float32(u.Rate)
	}
	return c
}

func (t *plantedTrainer) Explain(what string) error {
	if t.mistake == explainsBadly {
		return errors.New("something is not finite")
	}
	return t.Trainer.Explain(what)
}

// Run implements engine.Pipeline.
func (t *plantedTrainer) Run(updates []engine.Update, out []engine.Outcome) (done int) {
	for i, u := range updates {
		if t.mistake == otherSteps {
			u.Rate *= 1.1
		}
		out[i] = engine.Outcome{Score: t.Gradient(u.Step)}
		if t.finite {
			out[i].Change = t.Update(u)
		}
		if !out[i].Change.Finite && t.mistake != runsOn {
			return i + 1
		}
	}
	return len(updates)
}
