package enginetest

import (
	"math"
	"slices"
	"sync"
	"testing"

	"utvi/engine"
	"utvi/gauss"
	"utvi/nn"
)

// Predictions may differ from those in float64 by rounding: of means in standard deviations, or in
// the largest mean where there is no variance, and of variances in their own size.
const (
	meanRounding     = 2e-4
	varianceRounding = 1e-3
)

// predict compiles a network and predicts x, in batches of at most most rows.
func predict[T gauss.Float](e engine.Engine[T], n engine.Network[T], x gauss.Batch[T], most int) (gauss.Batch[T], error) {
	form := nn.Fixed
	if x.Var != nil {
		form = nn.Independent
	}
	p, err := e.Compile(n, form)
	if err != nil {
		return gauss.Batch[T]{}, err
	}
	pool := engine.NewPool(1)
	defer pool.Close()
	return through(p, p.NewPredictor(pool, most), x, most), nil
}

// through runs x through a predictor. What it does not write stays NaN.
func through[T gauss.Float](p engine.Program[T], q engine.Predictor[T], x gauss.Batch[T], most int) gauss.Batch[T] {
	out := gauss.New[T](x.Rows, p.Graph().Out.Size())
	for i := range out.Mean {
		out.Mean[i] = T(math.NaN())
		out.Var[i] = T(math.NaN())
	}
	if p.Graph().To == nn.Fixed {
		out.Var = nil
	}
	q.Predict(x.Slice(0, 0), out.Slice(0, 0)) // no rows are no work
	for lo := 0; lo < x.Rows; lo += most {
		hi := min(x.Rows, lo+most)
		q.Predict(x.Slice(lo, hi), out.Slice(lo, hi))
	}
	return out
}

// predictions compares with the CPU in float64, whatever the number of rows.
func predictions(t testing.TB, e engine.Engine[float32]) {
	for _, s := range subjects() {
		for _, form := range []nn.Form{nn.Fixed, nn.Independent} {
			n := s.network(t)
			x := s.inputs(103, form)
			wide := gauss.Batch[float64]{Rows: x.Rows, Width: x.Width, Mean: float64s(x.Mean), Var: float64s(x.Var)}
			for _, most := range []int{x.Rows, 64, 1} {
				got, err := predict(e, n, x, most)
				if s.refused(t, err) {
					break
				}
				want, err := predict(engine.CPU[float64](), exact(t, n), wide, most) // rows of a batch are counted by rules that draw
				if err != nil {
					t.Fatal(err)
				}
				compare(t, s.name, got, want, most)
			}
		}
	}
}

// compare compares predictions, of batches of so many rows, with those in float64.
func compare(t testing.TB, name string, got gauss.Batch[float32], want gauss.Batch[float64], most int) {
	t.Helper()
	var largest float64
	for _, m := range want.Mean {
		largest = max(largest, math.Abs(m))
	}
	for i, m := range want.Mean {
		unit := largest
		if want.Var != nil {
			unit = max(math.Sqrt(want.Var[i]), 0.01*largest)
		}
		if d := math.Abs(float64(got.Mean[i])-m) / unit; !(d <= meanRounding) {
			t.Errorf("%s, %d rows at a time: output %d of row %d has the mean %v, in float64 %v", name, most, i%want.Width, i/want.Width, got.Mean[i], m)
			return
		}
		if want.Var == nil {
			continue
		}
		if d := math.Abs(float64(got.Var[i])/want.Var[i] - 1); !(d <= varianceRounding) {
			t.Errorf("%s, %d rows at a time: output %d of row %d has the variance %v, in float64 %v", name, most, i%want.Width, i/want.Width, got.Var[i], want.Var[i])
			return
		}
	}
}

func float64s(x []float32) []float64 {
	if x == nil {
		return nil
	}
	y := make([]float64, len(x))
	for i := range x {
		y[i] = float64(x[i])
	}
	return y
}

// predictorsTogether lets goroutines predict with one program at the same time.
func predictorsTogether(t testing.TB, e engine.Engine[float32]) {
	s := plain()
	p := compiled(t, e, s.network(t))
	x := s.inputs(50, nn.Fixed)
	const each = 4
	var outs [each]gauss.Batch[float32]
	var all sync.WaitGroup
	for i := range outs {
		all.Go(func() {
			pool := engine.NewPool(1 + i%2) // the number of workers changes no bit
			defer pool.Close()
			q := p.NewPredictor(pool, 50)
			for range 3 {
				outs[i] = through(p, q, x, 50)
			}
		})
	}
	all.Wait()
	for i := range outs {
		if !sameBatch(outs[i], outs[0]) {
			t.Errorf("predictor %d of %d, which predict at the same time, has other bits", i, each)
		}
	}
}

// compiled compiles a network for fixed inputs.
func compiled(t testing.TB, e engine.Engine[float32], n engine.Network[float32]) engine.Program[float32] {
	t.Helper()
	p, err := e.Compile(n, nn.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sameBatch(a, b gauss.Batch[float32]) bool {
	return slices.Equal(a.Mean, b.Mean) && slices.Equal(a.Var, b.Var)
}

// changedParameters changes the parameters under a program and its predictor.
func changedParameters(t testing.TB, e engine.Engine[float32]) {
	s := plain()
	n := s.network(t)
	p := compiled(t, e, n)
	pool := engine.NewPool(1)
	defer pool.Close()
	q := p.NewPredictor(pool, 10)
	x := s.inputs(10, nn.Fixed)
	before := through(p, q, x, 10)
	for i := range n.Params.Theta {
		n.Params.Theta[i] *= 0.9
	}
	p.Changed()
	after := through(p, q, x, 10)
	want, err := predict(e, n, x, 10)
	if err != nil {
		t.Fatal(err)
	}
	if sameBatch(before, after) || !sameBatch(after, want) {
		t.Errorf("after its parameters have changed, a program predicts %v; a new one %v", after.Mean[0], want.Mean[0])
	}
}

func predictionAllocations(t testing.TB, e engine.Engine[float32]) {
	s := plain()
	p := compiled(t, e, s.network(t))
	pool := engine.NewPool(1)
	defer pool.Close()
	q := p.NewPredictor(pool, 20)
	x := s.inputs(20, nn.Fixed)
	out := gauss.New[float32](20, p.Graph().Out.Size())
	if n := allocations(func() { q.Predict(x, out) }); n > 0 {
		t.Errorf("a prediction allocates %v times", n)
	}
}

// allocations is how often f allocates: the least of several counts, since Go's runtime and other
// goroutines allocate now and then.
func allocations(f func()) float64 {
	n := testing.AllocsPerRun(12, f)
	for range 3 {
		n = min(n, testing.AllocsPerRun(12, f))
	}
	return n
}
