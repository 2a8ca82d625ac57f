package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"utvi/engine"
	"utvi/fit"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/delimited"
	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/rng"
	"utvi/table"
)

// A PredictReport is what `utvi bench predict --json` prints.
type PredictReport struct {
	Members int          `json:"members"`
	Inputs  int          `json:"inputs"`
	Ways    []PredictWay `json:"ways"`
}

// A PredictWay says how fast rows in memory are predicted in one way: by the clock on the
// wall, the median of three runs.
type PredictWay struct {
	Device        string  `json:"device"`
	Threads       int     `json:"threads"`   // of the host
	Intervals     bool    `json:"intervals"` // 90 % intervals, besides mean and variance
	Rows          int     `json:"rows"`
	RowsPerSecond float64 `json:"rows_per_second"`
	Times         float64 `json:"times_two_cores"` // the first way of the same output has
}

// PredictOptions choose what predictions are measured.
type PredictOptions struct {
	Rows     int                    // on all threads and on a card; 0 stands for 10⁷
	Engine   engine.Engine[float32] // of a card; nil: none
	Card     string                 // its name
	Progress func(done, total int, what string)

	steps int // of tests, which need no good model
}

// fewerRows is how much fewer rows two threads predict.
const fewerRows = 32

// Predict measures predictions of a model of five networks, 2×50 GELU units with
// correlations, that is fitted to a small table of ten columns first.
func Predict(ctx context.Context, o PredictOptions) (*PredictReport, error) {
	m, err := predictedModel(ctx, cmp.Or(o.steps, 200))
	if err != nil {
		return nil, err
	}
	r := &PredictReport{Members: len(m.Networks.Members), Inputs: m.Inputs()}
	rows := cmp.Or(o.Rows, 10_000_000)
	x := gauss.Fixed(m.Inputs(), make([]float32, rows*m.Inputs()))
	for i := range x.Mean {
		x.Mean[i] = float32(i*7919%10007)/5003.5 - 1
	}
	const two = 2
	ways := []PredictWay{{Device: "cpu", Threads: two, Rows: max(1, rows/fewerRows)}}
	if all := runtime.GOMAXPROCS(0); all > two {
		ways = append(ways, PredictWay{Device: "cpu", Threads: all, Rows: max(1, rows*min(all, fewerRows)/fewerRows/2)})
	}
	cpus := len(ways)
	if o.Engine != nil {
		ways = append(ways, PredictWay{Device: o.Card, Threads: runtime.GOMAXPROCS(0), Rows: rows})
	}
	total := 2 * len(ways)
	for i, w := range ways {
		if i == cpus {
			if err := m.Use(o.Engine); err != nil {
				return nil, err
			}
		}
		for _, intervals := range []bool{false, true} {
			w.Intervals = intervals
			if o.Progress != nil {
				o.Progress(len(r.Ways), total, fmt.Sprintf("%s, %d threads", w.Device, w.Threads))
			}
			if err := w.measure(ctx, m, x.Slice(0, w.Rows)); err != nil {
				return nil, err
			}
			w.Times = 1
			if k := slices.IndexFunc(r.Ways, func(a PredictWay) bool { return a.Intervals == intervals }); k >= 0 {
				w.Times = w.RowsPerSecond / r.Ways[k].RowsPerSecond
			}
			r.Ways = append(r.Ways, w)
		}
	}
	return r, nil
}

// measure predicts rows three times, after a few to warm up.
func (w *PredictWay) measure(ctx context.Context, m *predict.Model, x gauss.Batch[float32]) error {
	o := predict.Options{Interval: -1}
	if w.Intervals {
		o.Interval = 0.9
	}
	p, err := m.NewPredictor(o)
	if err != nil {
		return err
	}
	pool := compute.NewPool(w.Threads)
	defer pool.Close()
	out := make([]predict.Number, x.Rows)
	run := func(x gauss.Batch[float32]) (float64, error) {
		begin := time.Now()
		err := p.EachOn(ctx, x, pool, func(b *predict.Batch, first int) error {
			for i := range b.Len() {
				out[first+i] = b.Numbers(i)[0]
			}
			return nil
		})
		return time.Since(begin).Seconds(), err
	}
	if _, err := run(x.Slice(0, min(x.Rows, 2*w.Threads*table.MaxRows))); err != nil {
		return err
	}
	var times []float64
	for range 3 {
		s, err := run(x)
		if err != nil {
			return err
		}
		times = append(times, s)
	}
	slices.Sort(times)
	w.RowsPerSecond = float64(x.Rows) / times[1]
	return nil
}

// predictedModel fits the function friedman1.
func predictedModel(ctx context.Context, steps int) (*predict.Model, error) {
	const rows, inputs = 1000, 10
	var text delimited.Lines
	for j := range inputs {
		text.Text(fmt.Sprint("x", j))
	}
	text.Text("y")
	text.End()
	key := rng.New(1)
	for i := range rows {
		var x [inputs]float64
		for j := range x {
			x[j] = rng.Uniform(key, uint64(16*i+j))
			text.Float(x[j])
		}
		text.Float(10*math.Sin(math.Pi*x[0]*x[1]) + 20*(x[2]-0.5)*(x[2]-0.5) + 10*x[3] + 5*x[4] + rng.Normal(key, uint64(16*i+15)))
		text.End()
	}
	var b bytes.Buffer
	if err := text.Flush(&b); err != nil {
		return nil, err
	}
	r, err := table.NewReader(&b, "friedman1", table.Options{})
	if err != nil {
		return nil, err
	}
	f, err := table.Load(r)
	if err != nil {
		return nil, err
	}
	c := fit.Config{Targets: []string{"y"}, Holdout: -1,
		Network: tabular.Config{Noise: tabular.Heteroscedastic, Activation: "gelu", Width: 50, Depth: 2, Ensemble: 5, Steps: steps}}
	fitted, err := fit.Run(ctx, f, c, fit.Options{})
	if err != nil {
		return nil, err
	}
	return fitted.Model.Model, nil
}
