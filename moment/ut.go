package moment

import (
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/special"
)

// UT returns the unscented transform (Julier & Uhlmann 1997) with spread κ ≥ 0:
// points m and m ± √(κ+1)·σ with weights κ/(κ+1) and 1/(2(κ+1)) each. κ = 2
// matches the kurtosis of the Normal and is 3-point Gauss–Hermite.
func UT(kappa float64) Rule {
	r := nodes{name: fmt.Sprintf("ut(%v)", kappa)}
	if !(kappa >= 0) || math.IsInf(kappa, 0) {
		r.err = fmt.Errorf("ut: κ is %v; it must be a number ≥ 0 (the paper uses 2)", kappa)
		kappa = 2
	}
	xi, w := sigmaPoints(kappa)
	r.xi, r.w = xi[:], w[:]
	return r
}

// sigmaPoints returns the standardised points and weights of κ.
func sigmaPoints(kappa float64) (xi, w [3]float64) {
	c, p := math.Sqrt(kappa+1), 1/(kappa+1)
	return [3]float64{0, -c, c}, [3]float64{kappa * p, p / 2, p / 2}
}

// LearnedUT returns the unscented transform whose κ > 0 is a parameter of the layer,
// starting from the given value.
func LearnedUT(kappa float64) Rule { return learnedUT{kappa} }

type learnedUT struct{ kappa float64 }

func (r learnedUT) String() string          { return fmt.Sprintf("learned-ut(%v)", r.kappa) }
func (r learnedUT) Learns() bool            { return true }
func (r learnedUT) Vector(f *Func) bool     { return vectorised(f) }
func (r learnedUT) Push32(t *Tile[float32]) { pushLearned(t) }
func (r learnedUT) Push64(t *Tile[float64]) { pushLearned(t) }

func (r learnedUT) Nodes() Nodes {
	xi, w := sigmaPoints(r.kappa)
	return Nodes{Xi: xi[:], W: w[:]}
}

func (r learnedUT) Check(f *Func) error {
	if !(r.kappa > 0) || math.IsInf(r.kappa, 0) {
		return fmt.Errorf("learned-ut: κ starts at %v; it must be a number > 0 (the paper uses 2)", r.kappa)
	}
	return checkFunc(f)
}

// InitialKappa returns the starting value of the raw parameter of a learned κ =
// softplus(raw).
func InitialKappa(r Rule) float64 {
	if l, ok := r.(learnedUT); ok {
		return special.SoftplusInverse(l.kappa)
	}
	return 0
}

func pushLearned[T gauss.Float](t *Tile[T]) {
	xi, w := sigmaPoints(t.Kappa)
	for i := range xi {
		t.nodes[i], t.weights[i] = T(xi[i]), T(w[i])
	}
	pushNodes(t, t.nodes[:], t.weights[:])
	if t.MK != nil {
		kappaDerivatives(t)
	}
}

// kappaDerivatives fills MK and VK. With p = 1/(κ+1), S and D the even and the
// odd part of f₊ − f₀, and ′ the slopes at the outer points:
//
//	S_κ = σ(f'₊−f'₋)/(4c), D_κ = σ(f'₊+f'₋)/(4c)
//	∂mean/∂κ = −p²S + pS_κ
//	∂var/∂κ  = −p²D² + 2pDD_κ − p²(1−2p)S² + 2p(1−p)SS_κ
func kappaDerivatives[T gauss.Float](t *Tile[T]) {
	n := len(t.Mean)
	p := T(1 / (t.Kappa + 1))
	quarter := T(0.25 / math.Sqrt(t.Kappa+1))
	f0 := t.f[:n]
	fm := t.f[n : 2*n]
	fp := t.f[2*n : 3*n]
	dm, dp := t.d[n:2*n], t.d[2*n:3*n]
	for i, s := range t.s[:n] {
		even := (fp[i]+fm[i])/2 - f0[i]
		odd := (fp[i] - fm[i]) / 2
		evenK := s * (dp[i] - dm[i]) * quarter
		oddK := s * (dp[i] + dm[i]) * quarter
		t.MK[i] = -p*p*even + p*evenK
		t.VK[i] = -p*p*odd*odd + 2*p*odd*oddK - p*p*(1-2*p)*even*even + 2*p*(1-p)*even*evenK
	}
}
