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

// A VerifyConfig says how to verify a network.
type VerifyConfig struct {
	Networks int    // number of networks to draw; 0 means 10,000
	Seed     uint64 // for the draws
	Workers  int    // 0 means GOMAXPROCS; the result does not depend on it
	Order    int    // also compare full covariances to this order; 0: do not
	Progress func(done, total int)
}

// A Verification compares propagated moments with the moments of networks drawn from the
// posterior. Inputs that have variances are drawn, too.
//
// Noise and Dropout draw nothing: a drawn network propagates their variance v, and the
// moments of the drawn networks are avg m and var m + avg v.
type Verification struct {
	Networks int `json:"networks"`
	Rows     int `json:"rows"`
	// MeanError (in standard deviations) and StdError (relative) are one standard
	// error each: what the finite number of networks alone leads to. The standard
	// error of σ is the median over the outputs.
	MeanError float64      `json:"mean_error"`
	StdError  float64      `json:"std_error"`
	Layers    []LayerCheck `json:"layers"` // the last one is the output

	// Ratio says how far the weights' part of the outputs' σ can be believed.
	Ratio SigmaRatio `json:"sigma_ratio"`

	ratios *ratios
}

// A LayerCheck compares the outputs of one layer, including the errors of all layers
// before it.
type LayerCheck struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Shape nn.Shape `json:"shape"`

	// AssumesIndependence marks layers that combine units as if they were independent,
	// although they are not.
	AssumesIndependence bool `json:"assumes_independence"`

	Compared int `json:"compared"` // units times rows
	Constant int `json:"constant"` // not compared, because they do not vary

	Mean Deviation `json:"mean"` // (propagated − sampled)/σ sampled
	Std  Deviation `json:"std"`  // σ propagated/σ sampled − 1

	// StdError is the standard error of σ sampled, relative, in the median:
	// √((κ+2)/4n), with κ the excess kurtosis of the n draws.
	StdError float64 `json:"std_error"`
}

// A Deviation summarises errors: the median of their absolute values, and the largest
// one with its sign and place.
type Deviation struct {
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
	Row    int     `json:"row"`
	Unit   int     `json:"unit"`
}

const (
	verifySlots = 8  // each with its own network: sums do not depend on the workers
	verifyChunk = 16 // networks a slot draws between two reports of progress
)

// Verify propagates x, draws networks, and compares layer by layer.
func (n *Net[T]) Verify(ctx context.Context, x gauss.Batch[T], c VerifyConfig) (*Verification, error) {
	networks := cmp.Or(c.Networks, 10_000)
	if err := n.checkVerify(x, networks); err != nil {
		return nil, err
	}
	want := newWalk(n, x)
	want.run(x)
	slots := make([]*sampler[T], verifySlots)
	for i := range slots {
		slots[i] = newSampler(n, want, x)
	}
	progress := c.Progress
	half := func(first int) {
		if progress != nil {
			c.Progress = func(done, total int) { progress(first*total+done, 2*total) }
		}
	}
	half(0)
	err := drawNetworks(ctx, networks, c, func(slot int, key rng.Key) { slots[slot].draw(key) })
	if err != nil {
		return nil, err
	}
	for _, s := range slots[1:] {
		for i := range s.sums {
			slots[0].sums[i].merge(s.sums[i])
		}
	}
	v := &Verification{Networks: networks, Rows: x.Rows, MeanError: 1 / math.Sqrt(float64(networks))}
	marks := marks(want.root)
	for i := range want.nodes {
		l, err := compareLayer(want.nodes[i], want.outs[i], slots[0].sums[i], networks)
		if err != nil {
			return nil, err
		}
		l.AssumesIndependence = marks[want.nodes[i]]
		v.Layers = append(v.Layers, l)
	}
	v.StdError = v.Layers[len(v.Layers)-1].StdError
	half(1)
	r := &ratios{}
	if err := addRatios(ctx, r, n, x, c); err != nil {
		return nil, err
	}
	v.ratios, v.Ratio = r, *r.summary(c)
	return v, nil
}

func (n *Net[T]) checkVerify(x gauss.Batch[T], networks int) error {
	switch {
	case networks < 2:
		return fmt.Errorf("verify: %d networks; a variance needs at least 2", networks)
	case x.Rows < 1:
		return errors.New("verify: no rows of inputs; at least 1 is needed")
	}
	if err := checkBatch(x, n.Inputs(), x.Rows); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if _, err := n.program(formOf(x)); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	return nil
}

// drawNetworks calls draw with the key of each network. Each slot is called by one
// goroutine at a time, for the same networks whatever the number of workers.
func drawNetworks(ctx context.Context, networks int, c VerifyConfig, draw func(slot int, key rng.Key)) error {
	pool := compute.NewPool(compute.Workers(c.Workers))
	defer pool.Close()
	key := rng.New(c.Seed)
	for done := 0; done < networks; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.Progress != nil {
			c.Progress(done, networks)
		}
		count := min(verifySlots*verifyChunk, networks-done)
		pool.Run(verifySlots, func(_, slot int) {
			for k := slot; k < count; k += verifySlots {
				draw(slot, key.Sub(uint64(done+k), 2))
			}
		})
		done += count
	}
	return nil
}

func compareLayer[T gauss.Float](p *nn.Node[T], out gauss.Batch[T], s sums, networks int) (LayerCheck, error) {
	l := LayerCheck{Name: p.Name, Kind: p.Layer.Kind(), Shape: p.Out}
	var mean, std, chance []float64
	var at []int
	for i, m := range out.Mean {
		e := s.estimate(i, networks)
		var v float64
		if out.Var != nil {
			v = float64(out.Var[i])
		}
		if !compute.Finite(e.bias, e.sigma, v, float64(m)) {
			return l, fmt.Errorf("verify: the output of layer %s is not finite", p.Name)
		}
		if e.constant(float64(m)) {
			l.Constant++
			continue
		}
		mean = append(mean, -e.bias/e.sigma)
		std = append(std, math.Sqrt(v)/e.sigma-1)
		at = append(at, i)
		chance = append(chance, e.chance)
	}
	l.Compared = len(at)
	l.Mean, l.Std = deviation(mean, at, out.Width), deviation(std, at, out.Width)
	l.StdError = median(chance)
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
			d.Worst = e
			d.Row = at[i] / width
			d.Unit = at[i] % width
		}
	}
	d.Median = median(sizes)
	return d
}

// median sorts x; it is 0 of no numbers.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
