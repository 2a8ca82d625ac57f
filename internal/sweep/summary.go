package sweep

import (
	"maps"
	"math"
	"slices"
)

// A Summary has the results of a plan, averaged over groups of replicates. It is
// partial unless all trials are done.
type Summary struct {
	Plan    string  `json:"plan"`
	Trials  int     `json:"trials"`
	Done    int     `json:"done"`
	Running string  `json:"running,omitempty"` // indices, as Ranges writes them
	Failed  string  `json:"failed,omitempty"`
	Missing string  `json:"missing,omitempty"`
	Groups  []Group `json:"groups"`

	All []TrialStatus `json:"-"`
}

// A Group are the trials of one configuration.
type Group struct {
	Name    string   `json:"name"`
	Trials  int      `json:"trials"`
	Done    int      `json:"done"`
	Metrics []Metric `json:"metrics"`
}

// A Metric is a number averaged over N trials. The standard deviation (n−1 in its
// denominator) and the standard error need at least two trials.
type Metric struct {
	Name string   `json:"name"`
	N    int      `json:"n"`
	Mean float64  `json:"mean"`
	SD   *float64 `json:"sd,omitempty"`
	SE   *float64 `json:"se,omitempty"`
}

// Summarize averages the results that exist. Groups are in the plan's order; a trial
// without a group forms one. Metrics are sorted by name.
func Summarize(p *Plan, all []TrialStatus) *Summary {
	s := &Summary{
		Plan: p.Name, Trials: len(all), Done: len(Indices(all, Done)), All: all,
		Running: Ranges(Indices(all, Running)), Failed: Ranges(Indices(all, Failed)), Missing: Ranges(Indices(all, Missing)),
	}
	place := map[string]int{}
	var found []map[string][]float64
	for _, x := range all {
		name := groupOf(x.Trial)
		i, ok := place[name]
		if !ok {
			i = len(s.Groups)
			place[name] = i
			s.Groups = append(s.Groups, Group{Name: name})
			found = append(found, map[string][]float64{})
		}
		s.Groups[i].Trials++
		if x.State != Done {
			continue
		}
		s.Groups[i].Done++
		for m, v := range x.Result.Metrics {
			found[i][m] = append(found[i][m], v)
		}
	}
	for i, f := range found {
		for _, name := range slices.Sorted(maps.Keys(f)) {
			s.Groups[i].Metrics = append(s.Groups[i].Metrics, average(name, f[name]))
		}
	}
	return s
}

// Partial reports whether some trials are not done.
func (s *Summary) Partial() bool { return s.Done < s.Trials }

func groupOf(t Trial) string {
	if t.Group != "" {
		return t.Group
	}
	return t.Name
}

func average(name string, x []float64) Metric {
	m := Metric{Name: name, N: len(x)}
	n := float64(len(x))
	for _, v := range x {
		m.Mean += v / n
	}
	if len(x) < 2 {
		return m
	}
	var sum float64
	for _, v := range x {
		sum += (v - m.Mean) * (v - m.Mean)
	}
	sd := math.Sqrt(sum / (n - 1))
	se := sd / math.Sqrt(n)
	m.SD, m.SE = &sd, &se
	return m
}
