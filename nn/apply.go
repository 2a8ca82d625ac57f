package nn

import (
	"errors"
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
	"utvi/vi"
)

// Apply applies the function F to every unit; Rule computes the moments.
type Apply struct {
	F    *moment.Func
	Rule moment.Rule // nil means moment.Default(F)
}

// Kind is "apply", as model files and the names of parameters have it.
func (Apply) Kind() string { return "apply" }

// TakesCovariances implements CovarianceTaker: the rule must be able to compute
// slopes.
func (l Apply) TakesCovariances() bool {
	rule := l.Rule
	if rule == nil {
		rule = moment.Default(l.F)
	}
	return moment.CheckSlope(rule, l.F) == nil
}

// Bind32 checks that the rule can push F and declares what the two learn: κ, and parameters of a formula.
func (l Apply) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindApply(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Apply) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindApply(l, b) }

type apply[T gauss.Float] struct {
	Stateless
	f     *moment.Func
	rule  moment.Rule
	shape Shape
	index uint32
	draws bool          // the rule looks at random points
	sense bool          // correlations are carried
	cov   bool          // covariances come in
	kappa *vi.Tensor[T] // softplus⁻¹ of κ, where it is learned
	applyParams[T]
}

func bindApply[T gauss.Float](l Apply, b *Binder[T]) (Unit[T], error) {
	u := &apply[T]{Stateless: Stateless(b.Form), f: l.F, rule: l.Rule, shape: b.In, index: b.Index()}
	if u.rule == nil {
		u.rule = moment.Default(u.f)
	}
	if u.f == nil {
		return nil, errors.New("no function F; set nn.Apply.F")
	}
	if err := u.rule.Check(u.f); err != nil {
		return nil, err
	}
	if f := u.f.Formula; f != nil && len(f.Inputs) > 0 && !moment.TakesParams(u.rule) {
		return nil, fmt.Errorf("the rule %v cannot push a formula with parameters: take a rule of points, samples, or linear", u.rule)
	}
	u.draws = moment.Draws(u.rule)
	u.cov = b.Form == Covariant
	u.sense = b.Sense && b.Form != Fixed
	if u.sense {
		if err := moment.CheckSlope(u.rule, u.f); err != nil {
			return nil, err
		}
	}
	if u.rule.Learns() {
		var err error
		u.kappa, err = b.Point("kappa", moment.InitialKappa(u.rule), 1)
		if err != nil {
			return nil, err
		}
	}
	return u, u.bindParams(u.f.Formula, b)
}

func (u *apply[T]) Out() Shape { return u.shape }

// TapeWidth: a learned κ keeps one gradient per row on the tape; a learned parameter
// of a formula keeps one per row, or one per unit.
func (u *apply[T]) TapeWidth() int { return u.kappas() + u.learnedWidth() }

func (u *apply[T]) GradTiles() int { return min(1, u.TapeWidth()) }

// kappas is the number of learned κ, 1 or 0.
func (u *apply[T]) kappas() int {
	if u.kappa != nil {
		return 1
	}
	return 0
}

// takesTurns reports whether the rule pushes one stretch of moments after the other.
func (u *apply[T]) takesTurns() bool { return u.Form() == Independent && u.kappa == nil }

// leakyPair is what the function and its rule are to kernels that take gradients back without a
// Jacobian; nil where there are none.
func (u *apply[T]) leakyPair() *kernel.LeakyPair {
	if !u.takesTurns() || !moment.InPlace[T](u.f, u.rule) {
		return nil
	}
	n := u.rule.Nodes()
	xi := make([]float32, len(n.Xi))
	w := make([]float32, len(n.W))
	compute.Convert(xi, n.Xi)
	compute.Convert(w, n.W)
	return kernel.NewLeakyPair(float32(u.f.A), xi, w)
}

