package nn

import (
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/vi"
)

// Periodic embeds numbers by waves, so that one weighted sum can follow a function that
// turns often (Gorishniy et al. 2022). Unit j stays, and each of its frequencies c becomes
// two features,
//
//	sin 2πc·x  and  cos 2πc·x .
//
// The frequencies are learned, as numbers without a variance. Outputs are all units first,
// then the sines of unit 0, of unit 1, and so on, then the cosines in the same order. The
// moments of a feature of a Normal x are exact; see periodic_moments.go.
type Periodic struct {
	// Frequencies are the starting values for each unit, cycles per 1 of x. A unit
	// without frequencies has no features.
	Frequencies [][]float64 `json:"frequencies"`
}

// Kind is "periodic", as model files and the names of parameters have it.
func (Periodic) Kind() string { return "periodic" }

// Bind32 declares the frequencies of each input.
func (l Periodic) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindPeriodic(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Periodic) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindPeriodic(l, b) }

type periodic[T gauss.Float] struct {
	Stateless
	sense       bool
	in          int
	unit        []int         // that a frequency belongs to
	frequencies *vi.Tensor[T] // nil if there are none
	w           []T           // 2πc, prepared
}

func bindPeriodic[T gauss.Float](l Periodic, b *Binder[T]) (Unit[T], error) {
	n := b.In.Size()
	if len(l.Frequencies) != n {
		return nil, fmt.Errorf("frequencies for %d units; the input has %d", len(l.Frequencies), n)
	}
	u := &periodic[T]{Stateless: Stateless(b.Form.apart()), sense: b.Sense, in: n}
	var start []float64
	for j, frequencies := range l.Frequencies {
		for _, c := range frequencies {
			if !compute.Finite(T(c)) {
				return nil, fmt.Errorf("the frequency %v of unit %d; frequencies must be finite", c, j)
			}
			u.unit, start = append(u.unit, j), append(start, c)
		}
	}
	if out := n + 2*len(start); out > maxWeights {
		return nil, fmt.Errorf("%d features; a layer may have at most %d", out, maxWeights)
	}
	if start == nil {
		return u, nil
	}
	var err error
	u.w = make([]T, len(start))
	u.frequencies, err = b.declared(b.Params.Point(b.Name+".frequencies", 1, func(i int) float64 { return start[i] }, len(start)))
	return u, err
}

func (u *periodic[T]) Out() Shape        { return Vec(u.in + 2*len(u.unit)) }
func (u *periodic[T]) TapeWidth() int    { return len(u.unit) }
func (u *periodic[T]) GradTiles() int    { return min(1, len(u.unit)) }
func (u *periodic[T]) PrepareTiles() int { return min(1, len(u.unit)) }

