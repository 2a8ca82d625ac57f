package laplace_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"utvi/rng"
)

// A chain is a Hamiltonian Monte Carlo over the weights of the network of two clusters, in units of the
// priors.
type chain struct {
	x, y []float64
	at   []float64 // the weights: w, b and v of each unit, and the last bias
	key  rng.Key
	n    uint64 // random numbers taken
}

// function is the network's output at x, with its slopes by the weights if grad is not nil.
func function(z []float64, x float64, grad []float64) (f float64) {
	p := clusterPriors
	f = p[3] * z[3*clusterUnits]
	for j := range clusterUnits {
		u := z[3*j:]
		h := math.Tanh(p[0]*u[0]*x + p[1]*u[1])
		f += p[2] * u[2] * h
		if grad != nil {
			d := p[2] * u[2] * (1 - h*h)
			grad[3*j] = d * p[0] * x
			grad[3*j+1] = d * p[1]
			grad[3*j+2] = p[2] * h
		}
	}
	if grad != nil {
		grad[3*clusterUnits] = p[3]
	}
	return f
}

// energy is −ln p of weights and rows, with its slopes.
func (c *chain) energy(z, slope, room []float64) (e float64) {
	for i, v := range z {
		e += v * v / 2
		slope[i] = v
	}
	const precision = 1 / (clusterNoise * clusterNoise)
	for i, x := range c.x {
		r := function(z, x, room) - c.y[i]
		e += r * r * precision / 2
		for k, g := range room {
			slope[k] += r * precision * g
		}
	}
	return e
}

func (c *chain) normal() float64 {
	c.n++
	return rng.Normal(c.key, c.n)
}

// step makes a trajectory, and says whether its end was taken.
func (c *chain) step(size float64, leaps int, z, p, slope, room []float64) bool {
	copy(z, c.at)
	e := c.energy(z, slope, room)
	for i := range p {
		p[i] = c.normal()
		e += p[i] * p[i] / 2
	}
	var after float64
	for range leaps {
		for i := range z {
			p[i] -= size / 2 * slope[i]
			z[i] += size * p[i]
		}
		after = c.energy(z, slope, room)
		for i := range p {
			p[i] -= size / 2 * slope[i]
		}
	}
	for _, v := range p {
		after += v * v / 2
	}
	c.n++
	if math.Log(rng.Uniform(c.key, c.n)) < e-after {
		copy(c.at, z)
		return true
	}
	return false
}

// sample returns the function on a grid after each of some steps; half as many before them find the size
// of a leap.
func (c *chain) sample(grid []float64, steps, leaps int) (f [][]float64) {
	n := len(c.at)
	z, p := make([]float64, n), make([]float64, n)
	slope, room := make([]float64, n), make([]float64, n)
	size := 0.002
	for s := range steps + steps/2 {
		c.n++
		jitter := 0.8 + 0.4*rng.Uniform(c.key, c.n)
		taken := c.step(size*jitter, leaps, z, p, slope, room)
		if s < steps/2 {
			if taken {
				size *= 1.04
			} else {
				size /= 1.12
			}
			continue
		}
		row := make([]float64, len(grid))
		for i, x := range grid {
			row[i] = function(c.at, x, nil)
		}
		f = append(f, row)
	}
	return f
}

// TestHMC writes testdata/clusters.json again, if UTVI_HMC is set: it takes minutes.
func TestHMC(t *testing.T) {
	if os.Getenv("UTVI_HMC") == "" {
		t.Skip("it samples for minutes; UTVI_HMC=1 writes testdata/clusters.json again")
	}
	const chains, steps, leaps = 6, 400, 120
	grid := clusterGrid()
	x, y := clusters()
	all := make([][][]float64, chains)
	var wg sync.WaitGroup
	for k := range chains {
		wg.Go(func() {
			c := &chain{x: x, y: y, at: make([]float64, 3*clusterUnits+1), key: rng.New(uint64(k + 100))}
			for i := range c.at {
				c.at[i] = c.normal()
			}
			all[k] = c.sample(grid, steps, leaps)
		})
	}
	wg.Wait()
	var known []moment
	for i, at := range grid {
		sd, r := spread(all, i)
		t.Logf("x %5.2f: sd %.4f, R-hat %.4f", at, sd, r)
		if r > 1.05 {
			t.Errorf("at %v the chains do not agree: R-hat %.3f", at, r)
		}
		known = append(known, moment{math.Round(at*100) / 100, math.Round(sd*1e5) / 1e5})
	}
	b, err := json.MarshalIndent(known, "", " ")
	if err == nil {
		err = os.WriteFile("testdata/clusters.json", append(b, '\n'), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// spread is the standard deviation of number i over all chains, and R-hat of their halves.
func spread(chains [][][]float64, i int) (sd, rhat float64) {
	var means, variances []float64
	half := len(chains[0]) / 2
	for _, c := range chains {
		for _, part := range [][][]float64{c[:half], c[half:]} {
			var m, v float64
			for _, row := range part {
				m += row[i] / float64(len(part))
			}
			for _, row := range part {
				v += (row[i] - m) * (row[i] - m) / float64(len(part)-1)
			}
			means = append(means, m)
			variances = append(variances, v)
		}
	}
	var mean, within, between float64
	k := float64(len(means))
	for _, m := range means {
		mean += m / k
	}
	for _, v := range variances {
		within += v / k
	}
	for _, m := range slices.Clone(means) {
		between += (m - mean) * (m - mean) / (k - 1)
	}
	return math.Sqrt(within + between), math.Sqrt((within + between) / within)
}
