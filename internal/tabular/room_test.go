package tabular

import (
	"strings"
	"testing"

	"utvi/gauss"
)

// As many trainings run side by side as fit; a network of which none fits is refused.
func TestRoom(t *testing.T) {
	var jobs []*job
	for _, width := range []int{16, 100, 50} {
		j := &job{Candidate: Candidate{Width: width, Depth: 2}}
		j.train.X = gauss.Batch[float32]{Width: 10}
		jobs = append(jobs, j)
	}
	const need = 40 * (10*100 + 100*100)
	for free, want := range map[float64]int{3 * need: 3, 3*need - 1: 2, 2 * need: 2, need: 1, 100 * need: 3} {
		n, err := room(jobs, 3, free)
		if err != nil || n != want {
			t.Errorf("%d of 3 trainings fit into %g needs, %v; want %d", n, free/need, err, want)
		}
	}
	if n, err := room(nil, 0, 0); n != 0 || err != nil {
		t.Errorf("%d of no trainings, %v", n, err)
	}
	_, err := room(jobs, 3, need-1)
	if err == nil || !strings.HasPrefix(err.Error(), "to train a network of width 100 and depth 2 takes more than 0 MiB of memory") {
		t.Error(err)
	}
}
