package metric

import (
	"fmt"
	"math"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

// inGroups counts the coverage in a study: groups of the given sizes, whose errors have the
// correlation rho within a group. Every prediction is right on its own, so the true coverage is
// the level.
func inGroups(study int, sizes []int, rho, level float64, known bool) CoverageScore {
	var c Coverage
	lo, hi := dist.Interval(&dist.Normal{Sigma: 1}, level)
	key := rng.New(uint64(study))
	n := uint64(0)
	draw := func() float64 { n++; return rng.Normal(key, n) }
	for g, size := range sizes {
		group := Group(0)
		if known {
			group = GroupOf(fmt.Sprint("group ", g))
		}
		common := math.Sqrt(rho) * draw()
		for range size {
			c.AddIn(group, common+math.Sqrt(1-rho)*draw(), lo, hi, 1)
		}
	}
	return c.Score(level)
}

// The band holds the true coverage in 95 % of studies of correlated groups. If their rows are
// taken as independent, it does not.
func TestBandOfGroups(t *testing.T) {
	const studies = 800
	se := math.Sqrt(0.95 * 0.05 / studies)
	for _, c := range []struct {
		groups, small, large int
		rho                  float64
	}{{40, 10, 10, 0.8}, {40, 4, 16, 0.8}, {12, 20, 20, 0.5}, {12, 1, 1, 0.5}} {
		var sizes []int
		for g := range c.groups {
			sizes = append(sizes, c.small)
			if g%2 == 1 {
				sizes[g] = c.large
			}
		}
		for _, level := range levels[:2] {
			held, naive := 0.0, 0.0
			for study := range studies {
				if inGroups(study, sizes, c.rho, level, true).Within() {
					held += 1. / studies
				}
				if inGroups(study, sizes, c.rho, level, false).Within() {
					naive += 1. / studies
				}
			}
			t.Logf("%+v, level %g: %.3f by groups, %.3f by rows", c, level, held, naive)
			// Few groups know their scatter roughly, so a twentieth may be lacking.
			if held < 0.90-4*se {
				t.Errorf("%+v, level %g: the band holds it in %.3f of the studies", c, level, held)
			}
			if c.large > 1 && naive > 0.85 {
				t.Errorf("%+v, level %g: the rows are as good as independent (%.3f)", c, level, naive)
			}
		}
	}
}

// Groups of one row each have the standard errors of rows; the order of merging does not
// matter, and the rows of a group may come apart.
func TestGroupsAndRows(t *testing.T) {
	rows := simulate(200, 1, one)
	single, joint := new(Regression), new(Regression)
	var parts [3]Regression
	key := rng.New(7)
	for i := range 200 {
		mu := 3 * math.Sin(float64(i))
		d := &dist.Normal{Mu: mu, Sigma: 1}
		y := mu + rng.Normal(key, uint64(i))
		single.AddIn(Group(i+1), y, d, 1)
		joint.AddIn(Group(i%20+1), y, d, 1)
		parts[i%3].AddIn(Group(i%20+1), y, d, 1)
	}
	a, b := rows.Scores(), single.Scores()
	near(t, "se of LL", b.LL.SE, a.LL.SE, 1e-9)
	near(t, "se of RMSE", b.RMSE.SE, a.RMSE.SE, 1e-9)
	var all Regression
	for i := range parts {
		all.Merge(&parts[i])
	}
	c, d := joint.Scores(), all.Scores()
	near(t, "merged se of LL", d.LL.SE, c.LL.SE, 1e-9)
	near(t, "merged band", d.Intervals[1].Low, c.Intervals[1].Low, 1e-9)
	if c.Intervals[0].Groups != 20 || d.Intervals[0].Groups != 20 || a.Intervals[0].Groups != 0 {
		t.Errorf("%d, %d and %d groups", c.Intervals[0].Groups, d.Intervals[0].Groups, a.Intervals[0].Groups)
	}
	if n := parts[0].Scores().Rows; n != 67 {
		t.Errorf("merging changed a part: %d rows", n)
	}
	near(t, "rows of the band", a.Intervals[1].Rows(), 200, 1e-6)
}

// One group says nothing about others; groups that all agree count as a row each.
func TestFewGroups(t *testing.T) {
	var one, agree Coverage
	for i := range 50 {
		one.AddIn(1, 0, -1, 1, 1)
		agree.AddIn(Group(i%10+1), 0, -1, 1, 1)
	}
	if s := one.Score(0.9); s.Low != 0 || s.High != 1 || s.Band() != "95 % within 0.0 … 100.0, from 1 group" {
		t.Errorf("%+v, %s", s, s.Band())
	}
	s := agree.Score(0.9)
	low, _ := Wilson(1, 10*math.Pow(1.959963984540054/2.2621571628540993, 2)) // Student's quantile of 9 degrees
	near(t, "low", s.Low, low, 1e-9)
	if s.Band() != fmt.Sprintf("95 %% within %.1f … 100.0, from 10 groups", 100*low) {
		t.Error(s.Band())
	}
}
