package tabular

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/rng"
)

// crossed are rows of an input and two columns of levels, of which every row has one each.
func crossed(n, a, b int, first, second float64) Data {
	d := rowsOf(n, 3)
	d.Levels = []int{a + 1, 0, b + 1}
	key := rng.New(5)
	for i := range n {
		la, lb := i%a, (i*7919/a)%b
		x := rng.Normal(key, uint64(2*i))
		d.X.Mean[3*i] = float32(la)
		d.X.Mean[3*i+1] = float32(x)
		d.X.Mean[3*i+2] = float32(lb)
		d.Y[i] = float32(0.2 + 0.4*x + first*rng.Normal(key.Sub(1, 0), uint64(la)) + second*rng.Normal(key.Sub(2, 0), uint64(lb)) + 0.6*rng.Normal(key, uint64(2*i+1)))
	}
	return d
}

// The variances of effects, of the noise and the line are those that made the rows, of crossed columns too;
// a column without effect has hardly any.
func TestMixed(t *testing.T) {
	for _, c := range []struct{ first, second float64 }{{0.7, 0}, {0.5, 0.3}, {0, 0}} {
		m := newRandomEffects(crossed(4000, 800, 50, c.first, c.second))
		for k, want := range []float64{c.first * c.first, c.second * c.second} {
			if got := m.effects[k].size; math.Abs(got-want) > 0.25*want+0.01 {
				t.Errorf("%v: column %d has variance %.4f, want %.4f", c, k, got, want)
			}
		}
		if math.Abs(m.noise-0.36) > 0.03 || math.Abs(m.line[0]-0.4) > 0.04 {
			t.Errorf("%v: noise %.3f, line %.3f", c, m.noise, m.line)
		}
	}
}

// The network predicts what the formulas of a mixed model of one column say, with the doubt of a level.
func TestMixedNet(t *testing.T) {
	d := crossed(2000, 400, 50, 0.7, 0)
	m := newRandomEffects(d)
	c := Candidate{Noise: Heteroscedastic, Common: common, Kernel: mixedKernel}
	net, err := c.mixedNet(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []int{3, 77, 400} { // nobody has the last
		out := net.NewPredictor(1).Predict(gauss.Fixed(3, []float32{float32(level), 0.5, 2}))
		a, b := m.effects[0], m.effects[1]
		mean := m.line[0]*0.5 + m.line[1] + a.mean[level] + b.mean[2]
		v := a.v[level] + b.v[2] + m.doubt[0]*0.25 + m.doubt[1]
		if math.Abs(float64(out.Mean[0])-mean) > 1e-4 || math.Abs(float64(out.Var[0])-v) > 1e-3*v || math.Abs(float64(out.Mean[1])-math.Log(m.noise)) > 1e-4 {
			t.Errorf("level %d: %v ± %v, want %v ± %v", level, out.Mean, out.Var, mean, v)
		}
		if rows := a.rows[level]; rows > 0 {
			if want := 1 / (rows/m.noise + 1/a.size); math.Abs(a.v[level]-want) > 0.01*want {
				t.Errorf("a level of %g rows has variance %v, want %v", rows, a.v[level], want)
			}
		} else if math.Abs(a.v[level]-a.size) > 0.01*a.size || a.mean[level] != 0 {
			t.Errorf("a level without rows is %v ± %v, want 0 ± %v", a.mean[level], a.v[level], a.size)
		}
	}
}

// Members that embed levels take as many steps as their trial, in which held-out rows judged them; others
// may take more, unless they got worse early.
func TestStepsOfEmbeddedLevels(t *testing.T) {
	r := &run{data: crossed(40, 10, 5, 0, 0)}
	plain := &run{data: rowsOf(40, 3)}
	for _, x := range []*run{r, plain} {
		x.trial = 300
		x.Steps = 900
	}
	for _, c := range []struct {
		run  *run
		of   Trial
		want int
	}{
		{r, Trial{Stop: stops}, 300},
		{r, Trial{Stop: stops, Candidate: Candidate{NoLevels: true}}, 900},
		{plain, Trial{Stop: stops}, 900},
		{plain, Trial{Stop: stops / 2}, 300},
	} {
		if got := c.run.schedule(c.of); got != c.want {
			t.Errorf("%+v: %d steps, want %d", c.of, got, c.want)
		}
	}
}
