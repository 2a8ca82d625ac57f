package serve

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
)

func smallQueue(t *testing.T, workers int) *queue { return queueOf(t, workers, 1) }

// queueOf is the queue of a network of some outputs.
func queueOf(t *testing.T, workers, outputs int) *queue {
	t.Helper()
	n, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: outputs}}})
	if err != nil {
		t.Fatal(err)
	}
	n.Likelihood = likelihood.Normal{}
	m, err := predict.FromEnsemble(&model.Ensemble{Members: []*model.Model{n}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(p, outputs)
	q.workers = workers
	return q
}

func rows(n int) gauss.Batch[float32] {
	x := gauss.Batch[float32]{Rows: n, Width: 2, Mean: make([]float32, 2*n)}
	for i := range x.Mean {
		x.Mean[i] = float32(i) / 10
	}
	return x
}

func soon() time.Time { return time.Now().Add(Patience) }

func (q *queue) ask(ctx context.Context, end time.Time, x gauss.Batch[float32], read func(b *predict.Batch, row int, j *job, i int)) ([]*job, error) {
	return q.predict(ctx, &order{x: x, p: q.p, end: end, read: read})
}

func nothing(*predict.Batch, int, *job, int) {}

// A lone request runs at once in its own goroutine; those that come while the worker is
// busy run together; every row is read once, in its place.
func TestQueue(t *testing.T) {
	q := smallQueue(t, 1)
	var mu sync.Mutex
	var executions []int
	q.seen = func(jobs, rows int) {
		mu.Lock()
		defer mu.Unlock()
		executions = append(executions, rows)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		q.ask(context.Background(), soon(), rows(1), func(*predict.Batch, int, *job, int) {
			close(begun)
			<-goOn
		})
	})
	<-begun
	const others, each = 7, 3
	for range others {
		wg.Go(func() {
			var got [each]float64
			_, err := q.ask(context.Background(), soon(), rows(each), func(b *predict.Batch, row int, j *job, i int) {
				got[j.first+i] = b.Numbers(row)[0].Mean
			})
			want, _ := q.p.Inputs(context.Background(), rows(each))
			for i := range got {
				if got[i] != want[i].Numbers[0].Mean {
					t.Errorf("row %d: %v, want %v (%v)", i, got[i], want[i].Numbers[0].Mean, err)
				}
			}
		})
	}
	for {
		if jobs, n := q.depth(); jobs == others && n == others*each {
			break
		}
	}
	close(goOn)
	wg.Wait()
	if len(executions) != 2 || executions[0] != 1 || executions[1] != others*each {
		t.Errorf("executions of %v rows", executions)
	}
	for end := soon(); ; { // the last worker looks once more
		q.mu.Lock()
		running := q.running
		jobs := len(q.waiting)
		rows := q.rows
		q.mu.Unlock()
		if running == 0 && jobs == 0 && rows == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the queue is left with %d workers, %d jobs, %d rows", running, jobs, rows)
		}
	}
}

// A request whose time ends, or whose client goes away, leaves the queue.
func TestQueueGivesUp(t *testing.T) {
	q := smallQueue(t, 1)
	begun, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		q.ask(context.Background(), soon(), rows(1), func(*predict.Batch, int, *job, int) {
			close(begun)
			<-goOn
		})
	})
	<-begun
	if _, err := q.ask(context.Background(), time.Now().Add(time.Millisecond), rows(600), nothing); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := q.ask(ctx, soon(), rows(1), nothing); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if jobs, n := q.depth(); jobs != 0 || n != 0 {
		t.Errorf("%d jobs and %d rows wait", jobs, n)
	}
	close(goOn)
	wg.Wait()
}

