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
	paired := report.Chart{
		Title: "(d)  plain − physics", X: pairs, Y: report.Axis{Label: "difference (nats)"},
		Levels: []report.Level{{Colour: report.Grey, Dashed: true}},
	}
	for _, p := range starvedPanels {
		chart := report.Chart{Title: p.title, X: pairs, Y: report.Axis{Label: p.y}}
		if p.measure == starvedPosition {
			chart.Levels = []report.Level{{Name: "prior alone", Colour: report.Grey, Y: starvedPrior, Dashed: true}}
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

// starvedSignTable shows under which settings physics helps, and says so in a sentence.
func starvedSignTable(s Size, signs []starvedSetting, gains []StarvedGain) (report.Table, string) {
	t := report.Table{
		Caption: fmt.Sprintf("What decides the sign: NLL of the plain network minus that of the physics-informed one, one training set, paired by initialisation, %s, with a 95 %% interval. Above 0, physics helps. Photons in hundreds: the plain network whose photon count does not have to grow a hundredfold.", ofReplicates(starvedReplicates(s))),
		Head:    []string{"pairs", "images", "steps", "plain network", "total", "95 % interval", "position", "95 % interval"},
	}
	n := map[report.Verdict]int{}
	for _, c := range signs {
		for _, over := range []string{locPlain, locScaled} {
			images := "counts"
			if c.scale > 0 {
				images = fmt.Sprintf("counts ÷ %v", c.scale)
			}
			row := []string{fmt.Sprint(c.pairs), images, fmt.Sprint(c.steps), map[string]string{locPlain: "photons as they are", locScaled: "photons in hundreds"}[over]}
			for _, measure := range []string{starvedTotal, starvedPosition} {
				i := slices.IndexFunc(gains, func(g StarvedGain) bool {
					return g.Pairs == c.pairs && g.KL == c.kl && g.Shared && g.Scale == c.scale && g.Steps == c.steps && g.Over == over && g.Measure == measure
				})
				row = append(row, gains[i].Gain.format("%.3f"), gains[i].interval())
				n[gains[i].judge().verdict]++
			}
			t.Rows = append(t.Rows, row)
		}
	}
	note := fmt.Sprintf("Whether physics helps is not robust: of the %d comparisons in the table of settings it lowers the NLL in %d and raises it in %d, by intervals; %d are undecided. The paper gives none of these settings.",
		n[report.Holds]+n[report.Fails]+n[report.Undecided], n[report.Holds], n[report.Fails], n[report.Undecided])
	return t, note
}
