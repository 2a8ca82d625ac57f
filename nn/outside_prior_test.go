package nn_test

import (
	"strings"
	"testing"

	"utvi/nn"
	"utvi/vi"
)

// A zero prior stands for that of the network, as it does in Random.
func TestRandomFromPrior(t *testing.T) {
	own, network := vi.Prior{Mean: 1, Std: 2}, vi.Prior{Std: 3}
	for _, c := range []struct{ of, given, want vi.Prior }{
		{vi.Prior{}, vi.Prior{}, vi.Prior{Std: 1}},
		{network, vi.Prior{}, network},
		{network, own, own},
	} {
		b := &nn.Binder[float64]{Params: &vi.Params[float64]{Prior: c.of}, In: nn.Vec(2)}
		x, err := b.RandomFrom("w", 0, 0.1, c.given, 2)
		if err != nil || x.Prior != c.want {
			t.Errorf("%+v in %+v: %+v, %v; want %+v", c.given, c.of, x.Prior, err, c.want)
		}
	}
	b := &nn.Binder[float64]{Params: newParams(), In: nn.Vec(2)}
	_, err := b.RandomFrom("w", 0, 0.1, vi.Prior{Mean: 1}, 2)
	if want := "the prior is N(1, 0²)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