// A request whose client goes away while its rows are predicted waits until nobody writes its answer
// any more.
func TestQueueWaitsForRunning(t *testing.T) {
	q := smallQueue(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	wrote := false
	begun, goOn := make(chan struct{}), make(chan struct{})
	other := &job{x: rows(1), p: q.p, done: make(chan struct{}), read: func(*predict.Batch, int, *job, int) {
		close(begun)
		<-goOn
		wrote = true
	}}
	q.add([]*job{other})
	go q.work(nil)
	<-begun
	cancel()
	if q.remove(other) {
		t.Error("a job that runs was taken out of the queue")
	}
	waiting := make(chan struct{})
	go func() {
		q.wait(ctx, expired, other)
		if !wrote || other.err != nil {
			t.Errorf("the wait ended before the job, %v", other.err)
		}
		close(waiting)
	}()
	close(goOn)
	<-waiting
}

// A request that fails fails alone: its neighbours in a batch get their answers.
func TestQueueFailsAlone(t *testing.T) {
	q := smallQueue(t, 1)
	panics := 0
	q.fail = func(error) { panics++ }
	bad := rows(1)
	bad.Mean[1] = float32(math.NaN())
	jobs := []*job{{x: rows(2), p: q.p, read: nothing}, {x: bad, p: q.p, read: nothing}, {x: rows(1), p: q.p, read: func(*predict.Batch, int, *job, int) { panic("planted") }}, {x: rows(3), p: q.p, read: nothing}}
	q.run(jobs)
	if jobs[0].err != nil || jobs[1].err == nil || jobs[2].err != errPanic || jobs[3].err != nil {
		t.Errorf("%v, %v, %v, %v", jobs[0].err, jobs[1].err, jobs[2].err, jobs[3].err)
	}
	if panics == 0 {
		t.Error("the panic was not reported")
	}
}

// Rows with many outputs are predicted a few at a time: every row of every job is read once, in its
// place, and few workers hold such rows.
func TestQueueOfManyOutputs(t *testing.T) {
	const outputs = 9000 // seven rows at a time
	q := queueOf(t, 1, outputs)
	all := rows(26)
	want, err := q.p.Inputs(context.Background(), all)
	if err != nil {
		t.Fatal(err)
	}
	var got [26][]float64
	var jobs []*job
	for lo, n := range map[int]int{0: 5, 5: 1, 6: 15, 21: 5} {
		jobs = append(jobs, &job{x: all.Slice(lo, lo+n), p: q.p, first: lo, read: func(b *predict.Batch, row int, j *job, i int) {
			got[j.first+i] = append(got[j.first+i], b.Numbers(row)[outputs-1].Mean)
		}})
	}
	q.run(jobs)
	for i, v := range got {
		if len(v) != 1 || v[0] != want[i].Numbers[outputs-1].Mean {
			t.Errorf("row %d was read as %v, want %v once", i, v, want[i].Numbers[outputs-1].Mean)
		}
	}
	for _, j := range jobs {
		if j.err != nil {
			t.Error(j.err)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	if n := newQueue(q.p, mostOutputsAtOnce/3).workers; n != 3 {
		t.Errorf("%d workers hold a third of what all may hold, each", n)
	}
	if n := newQueue(q.p, 2*mostOutputsAtOnce).workers; n != 1 {
		t.Errorf("%d workers hold rows of too many outputs", n)
	}
}

// Inputs with and without variances run apart.
func TestQueueForms(t *testing.T) {
	q := smallQueue(t, 1)
	uncertain := rows(1)
	uncertain.Var = []float32{1, 1}
	q.waiting = []*job{{x: rows(2)}, {x: rows(1)}, {x: uncertain}, {x: rows(1)}}
	q.rows = 5
	for _, want := range []int{2, 1, 1, 0} {
		if got := len(q.take(nil)); got != want {
			t.Errorf("took %d jobs, want %d", got, want)
		}
	}
}

// A short request goes between the pieces of a long one, and rows that ask for much are cut
// into short pieces.
func TestQueueRounds(t *testing.T) {
	q := smallQueue(t, 0)
	long := (&order{x: rows(4 * pieceRows), p: q.p}).jobs()
	heavy := (&order{x: rows(64), p: q.p, extra: 1000}).jobs()
	short := (&order{x: rows(1), p: q.p}).jobs()
	if len(long) != 4 || len(heavy) != 8 || len(short) != 1 || heavy[0].x.Rows != 8 {
		t.Fatalf("%d, %d, %d pieces", len(long), len(heavy), len(short))
	}
	q.add(long)
	if got := q.take(nil); len(got) != 1 || got[0] != long[0] {
		t.Fatal("the first piece was not taken first, alone")
	}
	q.add(heavy)
	q.add(short)
	if got := q.take(nil); got[0] != heavy[0] || len(got) != 1 {
		t.Errorf("%d jobs instead of a heavy one alone", len(got))
	}
	if got := q.take(nil); got[0] != short[0] {
		t.Error("a short request waits for a long one")
	}
}
