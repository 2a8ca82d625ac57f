package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"

	"utvi/fn"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/predict"
)

// TestSpeed prints size and speed of exported graphs in onnxruntime beside our own
// prediction, both on one thread: the best of many runs. It needs
// UTVI_ONNX_SPEED=1 and UTVI_ONNXRUNTIME.
func TestSpeed(t *testing.T) {
	if os.Getenv("UTVI_ONNX_SPEED") == "" {
		t.Skip("UTVI_ONNX_SPEED is not set: nothing is measured")
	}
	modules := needsRuntime(t)
	dir := t.TempDir()
	type line struct {
		name       string
		rows       int
		ours       time.Duration
		file, onnx int
	}
	var lines []line
	add := func(name string, rows, file int, r *run, predict func()) {
		r.Name = fmt.Sprintf("%02d", len(lines))
		size := r.write(t, dir)
		lines = append(lines, line{name, rows, best(predict), file, size})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		inputs int
		layers nn.Chain
	}{
		{"1-128-128-1 ReLU", 1, dense(fn.ReLU(), 128, 128, 1)},
		{"1-128-128-1 ReLU, correlated", 1, nn.Correlate(dense(fn.ReLU(), 128, 128, 1))},
		{"1-128-128-1 tanh, gh(9)", 1, dense(fn.Tanh(), 128, 128, 1)},
		{"64-512-512-512-8 ReLU", 64, dense(fn.ReLU(), 512, 512, 512, 8)},
	} {
		n, err := model.New(model.Config{Input: nn.Vec(c.inputs), Layers: c.layers})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Network(n, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var saved bytes.Buffer
		if err := n.Write(&saved); err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{1, 1024} {
			x := zoo{input: nn.Vec(c.inputs), fixed: true}.rows(r, rows)
			p := n.NewPredictor(rows)
			add(c.name, rows, saved.Len(), &run{Inputs: map[string]tensor{"x": numbers(x.Mean, rows, c.inputs)}, model: m}, func() { p.Predict(x) })
		}
	}
	m := tableModels(t, "heteroscedastic")["heteroscedastic"]
	file, err := Table(m, TableOptions{Quantiles: []float64{0.5}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{Quantiles: []float64{0.5}})
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(dir, "table.utvi")
	if err := m.Net.Save(saved); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(saved)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 1000} {
		rows, inputs := cells(t, m, goodsFrame(t, goods(count, 3)))
		add("table, 3 networks", count, int(info.Size()), &run{Inputs: inputs, model: file}, func() {
			if _, err := p.Rows(t.Context(), rows); err != nil {
				t.Fatal(err)
			}
		})
	}
	cmd := exec.Command("node", "testdata/speed.cjs", modules, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "network\trows\tmodel, kB\tONNX, kB\tload, ms\tonnxruntime, µs\tutvi, µs")
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var x struct {
			Name       string
			Load, Best float64
		}
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		i, err := strconv.Atoi(x.Name)
		if err != nil {
			t.Fatal(err)
		}
		l := lines[i]
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", l.name, l.rows, float64(l.file)/1000, float64(l.onnx)/1000, x.Load, 1000*x.Best, float64(l.ours.Nanoseconds())/1000)
	}
	w.Flush()
	t.Logf("\n%s", text.String())
}

func dense(f *moment.Func, widths ...int) (c nn.Chain) {
	for i, n := range widths {
		if c = append(c, nn.Dense{Out: n}); i < len(widths)-1 {
			c = append(c, nn.Apply{F: f})
		}
	}
	return c
}

// best is the shortest of the times of many runs.
func best(f func()) time.Duration {
	var times []time.Duration
	for begin := time.Now(); len(times) < 5 || time.Since(begin) < 1500*time.Millisecond && len(times) < 500; {
		t := time.Now()
		f()
		times = append(times, time.Since(t))
	}
	return slices.Min(times)
}
