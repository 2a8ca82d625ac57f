package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"utvi/gauss"
	"utvi/predict"
)

// A queue carries rows through the networks of one model. A request that finds a worker
// free runs at once, alone. Requests that arrive while all workers are busy wait, and
// the next free worker takes all of them that fit together: nobody waits for company.
type queue struct {
	p    *predict.Predictor
	most int // load of an execution
	seen func(jobs, rows int)
	fail func(err error) // is told about panics

	mu      sync.Mutex
	waiting []*job
	rows    int // of the waiting jobs
	round   int // of the job that was taken last
	workers int // that may run
	running int
	perRow  time.Duration // that an execution takes, about
}

// enough is the work that must wait before another worker starts: rows cost less the more
// of them run together, and workers compete with those who read and write requests.
const enough = 200 * time.Microsecond

// full is the number of rows from which on more of them hardly make a row cheaper.
const full = 32

// A job is some rows of a request.
type job struct {
	x     gauss.Batch[float32]
	p     *predict.Predictor
	first int // of the rows within the request
	load  int // rows, and more if a row asks for much
	round int // jobs of a round go before those of the next
	read  func(b *predict.Batch, row int, j *job, i int)
	out   []byte // for read

	err  error
	done chan struct{}
}

// pieceRows are the most rows of a job. A longer request is cut, so that it uses all
// workers and does not block others: the pieces of one request wait for each other, one
// in a round, and those of other requests come between them.
const pieceRows = 256

// usualExtra is how many more numbers make a row twice as much work.
const usualExtra = 16

// leastPiece is the least rows that a piece is cut to.
const leastPiece = 8

var errPanic = errors.New("internal error: the prediction failed")

// mostOutputsAtOnce are how many outputs all workers of a queue predict at a time, at most, unless a
// row has more: each takes about a hundred bytes.
const mostOutputsAtOnce = 1 << 20

// newQueue returns the queue of a predictor whose rows have so many outputs.
func newQueue(p *predict.Predictor, outputs int) *queue {
	return &queue{p: p, most: pieceRows, workers: max(1, min(runtime.GOMAXPROCS(0), mostOutputsAtOnce/outputs))}
}

// An order is some rows to predict.
type order struct {
	x     gauss.Batch[float32]
	p     *predict.Predictor
	extra int       // numbers that a row asks for beyond the usual ones
	end   time.Time // jobs that still wait then are given up

	// read is called for the rows of all pieces of x, one after another within a piece, but by any
	// goroutines: row i of a piece is a row of the batch, and row j.first+i of x.
	read func(b *predict.Batch, row int, j *job, i int)
}

// jobs cuts an order into pieces.
func (o *order) jobs() (all []*job) {
	size := max(leastPiece, pieceRows*usualExtra/(usualExtra+o.extra))
	for lo := 0; lo < o.x.Rows; lo += size {
		rows := min(size, o.x.Rows-lo)
		all = append(all, &job{x: o.x.Slice(lo, lo+rows), p: o.p, first: lo, load: rows * (usualExtra + o.extra) / usualExtra, read: o.read, done: make(chan struct{})})
	}
	return all
}

// predict carries the rows of an order through the networks. It returns after the last
// call of read.
func (q *queue) predict(ctx context.Context, o *order) ([]*job, error) {
	jobs := o.jobs()
	if len(jobs) == 0 {
		return nil, nil
	}
	if q.add(jobs) {
		q.work(jobs[0])
	}
	var late <-chan time.Time
	var err error
	for _, j := range jobs {
		select {
		case <-j.done:
		default:
			if late == nil {
				t := time.NewTimer(time.Until(o.end))
				defer t.Stop()
				late = t.C
			}
			q.wait(ctx, late, j)
		}
		if err == nil {
			err = j.err
		}
		if err != nil { // the others are not needed any more
			late = expired
		}
	}
	return jobs, err
}

// expired is the channel of a timer that has ended.
var expired = func() chan time.Time { c := make(chan time.Time); close(c); return c }()

// wait waits for a job, unless the time ends or the client goes away before it runs.
func (q *queue) wait(ctx context.Context, late <-chan time.Time, j *job) {
	var err error
	select {
	case <-j.done:
		return
	case <-late:
		err = context.DeadlineExceeded
	case <-ctx.Done():
		err = ctx.Err()
	}
	if q.remove(j) {
		j.err = err
		return
	}
	<-j.done // it runs: read still writes
}

