package vi_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/internal/special"
	"utvi/rng"
	"utvi/vi"
)

// declared are parameters of every kind: random, random from a start, drawn numbers
// and given numbers.
func declared() (p *vi.Params[float64], drawn, from, numbers, given *vi.Tensor[float64]) {
	p = &vi.Params[float64]{Prior: vi.Prior{Mean: 0.5, Std: 2}}
	drawn = p.Random("drawn", 4, 100, 5)
	from = p.RandomFrom("from", 0.3, 0.7, 6)
	numbers = p.Point("numbers", 9, nil, 200)
	given = p.Point("given", 1, func(i int) float64 { return 10 + float64(i) }, 2, 3)
	p.Alloc()
	return p, drawn, from, numbers, given
}

// within checks that x fills [lo, hi] and does not leave it.
func within(t *testing.T, what string, x []float64, lo, hi float64) {
	t.Helper()
	least := slices.Min(x)
	most := slices.Max(x)
	width := hi - lo
	if least < lo || least > lo+0.05*width || most > hi || most < hi-0.05*width {
		t.Errorf("%s lie between %v and %v, want [%v, %v] filled", what, least, most, lo, hi)
	}
}

// Means start within ±1/√fan-in, ρ within its bounds, given values where they are
// given; every tensor has a stream of its own.
func TestStart(t *testing.T) {
	p, drawn, from, numbers, given := declared()
	p.Start(rng.New(4), vi.Init{RhoMin: -3, RhoMax: -1})
	within(t, "drawn means", drawn.Mean, -0.5, 0.5)
	within(t, "drawn ρ", drawn.Rho, -3, -1)
	within(t, "numbers", numbers.Mean, -1.0/3, 1.0/3)
	if numbers.Rho != nil || given.Rho != nil {
		t.Error("numbers have a ρ")
	}
	for i, m := range from.Mean {
		if m != 0.3 || math.Abs(special.Softplus(from.Rho[i])-0.7) > 1e-14 {
			t.Errorf("weight %d starts at %v ± %v, want 0.3 ± 0.7", i, m, special.Softplus(from.Rho[i]))
		}
	}
	if want := []float64{10, 11, 12, 13, 14, 15}; !slices.Equal(given.Mean, want) {
		t.Errorf("given numbers start at %v, want %v", given.Mean, want)
	}
	if drawn.Mean[0]/0.5 == numbers.Mean[0]*3 {
		t.Error("two tensors start from the same stream")
	}
	if corr := correlation(drawn.Mean, drawn.Rho); math.Abs(corr) > 0.2 {
		t.Errorf("means and ρ are correlated by %v", corr)
	}
	p.Start(rng.New(4), vi.Init{})
	within(t, "ρ by default", drawn.Rho, -8, -2)
}

func correlation(x, y []float64) float64 {
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(x))
	}
	for i := range x {
		a, b := x[i]-mx, y[i]-my
		xx = xx + a*a
		yy = yy + b*b
		xy = xy + a*b
	}
	return xy / math.Sqrt(xx*yy)
}

// Tensors lie one after the other, gradients as their values.
func TestLayout(t *testing.T) {
	p, drawn, from, numbers, given := declared()
	if len(p.Theta) != 2*500+2*6+200+6 {
		t.Errorf("%d numbers", len(p.Theta))
	}
	p.AllocGrads()
	grads := &p.Grad[0]
	p.AllocGrads()
	if &p.Grad[0] != grads || len(p.Grad) != len(p.Theta) {
		t.Error("gradients have been given room twice, or another size")
	}
	at := 0
	for _, x := range []*vi.Tensor[float64]{drawn, from, numbers, given} {
		for _, part := range [][2][]float64{{x.Mean, x.GMean}, {x.Rho, x.GVar}} {
			if part[0] == nil {
				continue
			}
			if len(part[0]) != x.Len() || len(part[1]) != x.Len() || &part[0][0] != &p.Theta[at] || &part[1][0] != &p.Grad[at] {
				t.Errorf("%s is not at %d", x.Name, at)
			}
			at += x.Len()
		}
	}
	if drawn.NoDecay || numbers.NoDecay || !given.NoDecay {
		t.Error("only given numbers are bare")
	}
	if drawn.Prior != p.Prior || from.Prior != p.Prior {
		t.Errorf("priors %v and %v, want %v", drawn.Prior, from.Prior, p.Prior)
	}
}

