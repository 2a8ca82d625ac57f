package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/nn"
	"utvi/rng"
)

// A VerifyConfig says how a network is verified.
type VerifyConfig struct {
	Networks int    // to draw; 0 stands for 10,000
	Seed     uint64 // of the draws
	Workers  int    // 0 stands for GOMAXPROCS; the result does not depend on it
	Progress func(done, total int)
}

// A Verification compares propagated moments with those of networks drawn from
// the posterior, whose inputs, where they have variance, are drawn too.
//
// Noise and Dropout draw nothing: a drawn network carries their variance v, and
// the moments of the drawn networks are avg m and var m + avg v.
type Verification struct {
	Networks int `json:"networks"`
	Rows     int `json:"rows"`
	// MeanError, in standard deviations, and StdError, relative, are what the
	// finite number of networks alone leads to: one standard error.
	MeanError float64      `json:"mean_error"`
	StdError  float64      `json:"std_error"`
	Layers    []LayerCheck `json:"layers"` // the last one is the output
}

// A LayerCheck compares the outputs of one layer, with all that came before.
type LayerCheck struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Shape nn.Shape `json:"shape"`

	// AssumesIndependence marks layers that drop a covariance they know of.
	AssumesIndependence bool `json:"assumes_independence"`

	Compared int `json:"compared"` // units times rows
	Constant int `json:"constant"` // those that did not vary, and were not compared

	Mean Deviation `json:"mean"` // (propagated − sampled)/σ sampled
	Std  Deviation `json:"std"`  // σ propagated/σ sampled − 1
}

// A Deviation sums up errors: the median of their sizes, and the worst with its
// sign and place.
type Deviation struct {
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
	Row    int     `json:"row"`
	Unit   int     `json:"unit"`
}

const (
	verifySlots = 8  // each with a network of its own: sums do not depend on the workers
	verifyChunk = 16 // networks a slot draws between two reports of progress
)

// Verify propagates x, draws networks, and compares layer by layer.
func (n *Net[T]) Verify(ctx context.Context, x gauss.Batch[T], c VerifyConfig) (*Verification, error) {
	networks := cmp.Or(c.Networks, 10_000)
	switch {
	case networks < 2:
		return nil, fmt.Errorf("verify: %d networks; a variance needs at least 2", networks)
	case x.Rows < 1:
		return nil, errors.New("verify: there are no inputs")
	case x.Width != n.Inputs():
		return nil, fmt.Errorf("verify: the rows have %d inputs, the network %d", x.Width, n.Inputs())
	}
	want := newWalk(n, x)
	want.run(x)
	slots := make([]*sampler[T], verifySlots)
	for i := range slots {
		slots[i] = newSampler(n, want, x)
	}
	pool := compute.NewPool(compute.Workers(c.Workers))
	defer pool.Close()
	key := rng.New(c.Seed)
	for done := 0; done < networks; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.Progress != nil {
			c.Progress(done, networks)
		}
		count := min(verifySlots*verifyChunk, networks-done)
		pool.Run(verifySlots, func(_, slot int) {
			for k := slot; k < count; k += verifySlots {
				slots[slot].draw(key.Sub(uint64(done+k), 2))
			}
		})
		done += count
	}
	for _, s := range slots[1:] {
		slots[0].merge(s)
	}
	v := &Verification{Networks: networks, Rows: x.Rows,
		MeanError: 1 / math.Sqrt(float64(networks)), StdError: 1 / math.Sqrt(2*float64(networks))}
	for i := range want.nodes {
		l, err := compareLayer(want.nodes[i], want.outs[i], slots[0].sums[i], networks)
		if err != nil {
			return nil, err
		}
		v.Layers = append(v.Layers, l)
	}
	return v, nil
}

func compareLayer[T gauss.Float](p *nn.Node[T], out gauss.Batch[T], s sums, networks int) (LayerCheck, error) {
	l := LayerCheck{Name: p.Name, Kind: p.Layer.Kind(), Shape: p.Out}
	l.AssumesIndependence = nn.Any(p.Layer, func(l nn.Layer) bool {
		r, ok := l.(interface{ AssumesIndependence() bool })
		return ok && r.AssumesIndependence()
	})
	n := float64(networks)
	var mean, std []float64
	var at []int
	for i, m := range out.Mean {
		bias := s.d[i] / n
		sigma := math.Sqrt(math.Max(0, (s.d2[i]-s.d[i]*bias)/(n-1)) + s.v[i]/n)
		var v float64
		if out.Var != nil {
			v = float64(out.Var[i])
		}
		if !compute.Finite(bias, sigma, v, float64(m)) {
			return l, fmt.Errorf("verify: the output of layer %s is not finite", p.Name)
		}
		if sigma <= 1e-6*math.Abs(float64(m)+bias) { // nothing but rounding
			l.Constant++
			continue
		}
		mean, std, at = append(mean, -bias/sigma), append(std, math.Sqrt(v)/sigma-1), append(at, i)
	}
	l.Compared = len(at)
	l.Mean, l.Std = deviation(mean, at, out.Width), deviation(std, at, out.Width)
	return l, nil
}

// deviation sums up errors that belong to the elements at.
func deviation(errs []float64, at []int, width int) (d Deviation) {
	if len(errs) == 0 {
		return d
	}
	sizes := make([]float64, len(errs))
	for i, e := range errs {
		sizes[i] = math.Abs(e)
		if sizes[i] > math.Abs(d.Worst) || i == 0 {
			d.Worst, d.Row, d.Unit = e, at[i]/width, at[i]%width
		}
	}
	slices.Sort(sizes)
	d.Median = (sizes[(len(sizes)-1)/2] + sizes[len(sizes)/2]) / 2
	return d
}
