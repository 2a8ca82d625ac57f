package gpu

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/internal/cuda"
	"utvi/likelihood"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

// trainer trains on a card. The parameters of the host are current after Sync.
type trainer struct {
	*weights
	engine.Job
	net     engine.Network[float32]
	dataKey rng.Key
	params  *vi.Params[float32]
	moments [2]*vi.Params[float32]

	batch         batch
	pass          launches // forward, score, backward
	forwardOps    int      // operations before the score
	grads         gradients
	norm          normArgs
	columns       []columnsArgs
	priors        priorArgs
	first, second cuda.Ptr // AdamW's moments
	grad          cuda.Ptr
	nll, floored  cuda.Ptr

	gradient, update *cuda.Graph
	whole            *cuda.Graph // both
	control          []control   // pinned, one for each slot
	result           []result    // pinned, likewise
	rowNLL           []float64   // pinned
	rowFloored       []int32     // pinned
	priorSums        []float64
	step             int
}

// Train implements engine.Engine.
func (e *Engine) Train(n engine.Network[float32], j engine.Job) (engine.Trainer, error) {
	if j.Draws > 0 {
		return nil, &Unsupported{What: "it is trained by drawn networks; moment propagation, without draws, would run"}
	}
	form := nn.Fixed
	if j.Data.Uncertain() {
		form = nn.Independent
	}
	p, err := makePlan(n, form, true)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	score, err := scoring(j.Likelihood)
	if err != nil {
		return nil, err
	}
	w, err := newWeights(e, p, true, slots)
	if err != nil {
		return nil, err
	}
	t := &trainer{weights: w, Job: j, net: n, dataKey: j.Seed.Sub(0, 0), params: p.params}
	runtime.AddCleanup(t, (*memory).release, w.memory)
	if err := t.build(score); err != nil {
		w.release()
		return nil, fmt.Errorf("network: %w", err)
	}
	return t, nil
}

// slots is how many steps are queued at a time.
const slots = 32

// scoring translates a likelihood into an operation.
func scoring(l likelihood.Likelihood) (o op, err error) {
	o.Kind = opScore
	if w, ok := l.(likelihood.Weighted); ok {
		l, o.Weighted_ = w.Of, 1
	}
	switch l := l.(type) {
	case likelihood.Normal:
		o.Likelihood, o.P = likeNormal, likelihood.Describe(l).Floor
	case likelihood.ExpectedNormal:
		o.Likelihood, o.P = likeExpected, l.Std
	case likelihood.Heteroscedastic:
		o.Likelihood, o.P = likeHeteroscedastic, likelihood.Describe(l).Floor
	case likelihood.Categorical:
		o.Likelihood, o.P = likeCategorical, orElse(l.Floor, 1e-30)
	case likelihood.Bernoulli:
		o.Likelihood, o.P = likeBernoulli, orElse(l.Floor, 0x1p-24)
	case likelihood.Poisson:
		o.Likelihood = likePoisson
	default:
		return o, &Unsupported{What: fmt.Sprintf("it has no kernel for the likelihood %v; normal, expected normal, heteroscedastic, categorical, bernoulli and poisson run", l)}
	}
	return o, nil
}

func orElse(x, standard float64) float64 {
	if x == 0 {
		return standard
	}
	return x
}

