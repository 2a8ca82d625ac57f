package experiment

import (
	"fmt"
	"slices"

	"utvi/internal/report"
)

var starvedLooks = []struct {
	outputs, name string
	colour        report.Colour
}{
	{locPhysics, "physics-informed", report.Series(2)}, {locPlain, "plain", report.Ink}, {locScaled, "plain, photons in hundreds", report.Series(1)},
}

// starvedPanels are the ways to look at the paper's figure.
var starvedPanels = []struct {
	shared         bool
	kl, measure    string
	title, y, name string
	colour         report.Colour
}{
	{true, "paper", starvedTotal, "(a)  x, y and photons, one set", "best NLL (nats)", "x, y, photons, one set", report.Series(0)},
	{true, "paper", starvedPosition, "(b)  position, one set", "best position NLL (nats)", "position, one set", report.Series(1)},
	{false, "paper", starvedPosition, "(c)  position, own sets", "best position NLL (nats)", "position, own sets", report.Series(3)},
}

func starvedFigure(cells []StarvedCell, gains []StarvedGain) report.Figure {
	pairs := report.Axis{Label: "training pairs", Scale: report.Log2}
	usual := cells[0].Steps
	g := report.Grid{Columns: 2}
	roof := starvedRoof(cells)
	paired := report.Chart{
		Title: "(d)  plain − physics", X: pairs, Y: report.Axis{Label: "difference (nats)", Min: -roof / 3, Max: roof / 8},
		Levels: []report.Level{{Colour: report.Grey, Dashed: true}},
	}
	for _, p := range starvedPanels {
		chart := report.Chart{Title: p.title, X: pairs, Y: report.Axis{Label: p.y}}
		if p.measure == starvedPosition {
			chart.Levels = []report.Level{{Name: "prior alone", Colour: report.Grey, Y: starvedPrior, Dashed: true}}
		} else {
			chart.Y.Min = -roof / 20
			chart.Y.Max = roof
		}
		for _, look := range starvedLooks {
			t := report.Trace{Name: look.name, Colour: look.colour, Style: report.LineMarks}
			for _, c := range cells {
				m := c.measure(p.measure)
				if c.Outputs == look.outputs && c.KL == p.kl && c.Shared == p.shared && c.Scale == 0 && c.Steps == usual && len(m.Values) > 0 {
					t.X = append(t.X, float64(c.Pairs))
					t.Y = append(t.Y, m.Mean)
					t.SD = append(t.SD, m.SD)
				}
			}
			chart.Traces = append(chart.Traces, t)
		}
		g.Charts = append(g.Charts, chart)
		t := report.Trace{Name: "(d) " + p.name, Colour: p.colour, Style: report.LineMarks}
		for _, gain := range gains {
			if gain.KL == p.kl && gain.Shared == p.shared && gain.Measure == p.measure && gain.Over == locPlain && gain.usual(usual) && len(gain.Gain.Values) > 0 {
				_, hi, _ := gain.Gain.interval()
				t.X = append(t.X, float64(gain.Pairs))
				t.Y = append(t.Y, gain.Gain.Mean)
				t.SD = append(t.SD, hi-gain.Gain.Mean)
			}
		}
		paired.Traces = append(paired.Traces, t)
	}
	g.Charts = append(g.Charts, paired)
	return g
}

// starvedRoof is twice the plain network's worst total. A few scores of the physics-informed
// network lie far above it and would flatten everything else.
func starvedRoof(cells []StarvedCell) float64 {
	roof := 1.
	for _, c := range cells {
		if c.Outputs == locPlain && len(c.All.Values) > 0 {
			roof = max(roof, 2*c.All.Mean)
		}
	}
	return roof
}

// measure is a cell's score.
func (c StarvedCell) measure(name string) Stat {
	if name == starvedTotal {
		return c.All
	}
	return c.Best
}

func starvedTable(s Size, cells []StarvedCell, gains []StarvedGain) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("Lowest NLL during %d steps, %s; and the NLL of the plain network minus that of the physics-informed one, paired by replicate, with a 95 %% interval. One set: all replicates have the same training pairs, as in the paper. Total: x, y and photons together; position: mean of x and y.", starvedSteps(s), ofReplicates(starvedReplicates(s))),
		Head:    []string{"pairs", "training set", "KL", "NLL of"},
	}
	for _, look := range starvedLooks {
		t.Head = append(t.Head, look.name)
	}
	t.Head = append(t.Head, "plain minus physics", "95 % interval")
	for _, way := range []struct {
		shared      bool
		kl, measure string
	}{
		{true, "paper", starvedTotal}, {true, "paper", starvedPosition}, {false, "paper", starvedTotal}, {false, "paper", starvedPosition},
		{false, "full", starvedPosition},
	} {
		for _, g := range gains {
			if g.Shared != way.shared || g.KL != way.kl || g.Measure != way.measure || g.Over != locPlain || !g.usual(starvedSteps(s)) {
				continue
			}
			row := []string{fmt.Sprint(g.Pairs), map[bool]string{true: "one set", false: "own sets"}[g.Shared], map[string]string{"paper": "φ(l)", "full": "KL/N"}[g.KL], g.Measure}
			physics := cells[slices.IndexFunc(cells, g.is)]
			for _, look := range starvedLooks {
				row = append(row, physics.beside(cells, look.outputs).measure(g.Measure).format("%.3f"))
			}
			t.Rows = append(t.Rows, append(row, g.Gain.format("%.3f"), g.interval()))
		}
	}
	return t
}

// is reports whether the gain is of a cell's setting.
func (g StarvedGain) is(c StarvedCell) bool {
	return c.Outputs == locPhysics && c.Pairs == g.Pairs && c.KL == g.KL && c.Shared == g.Shared && c.Scale == g.Scale && c.Steps == g.Steps
}

func (g StarvedGain) interval() string {
	lo, hi, ok := g.Gain.interval()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.3f to %.3f", lo, hi)
}
