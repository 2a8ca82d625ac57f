package score

import (
	"math"
	"slices"
	"testing"
)

// The nearest two are paired first, nobody twice.
func TestMatch(t *testing.T) {
	found := []Point{{0, 0}, {1, 0}, {9, 9}}
	truth := []Point{{0.9, 0}, {5, 5}, {-0.5, 0}}
	if got, want := Match(found, truth, 2), []int{2, 0, -1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSummarise(t *testing.T) {
	all := []Error{{1, -1, 1, 1}, {2, 2, 1, 1}, {-3, 1, 2, 2}}
	s := Summarise(all, 4, 5)
	if s.Jaccard != 3./6 || math.Abs(s.RMSE-math.Sqrt(20./6)) > 1e-12 || math.Abs(s.Holds-4./6) > 1e-12 || math.Abs(s.HalfRMSE-math.Sqrt(10./4)) > 1e-12 {
		t.Errorf("%+v", s)
	}
	if math.Abs(s.Bias-2./3) > 1e-12 || s.Median != 1 {
		t.Errorf("%+v", s)
	}
}
