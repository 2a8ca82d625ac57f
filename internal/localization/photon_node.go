package localization

import (
	"fmt"
	"math"

	"utvi/internal/call"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/moment"
)

// Family is the word before the numbers in the name of a photon node, such as
// "photon-node(100,1.05,8)". Model files hold this name.
const Family = "photon-node"

// leastPhotons is the smallest expected count. Gradients divide by its root, also where an
// emitter lies far outside the sensor.
const leastPhotons = 1e-3

// PhotonNode is the location and scale of the paper's photon count, for nn.Conditional. An
// emitter at (x, y), blurred by a Gaussian of the given standard deviation, sends N photons.
// The expected number that hits a square sensor of side L around the origin is
//
//	N_i = N·q(x)·q(y),   q(x) = Φ((L/2−x)/σ) − Φ((−L/2−x)/σ),
//
// and the count is Poisson: location N_i, scale √N_i. An N_i below 1e-3 is raised to
// 1e-3 and has no gradient.
func PhotonNode(photons, sigma, side float64) *moment.Map {
	m, err := FromNumbers([]float64{photons, sigma, side})
	if err != nil {
		panic("localization: a photon node takes three numbers > 0")
	}
	return m
}

// FromNumbers returns the photon node of three numbers, those of its name: photons, sigma
// and side.
func FromNumbers(numbers []float64) (*moment.Map, error) {
	if len(numbers) != 3 || !(min(numbers[0], numbers[1], numbers[2]) > 0) || !compute.Finite(numbers...) {
		return nil, fmt.Errorf("unknown location %q; use photon-node(photons,sigma,side) with three numbers > 0", call.Format(Family, numbers...))
	}
	n := photonNode{photons: numbers[0], sigma: numbers[1], side: numbers[2]}
	return &moment.Map{Name: call.Format(Family, numbers...), Family: Family, In: 2, Out: 2, F: n.value, VJP: n.pull}, nil
}

// A photonNode holds the numbers of a node.
type photonNode struct{ photons, sigma, side float64 }

// count is N_i, with q(x) and q(y).
func (n photonNode) count(x []float64) (count, qx, qy float64) {
	qx = caught(x[0], n.sigma, n.side)
	qy = caught(x[1], n.sigma, n.side)
	return n.photons * qx * qy, qx, qy
}

// value writes the location and the scale of the count.
func (n photonNode) value(x, y []float64) {
	count, _, _ := n.count(x)
	count = max(count, leastPhotons)
	y[0] = count
	y[1] = math.Sqrt(count)
}

// pull writes the gradients by the position.
func (n photonNode) pull(x, dy, dx []float64) {
	count, qx, qy := n.count(x)
	clear(dx[:2])
	if count < leastPhotons {
		return
	}
	d := dy[0] + dy[1]/(2*math.Sqrt(count))
	dx[0] = d * n.photons * qy * caughtSlope(x[0], n.sigma, n.side)
	dx[1] = d * n.photons * qx * caughtSlope(x[1], n.sigma, n.side)
}

// caught is q(x), the share of the blur around x that lies on the sensor, from the tail that
// x does not lie in: nothing cancels.
func caught(x, sigma, side float64) float64 {
	x = math.Abs(x)
	return special.CDF((side/2-x)/sigma) - special.CDF((-side/2-x)/sigma)
}

func caughtSlope(x, sigma, side float64) float64 {
	return (special.PDF((-side/2-x)/sigma) - special.PDF((side/2-x)/sigma)) / sigma
}