// build lays out the memory and records the graphs.
func (t *trainer) build(score op) error {
	w, layers := t.weights, t.plan.layers
	rows := t.Batch
	t.batch.place(t)
	if t.batch.table != nil {
		t.pass.add(t.batch.gather)
	}
	acts := []signal{t.batch.in}
	var ops []op
	for i := range layers {
		l := &layers[i]
		out := w.signal(rows, l.out, l.to != nn.Fixed)
		o := w.operation(l, acts[i], out)
		t.pass.forward(l, o)
		acts, ops = append(acts, out), append(ops, o)
	}
	last := len(layers) - 1
	out := acts[last+1]
	d := w.signal(rows, layers[last].out, out.v != 0)
	t.nll, t.floored = w.alloc(rows, 8), w.alloc(rows, 4)
	score.In, score.Targets = int32(layers[last].out), int32(t.Data.Targets())
	score.M, score.V, score.DM, score.DV, score.Y = out.m, out.v, d.m, d.v, t.batch.y
	score.NLL, score.Floored = t.nll, t.floored
	t.forwardOps = len(t.pass.ops)
	t.pass.add(score)
	t.grad = 0
	var tapes []tape
	for i := last; i >= 0; i-- {
		l, o := &layers[i], ops[i]
		o.G, o.H = d.m, d.v
		if l.kind == opDense {
			t.grads.add(l, o)
		}
		tp, has := t.tape(l, &o)
		if has {
			tapes = append(tapes, tp)
		}
		if i == 0 && !has {
			break
		}
		if i > 0 {
			d = w.signal(rows, l.in, acts[i].v != 0)
			o.DM, o.DV = d.m, d.v
		}
		if l.kind != opDense || i > 0 {
			o.OM, o.OV = 0, 0
			t.pass.backward(l, o)
		}
	}
	t.grads.plan(w, rows)
	t.grad = w.floats(t.grads.parts * w.size)
	if w.err == nil {
		w.err = w.stream.Zero(t.grad, 4*t.grads.parts*w.size)
	}
	t.grads.place(w, t.grad, rows)
	for _, x := range tapes {
		t.columns = append(t.columns, columnsArgs{Tape: x.at, Rows: int32(rows), Width: int32(x.width), Mode: x.mode,
			Raw: w.at(x.tensor), Grad: t.grad.Add(4 * w.mean[x.tensor]), Results: w.results})
	}
	t.pass.place(w, w.results)
	return t.buildUpdate()
}

// A tape holds the gradients of learned numbers, a row each.
type tape struct {
	at            cuda.Ptr
	width, tensor int
	mode          int32
}

func (t *trainer) tape(l *layer, o *op) (tape, bool) {
	x := tape{width: l.in, mode: bySoftplus}
	switch {
	case l.kind == opNoise && !l.off:
		x.mode = byVariance
	case l.kind == opScale:
	case l.kind == opApply && l.f.Rule == learned:
		x.width = 1
	default:
		return x, false
	}
	x.tensor = l.tensors[0]
	x.at = t.floats(t.Batch * x.width)
	o.Tape = x.at
	return x, true
}

func (t *trainer) buildUpdate() error {
	w := t.weights
	t.first, t.second = w.floats(w.size), w.floats(w.size)
	done := w.alloc(1, 4)
	parts := w.alloc(2*len(w.chunks), 8)
	t.norm = normArgs{Theta: w.theta, Grad: t.grad, Size: int64(w.size), Chunks: w.table,
		Count: int32(len(w.chunks)), Parts: parts, Control: w.control, Results: w.results,
		NLL: t.nll, Floored: t.floored, Done: done, Rows: int32(t.Batch)}
	w.adam.First, w.adam.Second, w.adam.Grad, w.adam.Prepare = t.first, t.second, t.grad, 0
	t.priors = priorArgs{Theta: w.theta, Chunks: w.table, Parts: parts}
	t.priorSums = make([]float64, len(w.chunks))
	for i := range t.moments {
		t.moments[i] = t.params.Like()
	}
	t.control, t.result = pinned[control](w.memory, slots), pinned[result](w.memory, slots)
	t.rowNLL, t.rowFloored = pinned[float64](w.memory, t.Batch), pinned[int32](w.memory, t.Batch)
	if w.err != nil {
		return w.err
	}
	for _, p := range []struct {
		at    cuda.Ptr
		bytes int
	}{{t.first, 4 * w.size}, {t.second, 4 * w.size}, {done, 4}} {
		if err := w.stream.Zero(p.at, p.bytes); err != nil {
			return err
		}
	}
	for i := range t.control {
		t.control[i].Seed, t.control[i].Batch, t.control[i].Slot = t.Seed, int32(t.Batch), int32(i)
	}
	if err := w.upload(t.params); err != nil {
		return err
	}
	var err error
	if t.gradient, err = w.stream.Record(t.queueGradient); err != nil {
		return err
	}
	if t.update, err = w.stream.Record(t.queueUpdate); err != nil {
		return err
	}
	t.whole, err = w.stream.Record(func() error {
		if err := t.queueGradient(); err != nil {
			return err
		}
		return t.queueUpdate()
	})
	return err
}

