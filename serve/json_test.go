package serve_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"utvi/predict"
	"utvi/serve"
)

// Answers have the bits of package predict, whatever they are batched with: rows of
// several clients, of several sizes, with other options.
func TestBits(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	rows := named(1500, 7)
	for name, path := range map[string]string{"strength": strength(), "resin": resin()} {
		ask := []struct {
			o   predict.Options
			ask map[string]any
		}{
			{predict.Options{}, map[string]any{}},
			{predict.Options{Interval: 0.5, MaxOOD: 0.9}, map[string]any{"interval": 0.5, "max_ood": 0.9}},
		}
		if name == "strength" {
			ask = append(ask, struct {
				o   predict.Options
				ask map[string]any
			}{predict.Options{Quantiles: []float64{0.05, 0.7}, MaxStd: 1}, map[string]any{"quantiles": []float64{0.05, 0.7}, "max_std": 1}})
		}
		var want [][]predict.Prediction
		for _, a := range ask {
			all, err := predictor(t, path, a.o).Rows(t.Context(), rows)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, all)
		}
		var wg sync.WaitGroup
		for client := range 8 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(client)))
				for range 25 {
					k := random.IntN(len(ask))
					n := 1 + random.IntN(10)
					if random.IntN(8) == 0 {
						n = 300 + random.IntN(900) // more than a piece
					}
					lo := random.IntN(len(rows) - n)
					q := map[string]any{"rows": rows[lo : lo+n]}
					for key, v := range ask[k].ask {
						q[key] = v
					}
					a, code := r.predict(name, q)
					if err := compare(a, want[k][lo:lo+n], len(ask[k].o.Quantiles)); code != 200 || err != nil {
						t.Errorf("%s, %d rows: %d %v", name, n, code, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// Networks take lists of numbers, with variances or without.
func TestNetwork(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	p := predictor(t, network(), predict.Options{})
	rows := [][]float64{{0.5, -1, 2}, {1e-3, 4, 0}}
	want, err := p.Numbers(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := r.predict("net", map[string]any{"rows": rows})
	if err := compare(a, want, 0); err != nil {
		t.Error(err)
	}
	b, _ := r.predict("net", map[string]any{"variances": [][]float64{{0.1, 0.2, 0.3}, {0, 0, 1}}, "rows": rows})
	for i := range b.Predictions {
		x, y := a.Predictions[i].Targets["y1"], b.Predictions[i].Targets["y1"]
		if !(y.Std > x.Std) || y.Variance.Inputs == 0 {
			t.Errorf("row %d: std %v without and %v with variances of the inputs", i, x.Std, y.Std)
		}
	}
	if a.Predictions[0].OOD != nil {
		t.Error("a network says what the ood of a row is")
	}
}

// A density integrates to one and lies around the mean.
func TestDensity(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	a, _ := r.predict("strength", map[string]any{"rows": named(3, 2), "density": 401})
	for i, p := range a.Predictions {
		x := p.Targets["strength"]
		d := x.Density
		step := (d.To - d.From) / float64(len(d.Values)-1)
		var sum, mean float64
		for k, v := range d.Values {
			sum += v * step
			mean += v * step * (d.From + float64(k)*step)
		}
		if len(d.Values) != 401 || sum < 0.997 || sum > 1.001 || mean/sum < x.Mean-0.05*x.Std || mean/sum > x.Mean+0.05*x.Std {
			t.Errorf("row %d: %d points, integral %v, mean %v for %v ± %v", i, len(d.Values), sum, mean/sum, x.Mean, x.Std)
		}
	}
}

// GET /models says what a page needs.
func TestModels(t *testing.T) {
	c := serve.Config{Models: []serve.Source{{Name: "s", Version: "2", Path: strength()}, {Name: "s", Version: "10", Path: another()}, {Name: "net", Path: network()}, {Name: "resin", Path: resin()}}}
	r := start(t, c, serve.Listen{})
	_, _, text := r.send("GET", "/models", "")
	var got struct {
		Models []struct {
			Name, Version, Kind, Task string
			Versions                  []string
			Networks, Rows            int
			Scores                    []any
			Input                     struct{ Size int }
			Columns, Targets          []struct {
				Name, Type     string
				Min, Max, Mean *float64
				Whole, Other   bool
				Typical        any
				Levels         []string
				StdIn          string `json:"std_in"`
				StdOf          string `json:"std_of"`
				Histogram      struct {
					From, To float64
					Counts   []int
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Models) != 3 {
		t.Fatalf("%v: %s", err, text)
	}
	s := got.Models[0]
	if s.Name != "s" || s.Version != "10" || strings.Join(s.Versions, " ") != "10 2" || s.Kind != "table" || s.Task != "regression" || s.Networks != 2 || s.Rows != 270 || len(s.Scores) != 1 {
		t.Errorf("model: %+v", s)
	}
	if len(s.Columns) != 4 || s.Columns[0].StdIn != "temperature_std" || s.Columns[1].StdOf != "temperature" || !s.Columns[2].Whole || s.Columns[3].Typical == nil || len(s.Columns[3].Levels) != 3 || !s.Columns[3].Other {
		t.Errorf("columns: %+v", s.Columns)
	}
	for _, c := range append(s.Columns, s.Targets...) {
		n := 0
		for _, k := range c.Histogram.Counts {
			n += k
		}
		if n != 270 || c.Type == "numeric" && (c.Min == nil || c.Histogram.From > *c.Min || c.Histogram.To < *c.Max) {
			t.Errorf("column %s: the histogram has %d rows: %+v", c.Name, n, c)
		}
	}
	if n := got.Models[1]; n.Kind != "network" || n.Input.Size != 3 || len(n.Targets) != 2 || n.Targets[0].Name != "y1" {
		t.Errorf("network: %+v", n)
	}
	if c := got.Models[2]; c.Task != "classification" || strings.Join(c.Targets[0].Levels, " ") != "amber birch cedar" || c.Targets[0].Other {
		t.Errorf("classes: %+v", c)
	}
	for path, digest := range map[string]string{"/models/s/versions/2": "2", "/models/s": "10"} {
		_, _, text := r.send("GET", path, "")
		var one struct{ Version string }
		if json.Unmarshal([]byte(text), &one); one.Version != digest {
			t.Errorf("%s: %s", path, text)
		}
	}
	old, _ := r.predict("s/versions/2", map[string]any{"rows": named(1, 1)})
	latest, _ := r.predict("s", map[string]any{"rows": named(1, 1)})
	if old.Version != "2" || latest.Version != "10" || old.Predictions[0].Targets["strength"].Mean == latest.Predictions[0].Targets["strength"].Mean {
		t.Errorf("versions: %+v, %+v", old, latest)
	}
}
