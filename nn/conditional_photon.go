package nn

import (
	"fmt"
	"math"

	"utvi/internal/call"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/moment"
)

// leastPhotons is the smallest expected count. Gradients divide by its root, also where an
// emitter lies far outside the sensor.
const leastPhotons = 1e-3

// PhotonNode is the Location of the paper's photon count. An emitter at (x, y),
// blurred by a Gaussian of the given standard deviation, sends N photons. The
// expected number that hits a square sensor of side L around the origin is
//
//	N_i = N·q(x)·q(y),   q(x) = Φ((L/2−x)/σ) − Φ((−L/2−x)/σ),
//
// and the count is Poisson: location N_i, scale √N_i. An N_i below 1e-3 is raised to
// 1e-3 and has no gradient.
func PhotonNode(photons, sigma, side float64) *moment.Map {
	if !(min(photons, sigma, side) > 0) || !compute.Finite(photons, sigma, side) {
		panic("nn: a photon node takes three numbers > 0")
	}
	count := func(x []float64) (n, a, b float64) {
		a, b = caught(x[0], sigma, side), caught(x[1], sigma, side)
		return photons * a * b, a, b
	}
	return &moment.Map{
		Name: call.Format("photon-node", photons, sigma, side),
		In:   2, Out: 2,
		F: func(x, y []float64) {
			n, _, _ := count(x)
			n = max(n, leastPhotons)
			y[0], y[1] = n, math.Sqrt(n)
		},
		VJP: func(x, dy, dx []float64) {
			n, a, b := count(x)
			dx[0], dx[1] = 0, 0
			if n < leastPhotons {
				return
			}
			dn := dy[0] + dy[1]/(2*math.Sqrt(n))
			dx[0] = dn * photons * b * caughtSlope(x[0], sigma, side)
			dx[1] = dn * photons * a * caughtSlope(x[1], sigma, side)
		},
	}
}

// NamedLocation returns the Location with a name such as "photon-node(100,1.05,8)".
// Model files store locations by name.
func NamedLocation(name string) (*moment.Map, error) {
	kind, x, err := call.Parse(name)
	if err != nil || kind != "photon-node" || len(x) != 3 || !(min(x[0], x[1], x[2]) > 0) || !compute.Finite(x...) {
		return nil, fmt.Errorf("unknown location %q; use photon-node(photons,sigma,side) with three numbers > 0", name)
	}
	return PhotonNode(x[0], x[1], x[2]), nil
}

// caught is q(x), from the tail that x does not lie in: nothing cancels.
func caught(x, sigma, side float64) float64 {
	x = math.Abs(x)
	return special.CDF((side/2-x)/sigma) - special.CDF((-side/2-x)/sigma)
}

func caughtSlope(x, sigma, side float64) float64 {
	return (special.PDF((-side/2-x)/sigma) - special.PDF((side/2-x)/sigma)) / sigma
}
