package experiment

import (
	"encoding/json"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/rng"
)

// Every replicate has a training set of its own, and all networks of a replicate
// share it.
func TestStarvedSets(t *testing.T) {
	images := map[[2]int][]float32{} // by pairs and replicate
	for _, trial := range starvedExperiment.Plan(Size{Preset: "tiny", Seed: 1, Replicates: 3}) {
		var s LocalizationSpec
		if err := json.Unmarshal(trial.Spec, &s); err != nil {
			t.Fatal(err)
		}
		source, err := s.source(rng.New(s.Seed))
		if err != nil {
			t.Fatal(err)
		}
		source.Begin(rng.New(1), 1, s.Pairs)
		x := gauss.Fixed(emitterPixels, make([]float32, s.Pairs*emitterPixels))
		source.Fill(0, s.Pairs, x, make([]float32, s.Pairs*emitterTargets))
		at := [2]int{s.Pairs, s.Replicate}
		if images[at] == nil {
			for other, seen := range images {
				if other[0] == at[0] && slices.Equal(seen, x.Mean) {
					t.Errorf("replicates %d and %d see the same %d pairs", other[1], at[1], at[0])
				}
			}
			images[at] = x.Mean
		}
		if !slices.Equal(images[at], x.Mean) {
			t.Errorf("%s sees other pairs than the other networks of its replicate", trial.Name)
		}
	}
	if len(images) != 6 {
		t.Errorf("%d training sets, want 2 sizes for 3 replicates", len(images))
	}
}

func TestPhysicsHelps(t *testing.T) {
	cells := func(physics, plain float64) (cells []StarvedCell) {
		for _, n := range []int{32, 512, 1024} {
			for _, c := range []struct {
				outputs string
				nll     float64
			}{{locPhysics, physics}, {locPlain, plain}, {locScaled, plain}} {
				cell := StarvedCell{Pairs: n, Outputs: c.outputs, KL: "paper"}
				cell.Best.add(c.nll)
				cells = append(cells, cell)
			}
		}
		return cells
	}
	c := cells(1, 2)
	if got := physicsHelps(c); !got.Holds || got.Value != 1 {
		t.Errorf("%+v", got)
	}
	c[6].Best = Stat{}
	c[6].Best.add(9) // beyond 2⁹ it need not help
	if got := physicsHelps(c); !got.Holds {
		t.Errorf("%+v", got)
	}
	c[3].Best = Stat{}
	c[3].Best.add(2.5)
	if got := physicsHelps(c); got.Holds || got.Value != -0.5 {
		t.Errorf("%+v", got)
	}
	// A plain network that never got as far as a score is beaten; if nothing was
	// scored, nothing is.
	c[3].Best, c[4].Best = stat(2.5), Stat{}
	if got := physicsHelps(c); !got.Holds || got.Value != 1 {
		t.Errorf("%+v", got)
	}
	for i := range c {
		c[i].Best = Stat{}
	}
	if got := physicsHelps(c); got.Holds || got.Value != 0 {
		t.Errorf("%+v", got)
	}
}
