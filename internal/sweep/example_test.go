package sweep_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"utvi/internal/sweep"
)

func Example() {
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	spec := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(spec, []byte("kind: double\ngrid: {x: [1, 5]}\nseeds: 2\n"), 0o666); err != nil {
		log.Fatal(err)
	}
	double := sweep.Kind{
		Name:  "double",
		Check: func(json.RawMessage) error { return nil },
		Run: func(_ context.Context, j sweep.Job) (sweep.Outcome, error) {
			var s struct{ X, Seed float64 }
			err := json.Unmarshal(j.Spec, &s)
			return sweep.Outcome{Metrics: map[string]float64{"y": 2*s.X + s.Seed}}, err
		},
	}
	s, err := sweep.LoadSpec(spec)
	if err != nil {
		log.Fatal(err)
	}
	trials, err := s.Trials([]sweep.Kind{double})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := sweep.NewPlan("study", trials...)
	if err != nil {
		log.Fatal(err)
	}
	r := sweep.Runner{Kinds: []sweep.Kind{double}, Dir: filepath.Join(dir, "trials")}
	if _, err := r.Run(context.Background(), plan); err != nil {
		log.Fatal(err)
	}
	sweep.Summarize(plan, sweep.Status(r.Dir, plan)).WriteMarkdown(os.Stdout)
	// Output:
	// # study
	//
	// All 4 trials are done.
	//
	// | group | trials | metric | mean ± se | sd |
	// |---|---:|---|---:|---:|
	// | x=1 | 2 | y | 3.5 ± 0.5 | 0.71 |
	// | x=5 | 2 | y | 11.5 ± 0.5 | 0.71 |
}

func ExampleNewTrial() {
	t := sweep.NewTrial("fc", "first", "all", 1, map[string]any{"rule": "ut(2)", "steps": 400})
	fmt.Println(t.ID(), string(t.Spec))
	// Output: first-936a74c6 {"rule":"ut(2)","steps":400}
}

func ExampleRanges() {
	fmt.Println(sweep.Ranges([]int{0, 2, 3, 4, 9}))
	// Output: 0,2-4,9
}
