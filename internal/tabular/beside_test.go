package tabular_test

import (
	"reflect"
	"sync"
	"testing"

	"utvi/engine"
	"utvi/internal/tabular"
)

// counted is the CPU; it notes how many trainings each job is to run beside.
type counted struct {
	engine.Engine[float32]
	mu   *sync.Mutex
	jobs map[int]int // by Beside
}

func (e counted) Train(n engine.Network[float32], j engine.Job) (engine.Trainer, error) {
	e.mu.Lock()
	e.jobs[j.Beside]++
	e.mu.Unlock()
	return e.Engine.Train(n, j)
}

// The engine knows how many members of an ensemble have the same shape, whatever the number
// of trainings that run at a time.
func TestMembersAreCounted(t *testing.T) {
	for _, parallel := range []int{1, 3} {
		c := quick
		c.Ensemble = 9
		c.Steps = 16
		c.Parallel = parallel
		e := counted{engine.CPU[float32](), new(sync.Mutex), map[int]int{}}
		c.Engine = e
		if _, err := tabular.Fit(t.Context(), c, wave(5, 60, 0.2), "", nil); err != nil {
			t.Fatal(err)
		}
		delete(e.jobs, 0) // of the choice
		if want := map[int]int{9: 9}; !reflect.DeepEqual(e.jobs, want) {
			t.Errorf("jobs by the number of trainings they run beside: %v, want %v", e.jobs, want)
		}
	}
}
