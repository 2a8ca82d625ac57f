package serve

import (
	"context"
	"errors"
	"math"
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

func smallQueue(t *testing.T, workers int) *queue {
	t.Helper()
	n, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	n.Likelihood = likelihood.Normal{}
	m, err := predict.FromEnsemble(&model.Ensemble{Members: []*model.Model{n}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(p)
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

func (q *queue) ask(ctx context.Context, end time.Time, x gauss.Batch[float32], read func(b *predict.Batch, at int, j *job)) ([]*job, error) {
	return q.predict(ctx, &order{x: x, p: q.p, end: end, read: read})
}

func nothing(*predict.Batch, int, *job) {}

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
		q.ask(context.Background(), soon(), rows(1), func(*predict.Batch, int, *job) {
			close(begun)
			<-goOn
		})
	})
	<-begun
	const others, each = 7, 3
	for range others {
		wg.Go(func() {
			var got [each]float64
			_, err := q.ask(context.Background(), soon(), rows(each), func(b *predict.Batch, at int, j *job) {
				for i := range j.x.Rows {
					got[j.first+i] = b.Numbers(at + i)[0].Mean
				}
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
		q.ask(context.Background(), soon(), rows(1), func(*predict.Batch, int, *job) {
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

// A request that fails fails alone: its neighbours in a batch get their answers.
func TestQueueFailsAlone(t *testing.T) {
	q := smallQueue(t, 1)
	panics := 0
	q.fail = func(error) { panics++ }
	bad := rows(1)
	bad.Mean[1] = float32(math.NaN())
	jobs := []*job{{x: rows(2), p: q.p, read: nothing}, {x: bad, p: q.p, read: nothing}, {x: rows(1), p: q.p, read: func(*predict.Batch, int, *job) { panic("planted") }}, {x: rows(3), p: q.p, read: nothing}}
	q.run(jobs)
	if jobs[0].err != nil || jobs[1].err == nil || jobs[2].err != errPanic || jobs[3].err != nil {
		t.Errorf("%v, %v, %v, %v", jobs[0].err, jobs[1].err, jobs[2].err, jobs[3].err)
	}
	if panics == 0 {
		t.Error("the panic was not reported")
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
