package experiment

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Stat is a number over replicates.
type Stat struct {
	Mean   float64   `json:"mean"`
	SD     float64   `json:"sd"` // n−1; 0 for one number
	Values []float64 `json:"values"`
}

func (s *Stat) add(x float64) {
	s.Values = append(s.Values, x)
	s.Mean, s.SD = meanSD(s.Values)
}

// format is mean ± sd, each formatted by verb; the number alone if there is one, and
// "none" without numbers.
func (s Stat) format(verb string) string {
	switch len(s.Values) {
	case 0:
		return "none"
	case 1:
		return fmt.Sprintf(verb, s.Mean)
	}
	return fmt.Sprintf(verb+" ± "+verb, s.Mean, s.SD)
}

// below compares scores. A method without scores is worse than one that has some.
func (s Stat) below(o Stat) bool {
	return len(s.Values) > 0 && (len(o.Values) == 0 || s.Mean < o.Mean)
}

// ofReplicates explains the numbers of Stat.format.
func ofReplicates(n int) string {
	if n == 1 {
		return "one replicate"
	}
	return fmt.Sprintf("mean ± sd of %d replicates", n)
}

// interval is Student's 95 % interval of the mean; ok is false with fewer than two
// numbers.
func (s Stat) interval() (lo, hi float64, ok bool) {
	n := float64(len(s.Values))
	if n < 2 {
		return s.Mean, s.Mean, false
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * s.SD / math.Sqrt(n)
	return s.Mean - half, s.Mean + half, true
}

// intervalText is the interval in words, to follow the mean. It gives the number of
// replicates, because an interval of two is very wide.
func (s Stat) intervalText(verb string) string {
	lo, hi, ok := s.interval()
	if !ok {
		return " (no interval from fewer than two replicates)"
	}
	return fmt.Sprintf(" (95 %% interval "+verb+" to "+verb+", %d replicates)", lo, hi, len(s.Values))
}

// meanSD returns the mean and the n−1 standard deviation, 0 for one number.
func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(x)-1))
}

// auroc is the area under the receiver operating characteristic: the probability
// that one of high exceeds one of low, ties counting half. It is computed from
// ranks (Mann–Whitney).
func auroc(low, high []float64) float64 {
	low = slices.Clone(low)
	slices.Sort(low)
	var sum float64
	for _, x := range high {
		below, _ := slices.BinarySearch(low, x)
		upTo := below
		for upTo < len(low) && low[upTo] == x {
			upTo++
		}
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(low)) / float64(len(high))
}
