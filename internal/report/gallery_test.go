package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"utvi/internal/special"
	"utvi/rng"
)

// draws yields the same Normal numbers every time.
func draws() func() float64 {
	i := uint64(0)
	return func() float64 {
		i++
		return rng.Normal(rng.New(7), i)
	}
}

// gallery is every figure, with data as they might be.
func gallery() map[string]Figure {
	return map[string]Figure{
		"fig1": sampleRegression(true), "figS1": sampleRegression(false), "fig2": sampleSweep().Figure(),
		"fig3": sampleMaps(false), "fig3-shared": sampleMaps(true), "examples": sampleImages(),
		"figS3": sampleStarved(), "forest": sampleForest(), "epochs": sampleEpochs(),
		"fit": sampleFit(), "pdp": sampleDependence(), "confusion": sampleConfusion(), "reliability": sampleReliability(),
	}
}

func sampleRegression(curves bool) Regression {
	z := draws()
	r := Regression{Border: 0.5, X: linspace(-1, 1, 201), CurveLabel: "NLL − true model's NLL (nats)"}
	noise := func(x float64) float64 { return 0.1 + 0.2*math.Pow(math.Sin(2*math.Pi*x-math.Pi/2), 2) }
	for i := range 400 {
		x := float64(i)/400 - 0.5
		r.DataX, r.DataY = append(r.DataX, x), append(r.DataY, x+noise(x)*z())
	}
	for k, name := range []string{"(a)  SMP, closed form", "(b)  MC, 3 samples", "(c)  UT, 3 sigma points"} {
		p := RegressionPanel{Title: name, Colour: Series(k)}
		c := Curve{Name: []string{"SMP", "MC3", "UT"}[k], Colour: Series(k)}
		for _, x := range r.X {
			wiggle := 0.0
			if k == 1 {
				wiggle = 0.04 * z()
			}
			p.Mean = append(p.Mean, x+wiggle)
			p.SD = append(p.SD, noise(min(max(x, -0.5), 0.5))+max(0, math.Abs(x)-0.5))
			p.Truth = append(p.Truth, math.Hypot(noise(x), wiggle))
		}
		for e := range 100 {
			m := 0.005 + 0.15*math.Exp(-float64(e)/9) + 0.001*math.Abs(z())
			c.X = append(c.X, float64(e+1))
			c.Mean = append(c.Mean, m)
			c.Lo = append(c.Lo, m*0.6)
			c.Hi = append(c.Hi, m*1.6)
		}
		r.Panels = append(r.Panels, p)
		if curves {
			r.Curves = append(r.Curves, c)
		}
	}
	return r
}

func sampleSweep() Sweep {
	s := Sweep{NLLLevels: []Level{{"UT, 3 sigma points", Series(2), 0.0045, 0.002, false}, {"SMP, closed form", Series(0), 0.0047, 0.0015, true}},
		TimeLevels: []Level{{"UT, 3 sigma points", Series(2), 1.05, 0, false}, {"SMP, closed form", Series(0), 1, 0, true}}}
	for e := 1.0; e <= 8; e++ {
		n := math.Exp2(e)
		s.N = append(s.N, n)
		s.NLL = append(s.NLL, 0.0045+0.008/n)
		s.NLLSD = append(s.NLLSD, 0.001+0.002/math.Sqrt(n))
		s.Time = append(s.Time, 0.9+0.07*n)
		s.SE = append(s.SE, 0.11/math.Sqrt(n))
		s.RootLaw = append(s.RootLaw, 0.1/math.Sqrt(n))
	}
	return s
}

func sampleMaps(shared bool) Maps {
	m := Maps{Label: "variance of the position (px²)", Shared: shared}
	z := draws()
	for k, title := range []string{"(a)  exact bound", "(b)  UT, 3 sigma points", "(c)  MC, 10 samples"} {
		x := Map{Title: title, Width: 8}
		for i := range 64 {
			dx, dy := float64(i%8)-3.5, float64(i/8)-3.5
			x.Values = append(x.Values, (0.012+0.0000*dx+0.0011*(dx*dx+dy*dy))*(1+float64(k)*0.08*math.Abs(z())*float64(k*k)))
		}
		m.Maps = append(m.Maps, x)
	}
	return m
}

func sampleImages() Maps {
	m := Maps{Plain: true}
	z := draws()
	for range 12 {
		x := Map{Width: 8, Marks: [][2]float64{{1.5 * z(), 1.5 * z()}}}
		for i := range 64 {
			dx, dy := float64(i%8)-3.5-x.Marks[0][0], float64(i/8)-3.5-x.Marks[0][1]
			mean := 14 * math.Exp(-(dx*dx+dy*dy)/2.2)
			x.Values = append(x.Values, math.Round(max(0, mean+math.Sqrt(mean)*z())))
		}
		m.Maps = append(m.Maps, x)
	}
	return m
}