func (u *periodic[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &periodicRunner[T]{periodic: u}
	if u.Form() == Fixed {
		return r
	}
	r.waves = make([]wave, maxRows*2*len(u.unit))
	if !u.sense {
		return r
	}
	s := &periodicSenser[T]{periodicRunner: r, e: make([]T, maxRows*u.Out().Size())}
	if train {
		s.de = make([]T, maxRows*u.Out().Size())
		s.xm = make([]T, maxRows*u.in)
		s.xv = make([]T, maxRows*u.in)
		s.xw = make([]T, maxRows*len(u.unit))
	}
	return s
}

// A periodicRunner keeps the moments of the features of the block Forward saw last, rows
// × features, unless they are numbers.
type periodicRunner[T gauss.Float] struct {
	*periodic[T]
	waves []wave
}

func (r *periodicRunner[T]) Prepare(int) {
	for k, c := range r.frequencies.Mean {
		r.w[k] = T(2 * math.Pi * float64(c))
	}
}

func (r *periodicRunner[T]) Forward(p *Pass[T]) {
	in := r.in
	n := len(r.unit)
	out := p.Out.Width
	for row := range p.In.Rows {
		x, y := p.In.Mean[row*in:][:in], p.Out.Mean[row*out:][:out]
		copy(y, x)
		if r.Form() == Fixed {
			sin, cos := y[in:in+n], y[in+n:]
			for k, j := range r.unit {
				sin[k] = r.w[k] * x[j]
			}
			sines(sin, cos)
			continue
		}
		v, yv := p.In.Var[row*in:][:in], p.Out.Var[row*out:][:out]
		copy(yv, v)
		waves := r.waves[row*2*n:][:2*n]
		for k, j := range r.unit {
			m := float64(x[j])
			s := float64(v[j])
			w := float64(r.w[k])
			sin, cos := math.Sincos(w * m)
			waves[k], waves[n+k] = waveMoments(sin, cos, m, s, w), waveMoments(cos, -sin, m, s, w)
		}
		for k, f := range waves {
			y[in+k], yv[in+k] = T(f.mean), T(f.v)
		}
	}
}

// sines replaces phases by their sines, and writes their cosines.
func sines[T gauss.Float](phase, cos []T) {
	if p, ok := any(phase).([]float32); ok {
		kernel.Eval(kernel.OpSin, 0, p, p, any(cos).([]float32))
		return
	}
	for k, x := range phase {
		s, c := math.Sincos(float64(x))
		phase[k], cos[k] = T(s), T(c)
	}
}

// Backward stores the gradient by every w of each row on the tape.
func (r *periodicRunner[T]) Backward(p *Pass[T]) {
	in := r.in
	n := len(r.unit)
	out := p.Out.Width
	for row := range p.DOut.Rows {
		g, tape := p.DOut.Mean[row*out:][:out], p.Tape[row*n:][:n]
		var dx, dv []T
		if p.DIn.Mean != nil {
			dx = p.DIn.Mean[row*in:][:in]
			copy(dx, g)
		}
		if r.Form() == Fixed {
			r.backFixed(p.In.Mean[row*in:][:in], p.Out.Mean[row*out+in:][:2*n], g[in:], dx, tape)
			continue
		}
		h := p.DOut.Var[row*out:][:out]
		if dx != nil {
			dv = p.DIn.Var[row*in:][:in]
			copy(dv, h)
		}
		clear(tape)
		for i, f := range r.waves[row*2*n:][:2*n] {
			k := i % n
			g, h := g[in+i], h[in+i]
			tape[k] += T(g*T(f.mw)) + T(h*T(f.vw))
			if dx != nil {
				dx[r.unit[k]] += T(g*T(f.slope)) + T(h*T(f.vm))
				dv[r.unit[k]] += T(g*T(f.mv)) + T(h*T(f.vv))
			}
		}
	}
}

// backFixed is Backward of one row of numbers x, whose features are y.
func (r *periodicRunner[T]) backFixed(x, y, g, dx, tape []T) {
	n := len(r.unit)
	sin := y[:n]
	cos := y[n:]
	gs := g[:n]
	gc := g[n:]
	for k, j := range r.unit {
		d := T(gs[k]*cos[k]) - T(gc[k]*sin[k]) // by the phase
		tape[k] = d * x[j]
		if dx != nil {
			dx[j] += T(d * r.w[k])
		}
	}
}

func (r *periodicRunner[T]) Gradient(_ int, blocks []Block[T]) {
	columns(blocks, len(r.unit), func(k int, sum float64) { r.frequencies.GMean[k] = T(2 * math.Pi * sum) })
}

// A wave has the moments of sin wx, or of the wave a quarter ahead, for x ~ N(m, v), and
// their derivatives by m, v and w.
type wave struct {
	mean, v                float64
	slope, mv, mw          float64 // ∂mean: by m, which is Cov(f, x)/v, by v and by w
	vm, vv, vw             float64
	slopeM, slopeV, slopeW float64
}

// waveMoments are exact, by the characteristic function: with s and c the value and the
// slope of the wave at the phase wm, s² + c² = 1, and q = exp(−w²v),
//
//	mean = √q·s    var = (1−q)·((1−q)/2 + q·c²)
func waveMoments(s, c, m, v, w float64) wave {
	t := w * w * v
	root := math.Exp(-t / 2)
	q := math.Exp(-t)
	p := -math.Expm1(-t)
	s1, c1 := root*s, root*c
	byPhase, byT := -2*p*q*s*c, q*(s*s*p+c*c*q) // of the variance
	slope := w * c1
	return wave{
		mean: s1, v: p * (p/2 + q*c*c),
		slope: slope, mv: -w * w * s1 / 2, mw: m*c1 - w*v*s1,
		vm: w * byPhase, vv: w * w * byT, vw: m*byPhase + 2*w*v*byT,
		slopeM: -w * w * s1, slopeV: -w * w * slope / 2, slopeW: c1 - w*m*s1 - w*v*slope,
	}
}
