package model

import (
	"fmt"
	"math"

	"utvi/moment"
	"utvi/nn"
)

// A Belief says whether the propagated σ agrees with that of networks drawn from the
// weights.
type Belief string

const (
	// Believe: the median of the ratio is within 5 % of 1, and nine of ten ratios lie
	// between 0.85 and 1.15.
	Believe Belief = "believe"
	// Roughly: the median is within 15 %.
	Roughly Belief = "roughly"
	// DoNotBelieve: the median is further off.
	DoNotBelieve Belief = "do not believe"
	// Nothing: the outputs do not depend on random weights.
	Nothing Belief = "nothing to compare"
)

func believe(s *SigmaRatio) Belief {
	within := func(x, bar float64) bool { return x >= 1-bar && x <= 1+bar }
	switch {
	case s.Compared == 0:
		return Nothing
	case within(s.Median, 0.05) && within(s.P05, 0.15) && within(s.P95, 0.15):
		return Believe
	case within(s.Median, 0.15):
		return Roughly
	}
	return DoNotBelieve
}

// String returns the ratio in one line.
func (s *SigmaRatio) String() string {
	if s.Belief == Nothing {
		return "σ propagated / σ drawn: the outputs do not depend on random weights"
	}
	outputs := "outputs"
	if s.Logits {
		outputs = "logits"
	}
	return fmt.Sprintf("σ propagated / σ drawn: %s (90 %% of %s: %s to %s; %d networks, ±%.1f %% by chance)",
		ratio(s.Median), outputs, ratio(s.P05), ratio(s.P95), s.Networks*s.Members, 100*s.Error)
}

// ratio writes a ratio. One of an output that hardly varies, such as a probability near
// 0, can be huge; its digits would say nothing.
func ratio(x float64) string {
	if x > 100 {
		return "more than 100"
	}
	return fmt.Sprintf("%.2f", x)
}

// Sentence returns a sentence that says whether to believe what the weights add to the error
// bars, and what to do if not. Whether error bars fit the data is another question.
func (s *SigmaRatio) Sentence() string {
	switch s.Belief {
	case Believe:
		return "Believe what the weights add to the error bars: it agrees with networks drawn from the weights."
	case Roughly:
		return fmt.Sprintf("Believe what the weights add to the error bars roughly: it is %s. To improve it, %s.", s.off(), s.Advice)
	case DoNotBelieve:
		return fmt.Sprintf("Do not believe what the weights add to the error bars: it is %s. To fix it, %s.", s.off(), s.Advice)
	}
	return "There is nothing to compare: the outputs do not depend on random weights."
}

func (s *SigmaRatio) off() string {
	percent := math.Round(100 * (s.Median - 1))
	switch {
	case percent < 0:
		return fmt.Sprintf("%.0f %% too small in the median", -percent)
	case percent > 0:
		return fmt.Sprintf("%.0f %% too large in the median", percent)
	}
	return "right in the median, but not for all outputs"
}

// hasBlindSpot reports whether the rule evaluates the nonlinearity at three points or
// fewer.
func hasBlindSpot(a nn.Apply) bool {
	rule := a.Rule
	if rule == nil {
		rule = moment.Default(a.F)
	}
	n := rule.Nodes()
	return n.Method == moment.ByTangent || n.Method == moment.ByPoints && len(n.Xi) <= 3
}