// queueGradient queues the pass and the gradients of the weights.
func (t *trainer) queueGradient() error {
	if err := t.pass.run(t.weights, t.Batch); err != nil {
		return err
	}
	return t.grads.run(t.weights)
}

func (t *trainer) queueUpdate() error {
	w := t.weights
	for i := range t.columns {
		c := &t.columns[i]
		if err := cuda.Launch(w.stream, w.kernels.columns, cuda.Grid{X: int(c.Width)}, 256, c); err != nil {
			return err
		}
	}
	grid := cuda.Grid{X: len(w.chunks)}
	if err := cuda.Launch(w.stream, w.kernels.norm, grid, 256, &t.norm); err != nil {
		return err
	}
	return cuda.Launch(w.stream, w.kernels.adamw, grid, 256, &w.adam)
}

// Gradient implements engine.Trainer.
func (t *trainer) Gradient(step int) (s engine.Score) {
	t.step = step
	if s.Err = t.runGradient(step); s.Err != nil {
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
	if err := t.batch.fill(t, step, 0); err != nil {
		return err
	}
	if err := cuda.Upload(s, t.weights.control, t.control[:1]); err != nil {
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
	if c.Err = t.runUpdate(u); c.Err != nil {
		return c
	}
	r := t.result[0]
	c = engine.Change{KL: r.KL, GradNorm: math.Sqrt(r.Norm2), Finite: r.Finite == allFinite}
	if !c.Finite { // the host decides what follows
		c.Err = cuda.Upload(t.stream, t.results, []result{{Finite: allFinite, Clip: 1}})
	}
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
	if err := cuda.Download(s, t.result[:1], t.results.Add(sizeResult)); err != nil {
		return err
	}
	return s.Sync()
}

// Run implements engine.Pipeline. Steps behind one that is not finite do nothing.
func (t *trainer) Run(updates []engine.Update, out []engine.Outcome) (done int) {
	for done < len(updates) {
		n := min(t.batch.slots, len(updates)-done)
		if err := t.queue(updates[done : done+n]); err != nil {
			out[done] = engine.Outcome{Score: engine.Score{Err: err}}
			return done + 1
		}
		for i, r := range t.result[:n] {
			t.step = updates[done].Step
			o := &out[done]
			*o = engine.Outcome{Score: engine.Score{NLL: r.NLL, Floored: int(r.Floored), Finite: r.Finite != nllNotFinite}}
			o.Change = engine.Change{KL: r.KL, GradNorm: math.Sqrt(r.Norm2), Finite: r.Finite == allFinite}
			if done++; !o.Change.Finite {
				o.Err = cuda.Upload(t.stream, t.results, []result{{Finite: allFinite, Clip: 1}})
				return done
			}
			t.result[i] = result{}
		}
	}
	return done
}

// queue queues steps and waits for their results.
func (t *trainer) queue(updates []engine.Update) error {
	s := t.stream
	for i, u := range updates {
		t.set(&t.control[i], u)
		t.control[i].Step = uint64(u.Step)
		if err := t.batch.fill(t, u.Step, i); err != nil {
			return err
		}
		if err := cuda.Upload(s, t.weights.control, t.control[i:i+1]); err != nil {
			return err
		}
		if err := t.whole.Launch(s); err != nil {
			return err
		}
	}
	if err := cuda.Download(s, t.result[:len(updates)], t.results.Add(sizeResult)); err != nil {
		return err
	}
	return s.Sync()
}

// set writes the numbers of a step of AdamW.
func (t *trainer) set(k *control, u engine.Update) {
	o, n := t.Optimizer, float64(u.Step)
	k.Rate = float32(u.Rate / (1 - math.Pow(o.Beta1, n)))
	k.Root2 = float32(1 / math.Sqrt(1-math.Pow(o.Beta2, n)))
	k.Eps, k.Beta1, k.Beta2 = float32(o.Epsilon), float32(o.Beta1), float32(o.Beta2)
	k.KLScale, k.Clip = float32(u.KL), o.Clip
	k.KeepMean, k.KeepRho = 1, 1
	if o.DecayOn != optim.DecayNone {
		k.KeepMean = float32(1 - u.Rate*o.Decay)
	}
	if o.DecayOn == optim.DecayAll {
		k.KeepRho = float32(1 - u.Rate*o.Decay)
	}
}

// FitPriors implements engine.Trainer. An error of the card shows in the next step.
func (t *trainer) FitPriors(e vi.EmpiricalBayes) {
	w := t.weights
	if cuda.Launch(w.stream, w.kernels.priors, cuda.Grid{X: len(w.chunks)}, 256, &t.priors) != nil ||
		cuda.Download(w.stream, t.priorSums, t.priors.Parts) != nil || w.stream.Sync() != nil {
		return
	}
	for i, x := range t.params.Tensors {
		if !x.Random {
			continue
		}
		var sum float64
		for j := range w.chunks {
			if int(w.chunks[j].Tensor) == i {
				sum += t.priorSums[j]
			}
		}
		std := math.Sqrt(e.Variance(x.Len(), sum))
		x.Prior.Std, t.net.Params.Tensors[i].Prior.Std = std, std
	}
	w.describe(t.params)
}

// State implements engine.Trainer.
func (t *trainer) State() engine.State {
	return engine.State{Params: t.params, First: t.moments[0], Second: t.moments[1]}
}

// Sync implements engine.Trainer.
func (t *trainer) Sync() error {
	s := t.stream
	for _, x := range []struct {
		to   []float32
		from cuda.Ptr
	}{{t.params.Theta, t.theta}, {t.moments[0].Theta, t.first}, {t.moments[1].Theta, t.second}} {
		if err := cuda.Download(s, x.to, x.from); err != nil {
			return err
		}
	}
	return s.Sync()
}

// Load implements engine.Trainer.
func (t *trainer) Load() error {
	for i, x := range t.params.Tensors {
		t.net.Params.Tensors[i].Prior = x.Prior
	}
	if err := cuda.Upload(t.stream, t.first, t.moments[0].Theta); err != nil {
		return err
	}
	if err := cuda.Upload(t.stream, t.second, t.moments[1].Theta); err != nil {
		return err
	}
	return t.upload(t.params)
}

// Close frees the memory of the card.
func (t *trainer) Close() error {
	for _, g := range []*cuda.Graph{t.gradient, t.update, t.whole} {
		g.Close()
	}
	t.release()
	return nil
}

// Explain implements engine.Trainer: the CPU repeats the step from the same parameters.
func (t *trainer) Explain(what string) error {
	if err := t.Sync(); err != nil {
		return err
	}
	c, err := engine.CPU[float32]().Train(t.net, t.Job)
	if err != nil {
		return err
	}
	c.Gradient(t.step)
	return c.Explain(what)
}

// The sizes of the structures are those of the kernels.
var _ = [1]struct{}{}[unsafe.Sizeof(op{})-sizeOp]
var _ = [1]struct{}{}[unsafe.Sizeof(chunk{})-sizeChunk]
var _ = [1]struct{}{}[unsafe.Sizeof(control{})-sizeControl]
var _ = [1]struct{}{}[unsafe.Sizeof(result{})-sizeResult]
var _ = [1]struct{}{}[unsafe.Sizeof(product{})-sizeProduct]
var _ = [1]struct{}{}[unsafe.Sizeof(gradJob{})-sizeJob]