// add appends jobs and starts workers for all but one of them. It reports whether the
// caller is to work itself.
func (q *queue) add(jobs []*job) (lead bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, j := range jobs {
		j.round = q.round + i
		q.insert(j)
	}
	for i, j := range jobs {
		q.rows += j.x.Rows
		if q.running == q.workers || q.running > 0 && time.Duration(q.rows)*q.perRow < enough {
			continue
		}
		q.running++
		if i == 0 {
			lead = true
		} else {
			go q.work(nil)
		}
	}
	return lead
}

// insert puts a job behind those of its round.
func (q *queue) insert(j *job) {
	at := len(q.waiting)
	for at > 0 && q.waiting[at-1].round > j.round {
		at--
	}
	q.waiting = slices.Insert(q.waiting, at, j)
}

// remove takes a job out of the queue. It reports false if the job is not waiting.
func (q *queue) remove(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, j)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.rows -= j.x.Rows
	return true
}

// depth returns how many jobs and rows wait.
func (q *queue) depth() (jobs, rows int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting), q.rows
}

// work runs jobs until none waits. If own is done before that, another goroutine
// goes on, so that own's client gets its answer.
func (q *queue) work(own *job) {
	var batch []*job
	for {
		q.mu.Lock()
		if q.rows < full { // requests that are read already may come along
			q.mu.Unlock()
			runtime.Gosched()
			q.mu.Lock()
		}
		batch = q.take(batch[:0])
		if len(batch) == 0 {
			q.running--
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		begin := time.Now()
		rows := q.run(batch)
		took := time.Since(begin) / time.Duration(rows)
		mine := slices.Contains(batch, own)
		for i, j := range batch {
			close(j.done)
			batch[i] = nil
		}
		q.mu.Lock()
		q.perRow += (took - q.perRow) / 8
		more := len(q.waiting) > 0
		if mine && !more {
			q.running--
		}
		q.mu.Unlock()
		if mine {
			if more {
				go q.work(nil)
			}
			return
		}
	}
}

// take removes the first jobs that can run together: all with or all without variances.
func (q *queue) take(batch []*job) []*job {
	n := 0
	rows := 0
	load := 0
	for _, j := range q.waiting {
		if n > 0 && (load+j.load > q.most || (j.x.Var == nil) != (batch[0].x.Var == nil)) {
			break
		}
		batch = append(batch, j)
		rows += j.x.Rows
		load += j.load
		q.round = j.round
		n++
	}
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.rows -= rows
	return batch
}

// run predicts the rows of some jobs together, and returns how many they are.
func (q *queue) run(batch []*job) int {
	x := batch[0].x
	if len(batch) > 1 {
		r := joints.Get().(*joined)
		defer joints.Put(r)
		x = r.join(batch)
	}
	if q.seen != nil {
		q.seen(len(batch), x.Rows)
	}
	err := q.each(x, batch)
	if err == nil {
		return x.Rows
	}
	if len(batch) == 1 {
		batch[0].err = err
		return x.Rows
	}
	for _, j := range batch { // whose row is at fault?
		j.err = q.each(j.x, []*job{j})
	}
	return x.Rows
}

// each predicts x, the rows of some jobs, and lets them read their predictions.
func (q *queue) each(x gauss.Batch[float32], batch []*job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errPanic
			if q.fail != nil {
				q.fail(fmt.Errorf("%v\n%s", p, debug.Stack()))
			}
		}
	}()
	for _, j := range batch {
		j.out = j.out[:0] // of an attempt before
	}
	// Rows with many outputs are predicted a few at a time: a job may lie in several batches.
	return q.p.Each(context.Background(), x, func(b *predict.Batch, first int) error {
		at := -first // of the job's first row, in b
		for _, j := range batch {
			lo := max(at, 0)
			hi := min(at+j.x.Rows, b.Len())
			if lo < hi {
				b.Use(j.p)
			}
			for row := lo; row < hi; row++ {
				j.read(b, row, j, row-at)
			}
			at += j.x.Rows
		}
		return nil
	})
}

// joined holds the rows of jobs that run together.
type joined struct{ mean, variance []float32 }

var joints = sync.Pool{New: func() any { return new(joined) }}

func (r *joined) join(batch []*job) gauss.Batch[float32] {
	x := gauss.Batch[float32]{Width: batch[0].x.Width}
	r.mean, r.variance = r.mean[:0], r.variance[:0]
	for _, j := range batch {
		x.Rows += j.x.Rows
		r.mean, r.variance = append(r.mean, j.x.Mean...), append(r.variance, j.x.Var...)
	}
	x.Mean = r.mean
	if batch[0].x.Var != nil {
		x.Var = r.variance
	}
	return x
}
