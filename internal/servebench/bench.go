// Package servebench measures the server beside a bare one of net/http, and under more load
// than fits.
package servebench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"utvi/fit"
	"utvi/internal/compute"
	"utvi/internal/demo"
	"utvi/internal/predictions"
	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/serve"
	"utvi/table"
)

// A Report compares the server with the least that a server of JSON does: a handler
// of net/http that reads a JSON value and writes it back. Both are asked by the same
// clients in the same process, in alternating windows.
type Report struct {
	Cores       int     `json:"cores"`
	Members     int     `json:"members"`
	Connections int     `json:"connections"`
	Echo        float64 `json:"echo_requests_per_second"`
	Single      float64 `json:"single_row_requests_per_second"`
	Share       float64 `json:"single_row_share_of_echo"` // median over windows
	EchoCPU     float64 `json:"echo_cpu_us"`              // of a request, its client included
	SingleCPU   float64 `json:"single_row_cpu_us"`
	EchoP99     float64 `json:"echo_p99_half_load_us"`
	SingleP99   float64 `json:"single_row_p99_half_load_us"`
	P99Ratio    float64 `json:"p99_ratio"` // median over windows
	PredictRows float64 `json:"predict_rows_per_second"`
	BatchRows   float64 `json:"batch_rows_per_second"`
	BatchShare  float64 `json:"batch_share_of_predict"`
	Wrong       int64   `json:"wrong_answers"`
}

// Options choose how long to measure.
type Options struct {
	Windows int           // 0: 5
	Window  time.Duration // 0: 2 s
	// Progress is called before each measurement.
	Progress func(done, total int, what string)
}

const (
	connections = 64
	batchRows   = 1024
)

