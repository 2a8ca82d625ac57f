package report

// Sweep shows what sampling costs: the score against the number of samples, the
// time it takes, and, where SE is given, the noise of a prediction.
type Sweep struct {
	N           []float64 // samples
	NLL, NLLSD  []float64 // above the true model's
	NLLLevels   []Level   // of the methods without samples
	Time        []float64 // relative
	TimeLevels  []Level
	SE, RootLaw []float64 // observed standard error, and what falls like 1/√n from its first
}

// Figure is the sweep in panels.
func (s Sweep) Figure() Grid {
	n := Axis{Label: "number of samples n", Scale: Log2}
	mc := func(y, sd []float64) Trace {
		return Trace{Name: "Monte Carlo", Colour: orange, Style: LineMarks, X: s.N, Y: y, SD: sd}
	}
	charts := []Chart{
		{Title: "(a)  score", X: n, Y: Axis{Label: "best NLL − true model's (nats)"}, Traces: []Trace{mc(s.NLL, s.NLLSD)}, Levels: s.NLLLevels},
		{Title: "(b)  time of a forward pass", X: n, Y: Axis{Label: "relative time", Scale: Log10}, Traces: []Trace{mc(s.Time, nil)}, Levels: s.TimeLevels},
	}
	if s.SE != nil {
		charts = append(charts, Chart{Title: "(c)  noise of a prediction", X: n, Y: Axis{Label: "standard error", Scale: Log10},
			Traces: []Trace{mc(s.SE, nil), {Name: "like 1/√n", Colour: ink, Style: Dashed, X: s.N, Y: s.RootLaw}}})
	}
	return Grid{Charts: charts}
}