func (u *apply[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &applyRunner[T]{apply: u, tile: moment.NewTile[T](u.f, u.rule)}
	if train {
		n := maxRows * u.shape.Size()
		if !u.cov && !u.sense {
			r.pair = u.leakyPair()
		}
		if r.pair == nil {
			r.jac = newJacobian[T](n)
		}
		if u.kappa != nil {
			r.mk, r.vk = make([]T, n), make([]T, n)
		}
		r.paramRun.keep(u.learned, n)
	}
	r.paramRun.attach(&u.applyParams, r.tile)
	if u.cov {
		return newApplyCov(r, maxRows*u.shape.Size(), train)
	}
	if u.sense {
		return newApplySenser(r, maxRows*u.shape.Size(), train)
	}
	return r
}

type applyRunner[T gauss.Float] struct {
	*apply[T]
	Weightless[T]
	tile   *moment.Tile[T]
	pair   *kernel.LeakyPair // in training, if Backward needs the input and no Jacobian
	jac    kernel.Moments[T] // of the block Forward saw last
	mk, vk []T

	slope, slopeM, slopeV []T // where correlations are carried
	paramRun[T]
}

func (r *applyRunner[T]) Forward(p *Pass[T]) {
	r.begin(r.tile)
	if r.Form() == Fixed {
		r.forwardFixed(p)
		return
	}
	t := r.tile
	width := p.In.Width
	if r.kappa != nil {
		t.Kappa = special.Softplus(float64(r.kappa.Mean[0]))
	}
	if r.draws {
		t.Key = p.Seed.Sub(p.Step, r.index)
		for row := range p.In.Rows {
			t.Row = p.Row + uint64(row)
			for u := 0; u < width; u += t.Cap() {
				t.Unit = u
				r.push(p, row*width+u, row*width+min(width, u+t.Cap()))
			}
		}
		return
	}
	for n, i := p.In.Rows*width, 0; i < n; i += t.Cap() {
		r.push(p, i, min(n, i+t.Cap()))
	}
}

// push pushes elements [lo, hi) of the block through the tile.
func (r *applyRunner[T]) push(p *Pass[T], lo, hi int) {
	t := r.tile
	t.Mean, t.Var = p.In.Mean[lo:hi], p.In.Var[lo:hi]
	t.Out.Mean, t.Out.Var = p.Out.Mean[lo:hi], p.Out.Var[lo:hi]
	if r.jac.MM != nil {
		t.Out.MM, t.Out.MV = r.jac.MM[lo:hi], r.jac.MV[lo:hi]
		t.Out.VM, t.Out.VV = r.jac.VM[lo:hi], r.jac.VV[lo:hi]
	}
	if r.slope != nil {
		t.Slope = r.slope[lo:hi]
	}
	if r.slopeM != nil {
		t.SlopeM, t.SlopeV = r.slopeM[lo:hi], r.slopeV[lo:hi]
	}
	if r.mk != nil {
		t.MK, t.VK = r.mk[lo:hi], r.vk[lo:hi]
	}
	r.place(t, lo, hi, p.In.Width)
	t.Push()
}

// forwardFixed applies F to numbers; the slopes are stored in place of ∂mean/∂m.
func (r *applyRunner[T]) forwardFixed(p *Pass[T]) {
	t := r.tile
	for n, lo := p.In.Rows*p.In.Width, 0; lo < n; lo += t.Cap() {
		hi := min(n, lo+t.Cap())
		t.Mean, t.Out.Mean = p.In.Mean[lo:hi], p.Out.Mean[lo:hi]
		if r.jac.MM != nil {
			t.Out.MM = r.jac.MM[lo:hi]
		}
		r.place(t, lo, hi, p.In.Width)
		t.EvalFixed()
	}
}

func (r *applyRunner[T]) Backward(p *Pass[T]) {
	n := p.DOut.Rows * p.DOut.Width
	if r.pair != nil {
		if p.DIn.Mean != nil {
			kernel.PullPair(r.pair, p.In.Mean[:n], p.In.Var[:n], p.DOut.Mean[:n], p.DOut.Var[:n], p.DIn.Mean[:n], p.DIn.Var[:n], 0)
		}
		return
	}
	jac := kernel.Moments[T]{MM: r.jac.MM[:n], MV: r.jac.MV[:n], VM: r.jac.VM[:n], VV: r.jac.VV[:n]}
	if r.Form() == Fixed {
		if p.DIn.Mean != nil {
			kernel.MulTo(p.DIn.Mean[:n], p.DOut.Mean[:n], jac.MM)
		}
		clear(p.Tape)
		r.record(p, r.TapeWidth(), r.kappas())
		return
	}
	if r.kappa != nil {
		r.recordKappa(p)
	}
	r.record(p, r.TapeWidth(), r.kappas())
	if p.DIn.Mean != nil {
		kernel.VJP(p.DOut.Mean[:n], p.DOut.Var[:n], jac, p.DIn.Mean[:n], p.DIn.Var[:n])
	}
}

// recordKappa stores the gradient of each row with respect to κ on the tape.
func (r *applyRunner[T]) recordKappa(p *Pass[T]) {
	w := p.DOut.Width
	for row := range p.DOut.Rows {
		var sum float64
		for i := row * w; i < (row+1)*w; i++ {
			sum += float64(p.DOut.Mean[i])*float64(r.mk[i]) + float64(p.DOut.Var[i])*float64(r.vk[i])
		}
		p.Tape[row*r.TapeWidth()] = T(sum)
	}
}

func (r *applyRunner[T]) Gradient(_ int, blocks []Block[T]) {
	columns(blocks, r.TapeWidth(), func(i int, sum float64) {
		if i < r.kappas() {
			r.kappa.GMean[0] = T(sum * special.Sigmoid(float64(r.kappa.Mean[0]))) // κ = softplus(raw)
			return
		}
		r.setGradient(i-r.kappas(), sum)
	})
}