// Run measures the server.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Windows == 0 {
		o.Windows = 5
	}
	if o.Window == 0 {
		o.Window = 2 * time.Second
	}
	folder, err := os.MkdirTemp("", "utvi-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	b := &bencher{o: o, total: 3*o.Windows + 1, report: &Report{Cores: runtime.GOMAXPROCS(0), Connections: connections}}
	b.step("the model")
	path := filepath.Join(folder, "strength.utvi")
	if err := Model(ctx, path); err != nil {
		return nil, err
	}
	s, err := serve.New(serve.Config{Models: []serve.Source{{Name: "strength", Path: path}}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	b.served, err = listen(s.Handler())
	if err != nil {
		return nil, err
	}
	defer b.served.Close()
	b.echo, err = listen(http.HandlerFunc(echo))
	if err != nil {
		return nil, err
	}
	defer b.echo.Close()
	b.model, err = predict.OpenFile(path)
	if err != nil {
		return nil, err
	}
	b.report.Members = len(b.model.Networks.Members)
	if err := errors.Join(b.single(ctx), b.latency(ctx), b.batches(ctx)); err != nil {
		return nil, err
	}
	return b.report, ctx.Err()
}

// Model writes the model that the server is measured with: five networks for the
// tutorial's table.
func Model(ctx context.Context, path string) error {
	f, err := demoFrame(600, 1)
	if err != nil {
		return err
	}
	c := fit.Config{Targets: []string{"strength"}, Network: tabular.Config{Ensemble: 5, KL: 0.3, Activation: "leaky-relu", Depth: 2, Noise: tabular.Heteroscedastic, Steps: 300}}
	r, err := fit.Run(ctx, f, c, fit.Options{})
	if err != nil {
		return err
	}
	return r.Model.Save(path)
}

func demoFrame(rows int, seed uint64) (*table.Frame, error) {
	var b bytes.Buffer
	if err := demo.Table(&b, rows, seed, false); err != nil {
		return nil, err
	}
	r, err := table.NewReader(&b, "resin.csv", table.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return table.Load(r)
}

// listen serves a handler on loopback, without any more settings.
func listen(h http.Handler) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		go http.Serve(l, h)
	}
	return l, err
}

// echo answers with the JSON value that it gets.
func echo(w http.ResponseWriter, r *http.Request) {
	var v any
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

type bencher struct {
	o            Options
	done, total  int
	report       *Report
	served, echo net.Listener
	model        *predict.Model
}

func (b *bencher) step(what string) {
	if b.o.Progress != nil {
		b.o.Progress(b.done, b.total, what)
	}
	b.done++
}

// Row is a request of one row.
const Row = `{"rows":[{"temperature":141.5,"temperature_std":1,"minutes":30,"resin":"birch"}]}`

func (b *bencher) loads() (ours, echo load) {
	ours = load{address: b.served.Addr().String(), request: post("/predict/strength", Row), connections: connections}
	echo = load{address: b.echo.Addr().String(), request: post("/", Row), connections: connections}
	return ours, echo
}

// single measures requests of one row.
func (b *bencher) single(ctx context.Context) error {
	ours, bare := b.loads()
	var shares, rates, echoes, ourCPU, echoCPU []float64
	for range b.o.Windows {
		b.step("single rows")
		e, err := bare.run(ctx, b.o.Window)
		if err != nil {
			return err
		}
		s, err := ours.run(ctx, b.o.Window)
		if err != nil {
			return err
		}
		b.report.Wrong += e.wrong + s.wrong + s.refused
		echoes = append(echoes, e.rate())
		rates = append(rates, s.rate())
		shares = append(shares, s.rate()/e.rate())
		echoCPU, ourCPU = append(echoCPU, e.cost()), append(ourCPU, s.cost())
	}
	b.report.EchoCPU, b.report.SingleCPU = median(echoCPU), median(ourCPU)
	b.report.Echo = median(echoes)
	b.report.Single = median(rates)
	b.report.Share = median(shares)
	return nil
}

// latency measures requests of one row at half the rate that fits.
func (b *bencher) latency(ctx context.Context) error {
	ours, bare := b.loads()
	ours.perSecond, bare.perSecond = b.report.Single/2, b.report.Echo/2
	var ratios, us, echoes []float64
	for range b.o.Windows {
		b.step("half load")
		e, err := bare.run(ctx, b.o.Window)
		if err != nil {
			return err
		}
		s, err := ours.run(ctx, b.o.Window)
		if err != nil {
			return err
		}
		b.report.Wrong += e.wrong + s.wrong + s.refused
		echoes = append(echoes, 1e6*e.quantile(0.99))
		us = append(us, 1e6*s.quantile(0.99))
		ratios = append(ratios, s.quantile(0.99)/e.quantile(0.99))
	}
	b.report.EchoP99 = median(echoes)
	b.report.SingleP99 = median(us)
	b.report.P99Ratio = median(ratios)
	return nil
}

// batches compares requests of many rows with what utvi predict does with a CSV file.
func (b *bencher) batches(ctx context.Context) error {
	body, csv, err := batch()
	if err != nil {
		return err
	}
	p, err := b.model.NewPredictor(predict.Options{})
	if err != nil {
		return err
	}
	pool := compute.NewPool(runtime.GOMAXPROCS(0))
	defer pool.Close()
	ours := load{address: b.served.Addr().String(), request: post("/predict/strength", body), connections: 2 * runtime.GOMAXPROCS(0)}
	const copies = 16
	head, rest, _ := strings.Cut(csv, "\n")
	csv = head + "\n" + strings.Repeat(rest, copies)
	var shares, rates, plain []float64
	for range b.o.Windows {
		b.step("batches")
		n, begin := 0, time.Now()
		for time.Since(begin) < b.o.Window {
			rows, err := table.NewReader(strings.NewReader(csv), "rows.csv", table.Options{})
			if err != nil {
				return err
			}
			sum, err := predictions.Write(ctx, p, rows, io.Discard, predictions.Output{Parts: true}, pool)
			rows.Close()
			if err != nil {
				return err
			}
			n += sum.Rows
		}
		predicted := float64(n) / time.Since(begin).Seconds()
		s, err := ours.run(ctx, b.o.Window)
		if err != nil {
			return err
		}
		b.report.Wrong += s.wrong + s.refused
		rate := s.rate() * batchRows
		plain = append(plain, predicted)
		rates = append(rates, rate)
		shares = append(shares, rate/predicted)
	}
	b.report.PredictRows = median(plain)
	b.report.BatchRows = median(rates)
	b.report.BatchShare = median(shares)
	return nil
}

// batch returns the same rows as a request and as CSV.
func batch() (body, csv string, err error) {
	var text bytes.Buffer
	if err := demo.Table(&text, batchRows, 5, false); err != nil {
		return "", "", err
	}
	csv = text.String()
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	names := strings.Split(lines[0], ",")
	var rows []string
	for _, line := range lines[1:] {
		var fields []string
		for i, v := range strings.Split(line, ",")[:len(names)-1] { // without the target
			if names[i] == "resin" {
				v = `"` + v + `"`
			}
			fields = append(fields, fmt.Sprintf("%q:%s", names[i], v))
		}
		rows = append(rows, "{"+strings.Join(fields, ",")+"}")
	}
	return `{"rows":[` + strings.Join(rows, ",") + "]}", csv, nil
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
