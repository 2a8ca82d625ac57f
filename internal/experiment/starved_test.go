package experiment

import "testing"

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
