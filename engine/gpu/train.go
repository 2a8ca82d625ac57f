package gpu

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/internal/cuda"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

// trainer trains on a card. The parameters of the host are current after Sync.
type trainer struct {
	*weights          // of the layers
	learned  *weights // the same, but for drawn networks
	engine.Job
	net     engine.Network[float32]
	dataKey rng.Key
	params  *vi.Params[float32]
	moments [2]*vi.Params[float32]

	batch         batch
	queue         step
	optimizer     optimizer
	priors        many[priorArgs]
	first, second cuda.Ptr // AdamW's moments
	nll, floored  cuda.Ptr // of each row

	gradient, update *cuda.Graph
	whole            *cuda.Graph // both
	several          *cuda.Graph // queue.together() steps; nil: that is one
	control          []control   // pinned, one for each slot
	result           []result    // pinned, likewise
	start            []result    // pinned, one
	rowNLL           []float64   // pinned
	rowFloored       []int32     // pinned
	priorSums        []float64
	step             int

	// Beside others.
	number  int
	group   *trainGroup
	leave   func()
	request *request
	calls   []launched
}

// Train implements engine.Engine.
func (e *Engine) Train(n engine.Network[float32], j engine.Job) (engine.Trainer, error) {
	for _, x := range n.Params.Tensors {
		if x.Spread != nil {
			return nil, &Unsupported{What: "its weights have priors with a standard deviation each, which only the CPU knows"}
		}
	}
	form := nn.Fixed
	if j.Data.Uncertain() {
		form = nn.Independent
	}
	score, err := scoring(j.Likelihood)
	if err != nil {
		return nil, err
	}
	u := use{train: true, slots: slots, targets: j.Data.Targets(), beside: j.Beside, normal: score.Choice == likeNormal && score.Flag == 0 && j.Draws == 0}
	learned, w, err := trainedWeights(e, n, form, j, u)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	t := &trainer{weights: w, learned: learned, Job: j, net: n, dataKey: j.Seed.Sub(0, 0), params: learned.plan.params, number: e.next()}
	runtime.AddCleanup(t, (*memory).release, w.memory)
	err = t.build(score)
	if err == nil {
		err = e.join(t)
	}
	if err != nil {
		w.release()
		return nil, fmt.Errorf("network: %w", err)
	}
	return t, nil
}

// trainedWeights returns the parameters that are learned, and those that the layers read;
// only drawn networks have others.
func trainedWeights(e *Engine, n engine.Network[float32], form nn.Form, j engine.Job, u use) (learned, read *weights, err error) {
	if j.Draws > 0 {
		return drawnWeights(e, n, form, j, u)
	}
	p, err := makePlan(n, form)
	if err != nil {
		return nil, nil, err
	}
	m, err := newMemory(e.device)
	if err != nil {
		return nil, nil, err
	}
	w, err := newWeights(e, m, p, u)
	return w, w, err
}

// slots is how many steps are queued at a time.
const slots = 32

// Gradient implements engine.Trainer.
func (t *trainer) Gradient(step int) (s engine.Score) {
	t.step = step
	s.Err = t.runGradient(step)
	if s.Err != nil {
		return s
	}
	var nll float64
	for i, x := range t.rowNLL {
		nll += x
		s.Floored += int(t.rowFloored[i])
	}
	s.NLL = nll / float64(t.Batch)
	s.Finite = compute.Finite(s.NLL)
	return s
}

func (t *trainer) runGradient(step int) error {
	s := t.stream
	t.control[0].Step = uint64(step)
	t.batch.fill(t, step, 0)
	if err := t.send(s, 1); err != nil {
		return err
	}
	if err := t.gradient.Launch(s); err != nil {
		return err
	}
	if err := cuda.Download(s, t.rowNLL, t.nll); err != nil {
		return err
	}
	if err := cuda.Download(s, t.rowFloored, t.floored); err != nil {
		return err
	}
	return s.Sync()
}

// Update implements engine.Trainer.
func (t *trainer) Update(u engine.Update) (c engine.Change) {
	c.Err = t.runUpdate(u)
	if c.Err != nil {
		return c
	}
	r := t.result[0]
	c = engine.Change{KL: r.KL, GradNorm: math.Sqrt(r.Norm2), Finite: r.Finite == allFinite}
	return c
}

func (t *trainer) runUpdate(u engine.Update) error {
	s := t.stream
	t.set(&t.control[0], u)
	if err := cuda.Upload(s, t.weights.control, t.control[:1]); err != nil {
		return err
	}
	if err := t.update.Launch(s); err != nil {
		return err
	}
	if err := t.receive(s, 1); err != nil {
		return err
	}
	return s.Sync()
}

