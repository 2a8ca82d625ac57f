package laplace_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/laplace"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// Two clusters of rows with a gap between them, and a network of one hidden layer. What the weights leave
// in doubt is known from Hamiltonian Monte Carlo (hmc_test.go), which testdata/clusters.json keeps.

const (
	clusterNoise = 0.1
	clusterUnits = 50
)

// clusterPriors are the standard deviations of the weights and biases of two layers.
var clusterPriors = [4]float64{3, 3, 0.3, 1}

// A moment is what is known of the function at x.
type moment struct {
	X  float64 `json:"x"`
	SD float64 `json:"sd"`
}

// clusters are 50 rows within −1 … −0.6 and 50 within 0.4 … 1.
func clusters() (x, y []float64) {
	key := rng.New(4)
	for i := range 100 {
		u := rng.Uniform(key, uint64(2*i))
		at := -1 + 0.4*u
		if i%2 > 0 {
			at = 0.4 + 0.6*u
		}
		x = append(x, at)
		y = append(y, math.Sin(4*at)+clusterNoise*rng.Normal(rng.New(5), uint64(i)))
	}
	return x, y
}

// clusterGrid are places within the rows, between them and outside.
func clusterGrid() (x []float64) {
	for i := range 33 {
		x = append(x, -1.6+0.1*float64(i))
	}
	return x
}

// place is where x lies: 0 between the clusters, 1 within one, 2 outside.
func place(x float64) int {
	switch {
	case x > -0.95 && x < -0.65 || x > 0.45 && x < 0.95:
		return 1
	case x > -0.55 && x < 0.35:
		return 0
	case x < -1.05 || x > 1.05:
		return 2
	}
	return 3
}

// clusterNet is the network with its priors.
func clusterNet(t *testing.T, seed uint64) *model.Model {
	t.Helper()
	n, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Correlate(nn.Chain{nn.Dense{Out: clusterUnits}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}), Seed: seed, Init: vi.Std(0.05)})
	if err != nil {
		t.Fatal(err)
	}
	for i, tensor := range n.Params.Tensors {
		tensor.Prior = vi.Prior{Std: clusterPriors[i]}
		for w := range tensor.Mean {
			tensor.Mean[w] = float32(0.5 * clusterPriors[i] * rng.Normal(rng.New(seed).Sub(uint64(i), 1), uint64(w)))
		}
	}
	n.Changed()
	return n
}

func floats(x []float64) (y []float32) {
	for _, v := range x {
		y = append(y, float32(v))
	}
	return y
}

// trainClusters minimises the evidence bound of all rows.
func trainClusters(t *testing.T, n *model.Model, steps int) {
	t.Helper()
	x, y := clusters()
	table, err := data.NewTable(gauss.Fixed(1, floats(x)), 1, floats(y))
	if err != nil {
		t.Fatal(err)
	}
	o := optim.Paper()
	o.Rate = optim.Cosine(0.01, steps)
	o.Decay, o.DecayOn = 0, optim.DecayNone
	trainer, err := train.New(n, train.Config{Data: table, Likelihood: likelihood.ExpectedNormal{Std: clusterNoise}, Optimizer: o, Batch: len(x), Steps: steps, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	for trainer.Step() < steps {
		if err := trainer.AdvanceTo(steps, func(train.Step) {}); err != nil {
			t.Fatal(err)
		}
	}
}

// computed are the standard deviations of the linearised network's function.
func computed(t *testing.T, n *model.Model, at []float64, c laplace.Config) (sd []float64) {
	t.Helper()
	x, _ := clusters()
	j, err := laplace.NewJacobians(n)
	if err != nil {
		t.Fatal(err)
	}
	known, err := j.Rows(gauss.Fixed(1, floats(x)))
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, len(x))
	for i := range w {
		w[i] = 1 / (clusterNoise * clusterNoise)
	}
	p, err := laplace.New(known.Combine(1, laplace.Precisions(w, []int{0}, 1)), c)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := j.Rows(gauss.Fixed(1, floats(at)))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range p.Variance(asked) {
		sd = append(sd, math.Sqrt(v))
	}
	return sd
}

// ratios are geometric means of standard deviations over those of the reference: in the gap, in the rows,
// outside.
func ratios(sd []float64, known []moment) (r [3]float64) {
	var n [3]float64
	for i, m := range known {
		if k := place(m.X); k < 3 {
			r[k] += math.Log(sd[i] / m.SD)
			n[k]++
		}
	}
	for k := range r {
		r[k] = math.Exp(r[k] / n[k])
	}
	return r
}

// Between clusters of rows, independent weights are far too sure; with the covariance that follows from
// their Jacobians they are about as uncertain as the posterior is.
func TestTwoClusters(t *testing.T) {
	var known []moment
	b, err := os.ReadFile("testdata/clusters.json")
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	if err != nil {
		t.Fatal(err)
	}
	grid := clusterGrid()
	var was, whole, layers [3]float64 // means over seeds of the logarithms
	const seeds = 3
	for seed := range seeds {
		n := clusterNet(t, uint64(seed+1))
		trainClusters(t, n, 4000)
		out := n.NewPredictor(len(grid)).Predict(gauss.Fixed(1, floats(grid)))
		var trained []float64
		for _, v := range out.Var {
			trained = append(trained, math.Sqrt(float64(v)))
		}
		for k := range was {
			was[k] += math.Log(ratios(trained, known)[k]) / seeds
			whole[k] += math.Log(ratios(computed(t, n, grid, laplace.Config{}), known)[k]) / seeds
			layers[k] += math.Log(ratios(computed(t, n, grid, laplace.Config{Layers: true}), known)[k]) / seeds
		}
	}
	for k := range was {
		was[k] = math.Exp(was[k])
		whole[k] = math.Exp(whole[k])
		layers[k] = math.Exp(layers[k])
	}
	t.Logf("sd over that of HMC in the gap, in the rows, outside: independent weights %.2f, %.2f, %.2f; covariance of all layers %.2f, %.2f, %.2f; of each layer %.2f, %.2f, %.2f",
		was[0], was[1], was[2], whole[0], whole[1], whole[2], layers[0], layers[1], layers[2])
	if was[0] > 0.6 || was[1] < 2 {
		t.Errorf("independent weights have %.2f of the standard deviation in the gap and %.2f in the rows; the example shows nothing", was[0], was[1])
	}
	if layers[0] < 0.8 || layers[0] > 1.3 || layers[1] > 1.4 || layers[1] < 0.7 {
		t.Errorf("the covariance of each layer gives %.2f of the standard deviation in the gap, %.2f in the rows; want 0.8 to 1.3, and 0.7 to 1.4", layers[0], layers[1])
	}
	if whole[0] < 0.8 || whole[0] > 1.6 || whole[1] > 1.4 || whole[1] < 0.7 {
		t.Errorf("the covariance of all layers gives %.2f of the standard deviation in the gap, %.2f in the rows; want 0.8 to 1.6, and 0.7 to 1.4", whole[0], whole[1])
	}
}