func sampleStarved() Grid {
	plain := Trace{Name: "no output nonlinearity", Colour: Ink, Style: Marks}
	physics := Trace{Name: "physics-informed", Colour: Series(2), Style: Marks}
	for e := 5.0; e <= 13; e++ {
		for i, t := range []*Trace{&plain, &physics} {
			y := (22 - 7*float64(i)) * math.Exp2(-(e-5)/(5-1.2*float64(i)))
			t.X = append(t.X, math.Exp2(e))
			t.Y = append(t.Y, y)
			t.SD = append(t.SD, 0.1*y)
		}
	}
	return Grid{Charts: []Chart{{X: Axis{Label: "training pairs", Scale: Log2}, Y: Axis{Label: "best position NLL (nats)"}, Traces: []Trace{plain, physics}}}}
}

func sampleForest() Forest {
	f := Forest{Title: "regression", X: Axis{Label: "best NLL − true model's (nats)"}, LineName: "UT, κ = 2", Line: 0.0045}
	for i, name := range []string{"UT, κ = 2", "SMP, closed form", "UT, learned κ", "Gauss–Hermite, 5 points", "Gauss–Hermite, 9 points", "generalized UT", "linear", "MC, 10 samples", "MC, 3 samples", "Bayes by backprop (weight sampling)"} {
		f.Rows = append(f.Rows, ForestRow{name, 0.0045 + 0.0003*float64(i*i)/4, 0.0008 + 0.0001*float64(i), map[bool]int{false: 0, true: 1}[i >= 7]})
	}
	return f
}

func sampleEpochs() Grid {
	c := Chart{X: Axis{Label: "epoch"}, Y: Axis{Label: "validation NLL (nats)"}}
	for _, k := range sampleRegression(true).Curves {
		c.Traces = append(c.Traces, Trace{Name: k.Name, Colour: k.Colour, X: k.X, Y: k.Mean, Lo: k.Lo, Hi: k.Hi})
	}
	return Grid{Charts: []Chart{c}}
}

func sampleFit() Grid {
	z := draws()
	var actual, mean, sd, pit []float64
	for range 3000 {
		m, s := 20+8*z(), 0.8+math.Abs(z())
		actual = append(actual, m+s*z())
		mean = append(mean, m)
		sd = append(sd, s)
		pit = append(pit, special.CDF((actual[len(actual)-1]-m)/(1.15*s)))
	}
	nominal, observed := linspace(0.05, 0.95, 19), []float64{}
	for _, p := range nominal {
		observed = append(observed, p+0.12*p*(1-p))
	}
	step := linspace(100, 4000, 40)
	var train, val []float64
	for i := range step {
		train, val = append(train, 2+3*math.Exp(-step[i]/600)+0.03*z()), append(val, 2.2+3*math.Exp(-step[i]/600)+step[i]*5e-5+0.02*z())
	}
	return Grid{Charts: []Chart{PredictedActual(actual, mean, sd, "strength (MPa)"), Calibration(nominal, observed, 300), PIT(pit[:400]),
		Training("negative log-likelihood (nats)", step, train, val, step[17])}}
}

func sampleDependence() Grid {
	var charts []Chart
	for k := range 7 {
		x := linspace(0, 3, 40)
		var m, lo, hi []float64
		for _, v := range x {
			y, sd := 20+5*math.Sin(v*float64(k)/2), 1+0.3*v
			m = append(m, y)
			lo = append(lo, y-sd)
			hi = append(hi, y+sd)
		}
		charts = append(charts, Dependence(Axis{Label: fmt.Sprintf("column %d", k+1)}, Axis{Label: "strength (MPa)"}, x, m, lo, hi))
	}
	charts = append(charts, Dependence(Axis{Label: "kind", Names: []string{"coarse", "fine", "other"}}, Axis{Label: "strength (MPa)"}, []float64{0, 1, 2}, []float64{18, 22, 20}, []float64{16, 21, 17}, []float64{20, 23, 23}))
	return Grid{Charts: SameY(charts)}
}

func sampleConfusion() Confusion {
	return Confusion{Classes: []string{"setosa", "versicolor", "virginica"}, Counts: [][]int{{50, 0, 0}, {0, 46, 4}, {0, 3, 47}}}
}

func sampleReliability() Grid {
	return Grid{Charts: []Chart{Reliability([]float64{0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95}, []float64{0.3, 0.5, 0.52, 0.6, 0.78, 0.83, 0.97}, []int{10, 20, 22, 40, 50, 90, 400})}}
}

// With REPORT_GALLERY=folder the figures and a page are written there, to look at.
func TestGallery(t *testing.T) {
	dir := os.Getenv("REPORT_GALLERY")
	if dir == "" {
		t.Skip("REPORT_GALLERY names no folder")
	}
	for name, f := range gallery() {
		if err := Save(filepath.Join(dir, name+".png"), f); err != nil {
			t.Error(err)
		}
		if n, ok := f.(Narrower); ok {
			if err := Save(filepath.Join(dir, name+"-narrow.png"), n.Narrow()); err != nil {
				t.Error(err)
			}
		}
	}
	if err := samplePage().Save(filepath.Join(dir, "page.html")); err != nil {
		t.Error(err)
	}
}
