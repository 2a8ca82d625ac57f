package quad

import (
	"errors"
	"math"

	"utvi/internal/compute"
)

const (
	// tolerance bounds the summed differences between the Gauss and the Kronrod
	// sums, relative to ∫|g|; the Kronrod sum itself is far better.
	tolerance = 1e-11
	maxPanels = 20000
)

// A panel is an interval with its share of the integral, of ∫|g|, of the noise
// integral, and the Gauss–Kronrod estimate of its error.
type panel struct {
	lo, hi                float64
	sum, abs, weight, err float64
}

// Integrate returns the integral of g over the stretches between ascending cuts,
// to about 1e-11 of ∫|g|. A cut at every kink or jump of g makes it fast. It fails
// where the integral does not converge or is not finite.
func Integrate(cuts []float64, g func(u float64) float64) (float64, error) {
	return integrate(cuts, 0, func(u float64) (float64, float64) { return g(u), 0 })
}

// integrate sums g over the panels between cuts, halving those whose error
// still matters. The second value of g times noise is the rounding error that
// g carries; asking for more than that would never end.
func integrate(cuts []float64, noise float64, g func(u float64) (value, weight float64)) (float64, error) {
	panels := make([]panel, 0, 2*len(cuts))
	for i := range len(cuts) - 1 {
		panels = append(panels, newPanel(g, cuts[i], cuts[i+1]))
	}
	for {
		var t panel
		for _, p := range panels {
			t.sum += p.sum
			t.abs += p.abs
			t.weight += p.weight
			t.err += p.err
		}
		allowed := tolerance*t.abs + noise*t.weight
		switch {
		case !compute.Finite(t.sum, t.abs):
			return 0, errors.New("is not finite")
		case t.err <= allowed:
			return t.sum, nil
		case len(panels) > maxPanels:
			return 0, errors.New("does not converge")
		}
		share := allowed / float64(len(panels)) / 2
		for i, n := 0, len(panels); i < n; i++ {
			if p := panels[i]; p.err > share {
				mid := (p.lo + p.hi) / 2
				if mid <= p.lo || mid >= p.hi {
					return 0, errors.New("does not converge")
				}
				panels[i] = newPanel(g, p.lo, mid)
				panels = append(panels, newPanel(g, mid, p.hi))
			}
		}
	}
}

func newPanel(g func(u float64) (float64, float64), lo, hi float64) panel {
	p := panel{lo: lo, hi: hi}
	var gauss float64
	half, mid := (hi-lo)/2, (hi+lo)/2
	add := func(i int, u float64) {
		v, w := g(u)
		p.sum += v * kronrodWeights[i]
		p.abs += math.Abs(v) * kronrodWeights[i]
		p.weight += w * kronrodWeights[i]
		if i%2 == 1 {
			gauss += v * gaussWeights[i/2]
		}
	}
	for i, x := range kronrodNodes {
		add(i, mid-half*x)
		if x != 0 {
			add(i, mid+half*x)
		}
	}
	p.err = math.Abs(p.sum-gauss) * half
	p.sum *= half
	p.abs *= half
	p.weight *= half
	return p
}

// Kronrod is the plain 15-point sum of g over [lo, hi], exact for polynomials of
// degree 23.
func Kronrod(g func(u float64) float64, lo, hi float64) float64 {
	half, mid := (hi-lo)/2, (hi+lo)/2
	sum := 0.0
	for i, x := range kronrodNodes[:7] {
		sum += kronrodWeights[i] * (g(mid-half*x) + g(mid+half*x))
	}
	return half * (sum + kronrodWeights[7]*g(mid))
}

// The 7-point Gauss rule within the 15-point Kronrod rule on [−1, 1] (Kronrod
// 1965; Piessens et al., QUADPACK, 1983). Odd places are the Gauss nodes.
var (
	kronrodNodes = [8]float64{
		0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
		0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
		0.586087235467691130294144691838259, 0.405845151377397166906606412076961,
		0.207784955007898467600689403773245, 0,
	}
	kronrodWeights = [8]float64{
		0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
		0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
		0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
		0.204432940075298892414161999234649, 0.209482141084727828012999174891714,
	}
	gaussWeights = [4]float64{
		0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
		0.381830050505118944950369775488975, 0.417959183673469387755102040816327,
	}
)
