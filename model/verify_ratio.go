package model

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A SigmaRatio is σ propagated / σ drawn of the outputs of a network over some rows,
// for the part of the variance that comes from the weights: without noise, and with
// the inputs at their means. It is 1 if the propagated variance agrees with that of
// networks drawn from the weights.
type SigmaRatio struct {
	// Logits says that what is compared are the inputs of a softmax at the end. A probability
	// near 0 hardly varies, and its ratio says nothing of the error bar.
	Logits bool `json:"logits,omitempty"`

	Networks int `json:"networks"` // drawn of each member
	Members  int `json:"members"`
	Compared int `json:"compared"` // outputs × rows × members, without those that do not vary

	Median float64 `json:"median"`
	P05    float64 `json:"p05"`
	P95    float64 `json:"p95"`
	// Error is the standard error of one ratio, due to the finite number of networks:
	// the median over the outputs.
	Error float64 `json:"error"`

	// Covariances is the same ratio for full covariances, if VerifyConfig.Order asks
	// for it.
	Covariances *Quantiles `json:"covariances,omitempty"`

	Belief Belief `json:"belief"`
	// Advice says how to make the propagated variance more accurate; "" if it is
	// accurate.
	Advice string `json:"advice,omitempty"`
}

// Quantiles are the quantiles of a ratio.
type Quantiles struct {
	Order  int     `json:"order"`
	Median float64 `json:"median"`
	P05    float64 `json:"p05"`
	P95    float64 `json:"p95"`
}

// SigmaRatio draws networks and compares their outputs with the propagated ones. It is
// cheaper than Verify, which compares every layer: a few hundred networks show whether
// to believe the error bars of a network.
func (n *Net[T]) SigmaRatio(ctx context.Context, x gauss.Batch[T], c VerifyConfig) (*SigmaRatio, error) {
	r := &ratios{}
	if err := addRatios(ctx, r, n, x, c); err != nil {
		return nil, err
	}
	return r.summary(c), nil
}

// ratios are those of outputs that vary.
type ratios struct {
	logits            bool
	members           int
	own, full, chance []float64
	advice            string
}

// add takes in those of another member.
func (r *ratios) add(o *ratios) {
	r.members += o.members
	r.logits = r.logits || o.logits
	r.own = append(r.own, o.own...)
	r.full = append(r.full, o.full...)
	r.chance = append(r.chance, o.chance...)
	r.advice = cmp.Or(r.advice, o.advice) // members are of one kind, nearly always
}

func addRatios[T gauss.Float](ctx context.Context, r *ratios, n *Net[T], x gauss.Batch[T], c VerifyConfig) error {
	networks := cmp.Or(c.Networks, 10_000)
	if err := n.checkVerify(x, networks); err != nil {
		return err
	}
	n, r.logits = n.WithoutNoise().logits()
	x.Var, x.Cov = nil, nil
	want := n.NewPredictor(x.Rows).Predict(x)
	var full gauss.Batch[float64]
	if c.Order > 0 {
		var err error
		full, err = n.Covariances(x, c.Order)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
	}
	type slot struct {
		net   *Net[T]
		p     *Predictor[T]
		draws *vi.Sampler[T]
		sums  sums
	}
	slots := make([]slot, min(verifySlots, networks))
	for i := range slots {
		d := n.Draw(rng.Key{})
		slots[i] = slot{d, d.NewPredictor(x.Rows), vi.NewSampler(n.Params), newSums(len(want.Mean))}
	}
	err := drawNetworks(ctx, networks, c, func(i int, key rng.Key) {
		s := &slots[i]
		s.draws.Draw(key, s.net.Params)
		s.net.Changed()
		addTo(s.sums, s.p.Predict(x), want.Mean)
	})
	if err != nil {
		return err
	}
	for _, s := range slots[1:] {
		slots[0].sums.merge(s.sums)
	}
	r.members, r.advice = 1, advice(n.Graph())
	for i, m := range want.Mean {
		e := slots[0].sums.estimate(i, networks)
		v := float64(want.Var[i])
		if !compute.Finite(e.bias, e.sigma, v) {
			return fmt.Errorf("verify: output %d of row %d is not finite", i%want.Width, i/want.Width)
		}
		if e.constant(float64(m)) {
			continue
		}
		r.own, r.chance = append(r.own, math.Sqrt(v)/e.sigma), append(r.chance, e.chance)
		if c.Order > 0 {
			r.full = append(r.full, math.Sqrt(full.Var[i])/e.sigma)
		}
	}
	return nil
}

// logits returns the network before its last layer, with the same parameters, if that layer
// is a softmax; else the network itself.
func (n *Net[T]) logits() (*Net[T], bool) {
	c := n.Config
	last := len(c.Layers) - 1
	if last < 1 {
		return n, false
	}
	if !endsInSoftmax(c.Layers[last]) {
		return n, false
	}
	c.Layers = c.Layers[:last]
	before, err := declare[T](c, n.fixed, nil)
	if err != nil {
		return n, false // nothing but the softmax carries moments
	}
	before.Params.Share(n.Params)
	before.Changed()
	return before, true
}

func endsInSoftmax(l nn.Layer) bool {
	switch l := l.(type) {
	case nn.Softmax:
		return true
	case nn.Joint:
		return l.Map != nil && (l.Map.Name == fn.Softmax().Name || l.Map.Name == fn.LogSoftmax().Name)
	}
	return false
}

func (r *ratios) summary(c VerifyConfig) *SigmaRatio {
	s := &SigmaRatio{Logits: r.logits, Networks: cmp.Or(c.Networks, 10_000), Members: r.members, Compared: len(r.own), Error: median(r.chance)}
	own := quantiles(r.own)
	s.Median = own.Median
	s.P05 = own.P05
	s.P95 = own.P95
	if c.Order > 0 {
		q := quantiles(r.full)
		q.Order = c.Order
		s.Covariances = &q
	}
	s.Belief = believe(s)
	if s.Belief == Roughly || s.Belief == DoNotBelieve {
		s.Advice = r.advice
	}
	return s
}

func quantiles(x []float64) (q Quantiles) {
	if len(x) == 0 {
		return q
	}
	q.Median = median(x) // sorts
	at := func(p float64) float64 {
		t := p * float64(len(x)-1)
		i := min(int(t), len(x)-2)
		if i < 0 {
			return x[0]
		}
		return x[i] + (t-float64(i))*(x[i+1]-x[i])
	}
	q.P05, q.P95 = at(0.05), at(0.95)
	return q
}

// advice says what to change so that the network propagates the variance of its
// weights better.
func advice[T gauss.Float](root *nn.Node[T]) string {
	independent, blind := false, false
	for _, assumes := range marks(root) {
		independent = independent || assumes
	}
	for n := range root.All() {
		if a, ok := n.Layer.(nn.Apply); ok && a.F != nil {
			blind = blind || hasBlindSpot(a)
		}
	}
	switch {
	case independent && blind:
		return "train with nn.Correlate, and with the rule exact or gh(9) in place of three points"
	case blind:
		return "train with the rule exact or gh(9): three points have a blind spot in which training hides variance"
	case independent:
		return "train with nn.Correlate: this network takes units as independent that are not"
	}
	return "use the variance of networks drawn from the weights: the propagated variance is exact to first order only"
}
