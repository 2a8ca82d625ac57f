package gpu_test

import (
	"slices"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
)

// Networks that predict together have the bits that each has alone: of several shapes, with
// and without variances, through streams that the rows do not fill.
func TestTeam(t *testing.T) {
	e := card(t)
	defer gpu.SetStreamRows(16)()
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.MonteCarlo(3)}
	const in, many = 5, 41
	chains := []nn.Chain{
		{nn.Dense{Out: 20}, act, nn.Dense{Out: 2}},
		nn.Correlate(nn.Chain{nn.Dense{Out: 9}, nn.Apply{F: fn.GELU(), Rule: moment.GaussHermite(5)}, nn.Dense{Out: 1}}),
		{nn.Dense{Out: 7, Fixed: true}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.Dense{Out: 3, Fixed: true}},
		{nn.Dense{Out: 20}, act, nn.Dense{Out: 1}},
	}
	x := rows(many, in, false)
	pool := compute.NewPool(1)
	defer pool.Close()
	var programs []engine.Program[float32]
	var want, got []gauss.Batch[float32]
	for i, c := range chains {
		n := network(t, in, c)
		n.Seed = rng.New(uint64(i)) // of the samples
		p, err := e.Compile(n, nn.Fixed)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
		alone := gauss.New[float32](many, p.Graph().Out.Size())
		p.NewPredictor(pool, many).Predict(x, alone)
		want, got = append(want, alone), append(got, gauss.New[float32](many, alone.Width))
	}
	team, ok := e.Abilities().NewEnsemble(programs, pool, many)
	if !ok {
		t.Fatal("networks of one card are no team")
	}
	for range 2 { // a stream is used again
		team.PredictAll(x, got)
		for i := range got {
			if !slices.Equal(got[i].Mean, want[i].Mean) || !slices.Equal(got[i].Var, want[i].Var) {
				t.Errorf("network %d: together\n%v, alone\n%v", i, got[i], want[i])
			}
			clear(got[i].Mean)
		}
	}
	other, err := engine.CPU[float32]().Compile(network(t, in, chains[0]), nn.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := e.Abilities().NewEnsemble([]engine.Program[float32]{programs[0], other}, pool, many); ok {
		t.Error("networks of a card and the CPU are a team")
	}
}