func TestKLAddsUp(t *testing.T) {
	p, drawn, from, numbers, given := declared()
	p.Start(rng.New(4), vi.Init{})
	if numbers.KL() != 0 || given.KL() != 0 {
		t.Error("numbers have a KL")
	}
	if got, want := p.KL(), drawn.KL()+from.KL(); got != want {
		t.Errorf("KL = %v, want %v", got, want)
	}
	// N(0.3, 0.7²) from N(0.5, 2²), six times.
	want := 6 * (math.Log(2/0.7) + (0.49+0.04)/8 - 0.5)
	if got := from.KL(); math.Abs(got-want) > 1e-12 {
		t.Errorf("KL = %v, want %v", got, want)
	}
}

// CheckFinite and CheckGrads name the tensor, whichever of its halves is bad.
func TestFinite(t *testing.T) {
	p, drawn, from, numbers, _ := declared()
	p.AllocGrads()
	p.Start(rng.New(4), vi.Init{})
	if p.CheckFinite() != nil || p.CheckGrads() != nil {
		t.Fatal(p.CheckFinite(), p.CheckGrads())
	}
	for _, c := range []struct {
		name  string
		x     []float64
		check func() error
	}{
		{"drawn", drawn.Mean, p.CheckFinite}, {"from", from.Rho, p.CheckFinite}, {"numbers", numbers.Mean, p.CheckFinite},
		{"drawn", drawn.GVar, p.CheckGrads}, {"numbers", numbers.GMean, p.CheckGrads},
	} {
		last := len(c.x) - 1
		was := c.x[last]
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			c.x[last] = bad
			if err := c.check(); err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%v in %s: %v", bad, c.name, err)
			}
		}
		c.x[last] = was
	}
}

func TestShareAndLike(t *testing.T) {
	p, drawn, _, _, given := declared()
	p.Start(rng.New(4), vi.Init{})
	drawn.Prior = vi.Prior{Mean: 3, Std: 4}
	q, copied, _, _, _ := declared()
	q.Share(p)
	drawn.Mean[7] = 1
	drawn.Rho[8] = 2
	given.Mean[5] = 3
	if copied.Mean[7] != 1 || copied.Rho[8] != 2 || q.Tensors[3].Mean[5] != 3 || &q.Theta[0] != &p.Theta[0] || copied.Prior != drawn.Prior {
		t.Error("memory or priors are not shared")
	}
	like := p.Like()
	if len(like.Theta) != len(p.Theta) || slices.ContainsFunc(like.Theta, func(x float64) bool { return x != 0 }) {
		t.Errorf("%d numbers like %d", len(like.Theta), len(p.Theta))
	}
	for i, x := range like.Tensors {
		if y := p.Tensors[i]; x.Name != y.Name || !slices.Equal(x.Shape, y.Shape) || x.Random != y.Random {
			t.Errorf("%+v is not like %+v", x, y)
		}
	}
}

