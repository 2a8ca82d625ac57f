package affine

import (
	"fmt"
	"slices"
	"testing"

	"utvi/rng"
)

// What quantities see of the weights has the same bits together as one by one.
func TestSeenTogether(t *testing.T) {
	const k = 3
	window := func(across, channels int) Window {
		return Window{H: 6, W: 7, C: channels, KH: 3, KW: 3, Down: across, Across: across, Rise: 1, Run: 1, Top: 1, Left: 1, OH: (6-1)/across + 1, OW: (7-1)/across + 1, Groups: 1}
	}
	for _, c := range []struct {
		across, channels, filters int
	}{{1, 1, 8}, {1, 4, 16}, {2, 4, 5}, {2, 1, 24}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			conv := NewConvApart[float32](window(c.across, c.channels), c.filters, true)
			if !conv.SeesTogether() {
				t.Fatal("it sees one by one")
			}
			numbers := func(n, stream int) []float32 {
				x := make([]float32, n)
				for i := range x {
					x[i] = float32(rng.Normal(rng.New(uint64(stream)), uint64(i)))
				}
				return x
			}
			x, w := conv.NewSense(), &conv.image
			tape := make([]float32, conv.Kept())
			conv.KeepApart(tape, numbers(w.H*w.W*w.C, 1), nil, nil)
			size, each := w.OH*w.OW*c.filters, conv.Weights()+conv.Biases()
			a := numbers(k*size, 2)
			want, got := make([]float32, k*each), numbers(k*each, 3)
			for i := range k {
				own := want[i*each:][:each]
				conv.Seen(x, tape, a[i*size:][:size], own[:conv.Weights()], own[conv.Weights():], nil)
			}
			for range 2 {
				conv.SeenTogether(x, tape, a, got, k)
				if !slices.Equal(got, want) {
					t.Error("other bits")
				}
			}
		})
	}
}
