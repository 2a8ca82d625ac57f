package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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
// prediction, both on one thread: medians of runs that take turns. It needs
// UTVI_ONNX_SPEED=1 and UTVI_ONNXRUNTIME.
func TestSpeed(t *testing.T) {
	if os.Getenv("UTVI_ONNX_SPEED") == "" {
		t.Skip("UTVI_ONNX_SPEED is not set: nothing is measured")
	}
	runtime := startRuntime(t)
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "network\trows\tmodel, kB\tONNX, kB\tload, ms\tonnxruntime, µs\tutvi, µs")
	count := 0
	add := func(name string, rows, file int, r *run, predict func()) {
		r.Name = fmt.Sprintf("%02d", count)
		count++
		size := r.write(t, runtime.dir)
		load := runtime.call(t, r.Name)
		theirs, ours := inTurn(func() float64 { return runtime.call(t, r.Name) }, predict)
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", name, rows, float64(file)/1000, float64(size)/1000, load, 1000*theirs, 1000*ours)
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
		{"images of 28×28, 3 convolutions", 784, images()},
	} {
		input := nn.Vec(c.inputs)
		if c.inputs == 784 {
			input = nn.Shape{H: 28, W: 28, C: 1}
		}
		n, err := model.New(model.Config{Input: input, Layers: c.layers})
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
			if c.inputs == 784 {
				rows = (rows + 15) / 16
			}
			x := zoo{input: input, fixed: true}.rows(r, rows)
			p := n.NewPredictor(rows)
			add(c.name, rows, saved.Len(), &run{Inputs: map[string]tensor{"x": numbers(x.Mean, append([]int{rows}, sizes(input)...)...)}, model: m}, func() { p.Predict(x) })
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
	saved := filepath.Join(runtime.dir, "table.utvi")
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
	w.Flush()
	t.Logf("\n%s", text.String())
}

// A runtime is a program that runs graphs of a folder, one at a time.
type runtime struct {
	dir string
	in  io.Writer
	out *bufio.Scanner
}

func startRuntime(t *testing.T) runtime {
	t.Helper()
	r := runtime{dir: t.TempDir()}
	cmd := exec.Command("node", "testdata/speed.cjs", needsRuntime(t), r.dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	r.in, r.out = in, bufio.NewScanner(out)
	return r
}

// call loads a graph, or runs it once, and returns the milliseconds.
func (r runtime) call(t *testing.T, name string) float64 {
	t.Helper()
	fmt.Fprintln(r.in, name)
	if !r.out.Scan() {
		t.Fatal("the runtime ended")
	}
	ms, err := strconv.ParseFloat(r.out.Text(), 64)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// inTurn runs two programs in turn and returns the medians of their times in ms.
func inTurn(first func() float64, second func()) (a, b float64) {
	var as, bs []float64
	for begin := time.Now(); len(as) < 9 || time.Since(begin) < 3*time.Second && len(as) < 501; {
		as = append(as, first())
		t := time.Now()
		second()
		bs = append(bs, float64(time.Since(t).Nanoseconds())/1e6)
	}
	slices.Sort(as)
	slices.Sort(bs)
	return as[len(as)/2], bs[len(bs)/2]
}

func dense(f *moment.Func, widths ...int) (c nn.Chain) {
	for i, n := range widths {
		c = append(c, nn.Dense{Out: n})
		if i < len(widths)-1 {
			c = append(c, nn.Apply{F: f})
		}
	}
	return c
}

func images() nn.Chain {
	relu := nn.Apply{F: fn.ReLU()}
	conv := func(out int) nn.Conv2D { return nn.Conv2D{Out: out, Kernel: [2]int{3, 3}, Padding: nn.Same} }
	pool := nn.MaxPool2D{Size: [2]int{3, 3}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}
	return nn.Chain{conv(8), relu, pool, nn.Residual{Branch: nn.Chain{conv(16), relu, conv(16)}, Skip: nn.Conv2D{Out: 16, Kernel: [2]int{1, 1}}}, relu, pool, nn.Flatten{}, nn.Dense{Out: 10}}
}