// A sampler draws from the posterior, and copies numbers.
func TestSampler(t *testing.T) {
	p, drawn, _, numbers, given := declared()
	p.Start(rng.New(4), vi.Init{RhoMin: -1, RhoMax: 1})
	s := vi.NewSampler(p)
	q, before := p.Like(), slices.Clone(p.Theta)
	const draws = 4000
	var d1, d2, both float64 // of standardised weights
	key := rng.New(9)
	for k := range draws {
		s.Draw(key.Sub(uint64(k), 0), q)
		a := (q.Tensors[0].Mean[499] - drawn.Mean[499]) / special.Softplus(drawn.Rho[499])
		b := (q.Tensors[1].Mean[5] - 0.3) / 0.7
		d1 = d1 + (a+b)/draws
		d2 = d2 + (a*a+b*b)/2/draws
		both = both + a*b/draws
	}
	se := 5 / math.Sqrt(draws)
	if math.Abs(d1) > se*math.Sqrt2 || math.Abs(d2-1) > se || math.Abs(both) > se {
		t.Errorf("standardised draws have mean %v, variance %v and covariance %v", d1/2, d2, both)
	}
	if !slices.Equal(q.Tensors[2].Mean, numbers.Mean) || !slices.Equal(q.Tensors[3].Mean, given.Mean) {
		t.Error("numbers were not copied")
	}
	if !slices.Equal(p.Theta, before) {
		t.Error("drawing changed the parameters drawn from")
	}
}

// Weights are μ + σε, and no piece of a tensor has the ε of another.
func TestDrawInPieces(t *testing.T) {
	p := &vi.Params[float64]{}
	x := p.Random("w", 3, 23)
	p.Alloc()
	p.Start(rng.New(2), vi.Init{})
	sigma := make([]float64, 23)
	w := make([]float64, 23)
	eps := make([]float32, 24)
	x.Sigma(sigma, 0)
	for i, s := range sigma {
		if math.Abs(s-special.Softplus(x.Rho[i])) > 1e-12*s {
			t.Errorf("σ %d is %v", i, s)
		}
	}
	x.Draw(rng.New(5), 1, 0, sigma, w, eps)
	for i := range w {
		if want := x.Mean[i] + float64(sigma[i]*float64(eps[i])); w[i] != want {
			t.Errorf("weight %d is %v, want %v", i, w[i], want)
		}
	}
	part, seen := make([]float64, 23), map[float32]bool{}
	for lo := 0; lo < 23; lo += 8 {
		hi := min(23, lo+8)
		piece := make([]float64, hi-lo)
		x.Sigma(piece, lo)
		if !slices.Equal(piece, sigma[lo:hi]) {
			t.Errorf("σ from %d on: %v", lo, piece)
		}
		x.Draw(rng.New(5), 1, lo, piece, part[lo:hi], eps)
		for i, e := range eps[:hi-lo] {
			if want := x.Mean[lo+i] + piece[i]*float64(e); part[lo+i] != want || seen[e] {
				t.Errorf("weight %d is %v, want %v; drawn before: %v", lo+i, part[lo+i], want, seen[e])
			}
			seen[e] = true
		}
	}
	x.Draw(rng.New(5), 2, 0, sigma, part, eps)
	if part[0] == w[0] {
		t.Error("two tensors have the same draws")
	}
	x.Rho[0] = -1e4
	if x.Sigma(sigma[:1], 0); !(sigma[0] > 0) || 1/sigma[0] > 1e30 {
		t.Errorf("the least σ is %v", sigma[0])
	}
}

func TestChecks(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, i := range []vi.Init{{RhoMin: 1, RhoMax: 0}, {RhoMin: nan}, {RhoMax: inf}, vi.Std(0)} {
		if i.Check() == nil {
			t.Errorf("%v was accepted", i)
		}
	}
	for _, i := range []vi.Init{{}, vi.Std(0.1), {RhoMin: -1, RhoMax: -1}} {
		if err := i.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []vi.Prior{{}, {Mean: 1}, {Std: -1}, {Std: nan}, {Std: inf}, {Mean: inf, Std: 1}} {
		if p.Check() == nil {
			t.Errorf("%v was accepted", p)
		}
	}
	if err := (vi.Prior{Std: 1e-3}).Check(); err != nil {
		t.Error(err)
	}
	if p := (vi.Prior{Mean: 1}).OrStandard(); p != (vi.Prior{Mean: 1}) {
		t.Errorf("a mean without spread became %v", p)
	}
}
