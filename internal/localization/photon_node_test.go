package localization_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/gauss"
	"utvi/internal/call"
	"utvi/internal/localization"
	"utvi/nn"
	"utvi/vi"
)

// TestPhotonNode: N_i as in the table of Cramér–Rao bounds, σ²/N_i.
func TestPhotonNode(t *testing.T) {
	node := localization.PhotonNode(100, 1.05, 8)
	y := make([]float64, 2)
	for at, want := range map[[2]float64]float64{{0, 0}: 0.01103, {2, 0}: 0.01135, {3.5, 0.5}: 0.01615, {-3.5, 3.5}: 0.02363} {
		node.F(at[:], y)
		if got := 1.05 * 1.05 / y[0]; math.Abs(got-want) > 6e-6 || y[1] != math.Sqrt(y[0]) {
			t.Errorf("at %v the bound is %.5f, want %.5f", at, got, want)
		}
	}
	dx := []float64{1, 1}
	node.F([]float64{30, 0}, y)
	node.VJP([]float64{30, 0}, []float64{1, 1}, dx)
	if y[0] != 1e-3 || dx[0] != 0 || dx[1] != 0 {
		t.Errorf("far outside: %v, gradient %v", y, dx)
	}
}

// The numbers of a node's name make the node again.
func TestFromNumbers(t *testing.T) {
	want := localization.PhotonNode(100, 1.0/3, 8e-7)
	family, numbers, err := call.Parse(want.Name)
	if err != nil || family != localization.Family {
		t.Fatalf("%q has the family %q, %v", want.Name, family, err)
	}
	if got, err := localization.FromNumbers(numbers); err != nil || got.Name != want.Name {
		t.Errorf("%q was found as %v, %v", want.Name, got, err)
	}
	for _, numbers := range [][]float64{nil, {1, 2}, {1, -2, 3}, {1, 2, 3, 4}, {1, 2, math.NaN()}} {
		if _, err := localization.FromNumbers(numbers); err == nil {
			t.Errorf("%v were taken", numbers)
		}
	}
}

// A node that could be saved but not loaded is not made.
func TestPhotonNodeRefuses(t *testing.T) {
	for _, x := range [][3]float64{{-1, 1, 8}, {100, 0, 8}, {100, 1, math.NaN()}, {math.Inf(1), 1, 8}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was taken", x)
				}
			}()
			localization.PhotonNode(x[0], x[1], x[2])
		}()
	}
}

func ExamplePhotonNode() {
	in := gauss.Batch[float64]{Rows: 1, Width: 3, Mean: []float64{3.5, 0.5, 0}, Var: []float64{0.02, 0.02, 1}}
	for _, joint := range []bool{false, true} { // at the mean position, and with its variance
		l := nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: joint}
		u, err := nn.Bind(l, &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: nn.Vec(3), Form: nn.Independent})
		if err != nil {
			panic(err)
		}
		out := gauss.New[float64](1, 3)
		u.NewRunner(1, false).Forward(&nn.Pass[float64]{In: in, Out: out})
		fmt.Printf("%.1f ± %.1f photons\n", out.Mean[2], math.Sqrt(out.Var[2]))
	}
	// Output:
	// 68.3 ± 8.3 photons
	// 68.1 ± 9.5 photons
}