// Run implements engine.Pipeline. Steps behind one that is not finite do nothing.
func (t *trainer) Run(updates []engine.Update, out []engine.Outcome) (done int) {
	for done < len(updates) {
		n := min(t.batch.slots, len(updates)-done)
		for i, u := range updates[done : done+n] {
			t.set(&t.control[i], u)
			t.control[i].Step = uint64(u.Step)
			t.batch.fill(t, u.Step, i)
		}
		t.request.steps = n
		n, err := t.group.run(t.request)
		t.batch.made(n)
		if err != nil {
			out[done] = engine.Outcome{Score: engine.Score{Err: err}}
			return done + 1
		}
		for _, r := range t.result[:n] {
			t.step = updates[done].Step
			o := &out[done]
			*o = engine.Outcome{Score: engine.Score{NLL: r.NLL, Floored: int(r.Floored), Finite: r.Finite != nllNotFinite}}
			o.Change = engine.Change{KL: r.KL, GradNorm: math.Sqrt(r.Norm2), Finite: r.Finite == allFinite}
			if done++; !o.Change.Finite {
				return done
			}
		}
	}
	return done
}

// send brings the rows and numbers of steps to the card, and starts with the first one.
func (t *trainer) send(s *cuda.Stream, steps int) error {
	t.start[0] = result{Finite: allFinite, Clip: 1}
	if err := cuda.Upload(s, t.results, t.start); err != nil {
		return err
	}
	if err := cuda.Upload(s, t.weights.control, t.control[:steps]); err != nil {
		return err
	}
	return t.batch.send(t.kernels, s, steps)
}

// receive brings the results of steps to the host.
func (t *trainer) receive(s *cuda.Stream, steps int) error {
	return cuda.Download(s, t.result[:steps], t.results.Add(sizeResult))
}

// executeAlone makes steps that are ready, beside no others; meanwhile it may prepare those
// that follow.
func (t *trainer) executeAlone(steps int, prepare bool) error {
	s := t.stream
	if err := t.send(s, steps); err != nil {
		return err
	}
	for left := steps; left > 0; {
		g, n := t.whole, 1
		if t.several != nil && left >= t.queue.together() {
			g, n = t.several, t.queue.together()
		}
		if err := g.Launch(s); err != nil {
			return err
		}
		left -= n
	}
	if err := t.receive(s, steps); err != nil {
		return err
	}
	if prepare {
		t.batch.prepare(t)
	}
	return s.Sync()
}

// set writes the numbers of a step of AdamW.
func (t *trainer) set(k *control, u engine.Update) {
	o, n := t.Optimizer, float64(u.Step)
	k.Rate = float32(u.Rate / (1 - math.Pow(o.Beta1, n)))
	k.Root2 = float32(1 / math.Sqrt(1-math.Pow(o.Beta2, n)))
	k.Eps = float32(o.Epsilon)
	k.Beta1 = float32(o.Beta1)
	k.Beta2 = float32(o.Beta2)
	k.KLScale, k.Clip = float32(u.KL), o.Clip
	k.KeepMean, k.KeepRho = 1, 1
	if o.DecayOn != optim.DecayNone {
		k.KeepMean = float32(1 - u.Rate*o.Decay)
	}
	if o.DecayOn == optim.DecayAll {
		k.KeepRho = float32(1 - u.Rate*o.Decay)
	}
}

// The sizes of the structures are those of the kernels.
var _ = [1]struct{}{}[unsafe.Sizeof(op{})-sizeOp]
var _ = [1]struct{}{}[unsafe.Sizeof(chunk{})-sizeChunk]
var _ = [1]struct{}{}[unsafe.Sizeof(control{})-sizeControl]
var _ = [1]struct{}{}[unsafe.Sizeof(result{})-sizeResult]
var _ = [1]struct{}{}[unsafe.Sizeof(product{})-sizeProduct]
var _ = [1]struct{}{}[unsafe.Sizeof(gradJob{})-sizeJob]
var _ = [1]struct{}{}[unsafe.Sizeof(conv{})-sizeConv]
var _ = [1]struct{}{}[unsafe.Sizeof(levels{})-sizeLevels]
var _ = [1]struct{}{}[unsafe.Sizeof(fusedLayout{})-sizeLayout]
var _ = [1]struct{}{}[unsafe.Sizeof(drawPiece{})-sizeDrawPiece]
