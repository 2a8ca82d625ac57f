package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"utvi/fit"
	"utvi/fn"
	"utvi/internal/demo"
	"utvi/internal/tabular"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
	"utvi/serve"
	"utvi/table"
)

// frame is the tutorial's table.
func frame(n int, seed uint64) *table.Frame {
	var b bytes.Buffer
	if err := demo.Table(&b, n, seed, false); err != nil {
		panic(err)
	}
	r, err := table.NewReader(&b, "resin.csv", table.Options{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		panic(err)
	}
	return f
}

func fitted(target string, members int, seed uint64) *fit.Model {
	quick := tabular.Config{Ensemble: members, KL: 0.3, Activation: "leaky-relu", Depth: 2, Width: 50, Steps: 40, Batch: 64}
	if target == "strength" {
		quick.Noise = tabular.Heteroscedastic
	}
	r, err := fit.Run(context.Background(), frame(300, 1), fit.Config{Targets: []string{target}, Seed: seed, Network: quick}, fit.Options{})
	if err != nil {
		panic(err)
	}
	return r.Model
}

// folder holds the model files of all tests, made when first asked for.
var folder string

func file(name string, save func(path string) error) func() string {
	return sync.OnceValue(func() string {
		path := filepath.Join(folder, name)
		if err := save(path); err != nil {
			panic(err)
		}
		return path
	})
}

var (
	strength = file("strength.utvi", func(p string) error { return fitted("strength", 5, 1).Save(p) })
	another  = file("another.utvi", func(p string) error { return fitted("strength", 2, 9).Save(p) })
	resin    = file("resin.utvi", func(p string) error { return fitted("resin", 2, 1).Save(p) })
	network  = file("net.safetensors", func(p string) error {
		n, err := model.New(model.Config{Input: nn.Vec(3), Layers: nn.Chain{nn.Dense{Out: 20}, nn.Apply{F: fn.LeakyReLU(0.1)}, nn.Dense{Out: 2}}, Seed: 4})
		if err != nil {
			return err
		}
		n.Likelihood = likelihood.Normal{}
		return n.Save(p)
	})
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		folder, err = os.MkdirTemp("", "serve")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		return m.Run()
	}())
}

func sources() []serve.Source {
	return []serve.Source{{Name: "strength", Path: strength()}, {Name: "resin", Path: resin()}, {Name: "net", Path: network()}}
}

// A running server is stopped when its test ends.
type running struct {
	t          testing.TB
	http, grpc string
	log        *safeBuffer
	stop       context.CancelFunc
	ended      chan error
}

// safeBuffer is a log that can be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func start(t testing.TB, c serve.Config, at serve.Listen) *running {
	t.Helper()
	r := &running{t: t, log: &safeBuffer{}, ended: make(chan error, 1)}
	if c.Models == nil {
		c.Models = sources()
	}
	c.Log = slog.New(slog.NewTextHandler(r.log, nil))
	s, err := serve.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if at.HTTP == "" {
		at.HTTP = "127.0.0.1:0"
	}
	if at.GRPC == "" {
		at.GRPC = "127.0.0.1:0"
	}
	ready := make(chan struct{})
	at.Ready = func(http, grpc net.Addr) {
		r.http, r.grpc = "http://"+http.String(), grpc.String()
		close(ready)
	}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() { r.ended <- s.Run(ctx, at) }()
	select {
	case <-ready:
	case err := <-r.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.stop()
		select {
		case err := <-r.ended:
			if err != nil {
				t.Errorf("the server ended with: %v", err)
			}
		case <-time.After(serve.Patience):
			t.Error("the server did not end")
		}
	})
	return r
}

// send sends a request and returns status, header and body.
func (r *running) send(method, path, body string, header ...string) (int, http.Header, string) {
	r.t.Helper()
	q, err := http.NewRequest(method, r.http+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Errorf("%s %s: %v", method, path, err)
		return 0, nil, ""
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Errorf("%s %s: %v", method, path, err)
	}
	return a.StatusCode, a.Header, string(text)
}

