package nn_test

import (
	"fmt"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

var fivePoints = moment.GaussHermite(5)

// recurrences are the recurrent layers in all their variants.
func recurrences() map[string]nn.Layer {
	return map[string]nn.Layer{
		"lstm":             nn.LSTM{Units: 3, Rule: fivePoints},
		"lstm last":        nn.LSTM{Units: 2, Last: true, NoBias: true, Start: []float64{0.3, -0.2, 0.5, 0.1}, Rule: fivePoints},
		"lstm reverse":     nn.LSTM{Units: 2, Direction: nn.Reverse, Start: []float64{0.8, -0.6, 0.5, 0.4}, Rule: fivePoints},
		"lstm both":        nn.LSTM{Units: 2, Direction: nn.Bidirectional, Start: []float64{0.3, -0.2, 0.5, 0.1, -0.6, 0.4, 0.2, 0.7}, Rule: fivePoints},
		"lstm both last":   nn.LSTM{Units: 2, Direction: nn.Bidirectional, Last: true, Rule: fivePoints},
		"lstm numbers":     nn.LSTM{Units: 2, Fixed: true, Rule: fivePoints},
		"gru":              nn.GRU{Units: 3, Rule: fivePoints},
		"gru both":         nn.GRU{Units: 2, Direction: nn.Bidirectional, Start: []float64{0.3, -0.2, 0.5, 0.1}, Rule: fivePoints},
		"gru reset before": nn.GRU{Units: 2, ResetBefore: true, Last: true, Start: []float64{0.3, -0.2}, Rule: fivePoints},
		"gru before back":  nn.GRU{Units: 2, ResetBefore: true, Direction: nn.Reverse, NoBias: true, Rule: fivePoints},
		"rnn":              nn.RNN{Units: 3, Rule: fivePoints},
		"rnn relu":         nn.RNN{Units: 2, F: fn.LeakyReLU(0.2), Last: true, Direction: nn.Reverse, Rule: moment.Exact()},
		"rnn wide":         nn.RNN{Units: 18, Last: true, Rule: fivePoints},
	}
}

// A series of three times: the start, a step from the start, and one from a step.
var series = nn.Shape{H: 1, W: 3, C: 2}

func TestRecurrent(t *testing.T) {
	for name, l := range recurrences() {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, series, nntest.Options{Entries: 8}) })
	}
}

func TestRecurrentCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: fivePoints}
	one, several := nn.Dense{Out: 1}, nn.Dense{Out: 3}
	all := recurrences()
	for name, layers := range map[string]nn.Chain{
		"lstm":             {all["lstm"], one},
		"lstm several":     {all["lstm last"], several},
		"lstm reverse":     {all["lstm reverse"], one},
		"lstm both":        {all["lstm both"], one},
		"lstm both last":   {all["lstm both last"]},
		"lstm numbers":     {all["lstm numbers"], several},
		"gru":              {all["gru"], one},
		"gru several":      {all["gru"], several},
		"gru reset before": {all["gru reset before"], several},
		"gru before back":  {all["gru before back"], one},
		"rnn":              {all["rnn"], several},
		"rnn relu":         {all["rnn relu"], one},
		"stacked":          {nn.GRU{Units: 2, Rule: fivePoints}, nn.LSTM{Units: 2, Last: true, Rule: fivePoints}, nn.Dense{Out: 2}},
		"behind a window":  {nn.Conv1D{Out: 2, Kernel: 2}, act, nn.RNN{Units: 2, Rule: fivePoints}},
	} {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, correlated(layers...), series, nntest.Options{Entries: 4}) })
	}
}

func TestRecurrentRefuses(t *testing.T) {
	nntest.Refuses(t, nn.LSTM{}, series, "0 units; LSTM needs at least 1")
	nntest.Refuses(t, nn.GRU{Units: 2}, nn.Shape{H: 4, W: 5, C: 3}, "the input 4×5×3 has height 4; GRU needs a series: nn.Shape{H: 1, W: times, C: features}")
	nntest.Refuses(t, nn.RNN{Units: 1 << 30}, series, "1073741824 units of 2 features have too many weights")
	nntest.Refuses(t, nn.RNN{Units: 2, Direction: "back"}, series, `the direction is "back"; it must be "forward", "reverse" or "bidirectional"`)
	nntest.Refuses(t, nn.LSTM{Units: 2, Start: []float64{1, 2}}, series, "the start has 2 numbers; it needs 4: 2 for each of 2 units in each direction")
	nntest.Refuses(t, nn.LSTM{Units: 2, Rule: moment.LearnedUT(2)}, series, "the rule learned-ut(2) learns its spread")
	nntest.Refuses(t, nn.RNN{Units: 2, F: fn.MustFormula("a*x", fn.Learned("a", 1)), Rule: fivePoints}, series, "the formula a*x has parameters")
	nntest.Refuses(t, nn.RNN{Units: 2, F: &moment.Func{Name: "empty"}}, series, "the function F has no F")
	nntest.Refuses(t, correlated(nn.LSTM{Units: 2, Rule: moment.MonteCarlo(5)}), series, "the rule mc(5) cannot carry correlations")
}

// With little variance first order is exact: weights that are drawn once for all times give what
// the correlated form says. The independent form does not.
func TestRecurrentAgainstDrawn(t *testing.T) {
	in := nn.Shape{H: 1, W: 5, C: 2}
	mean, variance := waves(10, 0.01)
	for name, l := range map[string]nn.Layer{
		"lstm":       nn.LSTM{Units: 3},
		"gru before": nn.GRU{Units: 3, ResetBefore: true, Last: true},
		"rnn":        nn.RNN{Units: 3, Last: true},
	} {
		t.Run(name, func(t *testing.T) {
			beatsIndependence(t, nn.Chain{l, nn.Dense{Out: 2}}, in, 0.04, 0.02, mean, variance)
		})
	}
}

func ExampleLSTM() {
	series := nn.Shape{H: 1, W: 50, C: 3} // 50 times of 3 features
	fmt.Println(outOf(nn.LSTM{Units: 64}, series))
	fmt.Println(outOf(nn.Chain{nn.LSTM{Units: 64}, nn.LSTM{Units: 32, Last: true}, nn.Dense{Out: 2}}, series))
	// Output:
	// 1×50×64
	// 2
}

func ExampleGRU() {
	fmt.Println(outOf(nn.GRU{Units: 16, Direction: nn.Bidirectional}, nn.Shape{H: 1, W: 20, C: 4}))
	// Output: 1×20×32
}

func ExampleRNN() {
	out := pushRow(nn.Chain{nn.RNN{Units: 2, Last: true}, nn.Dense{Out: 1}}, []float64{0.3}, []float64{0.5})
	fmt.Println(len(out.Mean), out.Var[0] > 0)
	// Output: 1 true
}