// answer is what POST /predict returns.
type answer struct {
	Model, Version string
	Interval       float64
	Predictions    []struct {
		Targets map[string]struct {
			Mean, Std     float64
			Interval      [2]float64
			Variance      predict.Parts
			Quantiles     []float64
			Class         string
			Probabilities map[string]float64
			Entropy       float64
			Density       struct {
				From, To float64
				Values   []float64
			}
		}
		OOD     *float64
		Abstain bool
	}
	Error string
}

func (r *running) predict(name string, ask any) (answer, int) {
	r.t.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		r.t.Fatal(err)
	}
	code, _, text := r.send("POST", "/predict/"+name, string(body))
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		r.t.Errorf("%d %s: %v", code, text, err)
	}
	return a, code
}

// named returns rows of the tutorial's table as JSON objects.
func named(n int, seed uint64) (rows []map[string]any) {
	f := frame(n, seed)
	src := f.Rows(nil)
	for {
		c, err := src.Next()
		if err != nil {
			return rows
		}
		for row := range c.Rows() {
			m := map[string]any{}
			for col, name := range f.Header().Columns {
				if k, v := c.Cell(row, col); k == table.Number {
					m[name] = v
				} else {
					m[name] = c.Text(row, col)
				}
			}
			rows = append(rows, m)
		}
	}
}

func predictor(t testing.TB, path string, o predict.Options) *predict.Predictor {
	t.Helper()
	m, err := predict.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// compare reports the first bit in which an answer differs from predictions.
func compare(a answer, want []predict.Prediction, quantiles int) error {
	if len(a.Predictions) != len(want) {
		return fmt.Errorf("%d predictions for %d rows: %s", len(a.Predictions), len(want), a.Error)
	}
	same := func(what string, row int, got, want float64) error {
		if math.Float64bits(got) != math.Float64bits(want) {
			return fmt.Errorf("row %d: %s is %v, predict has %v", row, what, got, want)
		}
		return nil
	}
	for i, w := range want {
		g := a.Predictions[i]
		var all []error
		for _, n := range w.Numbers {
			x := g.Targets[n.Target]
			all = append(all, same("mean", i, x.Mean, n.Mean), same("std", i, x.Std, n.Std), same("lo", i, x.Interval[0], n.Lo), same("hi", i, x.Interval[1], n.Hi),
				same("weights", i, x.Variance.Weights, n.Variance.Weights), same("inputs", i, x.Variance.Inputs, n.Variance.Inputs), same("noise", i, x.Variance.Noise, n.Variance.Noise))
			if len(x.Quantiles) != quantiles {
				return fmt.Errorf("row %d: %d quantiles, want %d", i, len(x.Quantiles), quantiles)
			}
			for k := range x.Quantiles {
				all = append(all, same("quantile", i, x.Quantiles[k], n.Quantiles[k]))
			}
		}
		if c := w.Class; c != nil {
			x := g.Targets[c.Target]
			if x.Class != c.Class {
				return fmt.Errorf("row %d: class %s, predict has %s", i, x.Class, c.Class)
			}
			all = append(all, same("entropy", i, x.Entropy, c.Entropy))
			for k, name := range []string{"amber", "birch", "cedar"} {
				all = append(all, same("p("+name+")", i, x.Probabilities[name], c.Probabilities[k]))
			}
		}
		if g.OOD != nil {
			all = append(all, same("ood", i, *g.OOD, w.OOD))
		} else if !math.IsNaN(w.OOD) {
			return fmt.Errorf("row %d: ood is missing", i)
		}
		if g.Abstain != w.Abstain {
			return fmt.Errorf("row %d: abstain %v, predict has %v", i, g.Abstain, w.Abstain)
		}
		for _, err := range all {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
