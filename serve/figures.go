package serve

import (
	"sync/atomic"
	"time"
)

// way is how a request came in.
type way uint8

const (
	byNone way = iota // not for predictions
	byJSON
	byREST
	byGRPC
	ways
)

var wayNames = [ways]string{"", "json", "v2", "grpc"}

// statuses are those that requests for predictions are counted by; any other is the last.
var statuses = [...]int{200, 400, 401, 404, 408, 413, 415, 422, 429, 499, 503, 504, 500}

// seconds bound the bins of durations.
var seconds = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// rowsBounds bound the bins of rows of an execution.
var rowsBounds = [...]float64{1, 2, 4, 8, 16, 32, 64, 128, 256}

// figures count what happens to one model. Requests, inferences (rows) and executions
// (of the networks) are counted apart, as Triton does.
type figures struct {
	requests   [ways][len(statuses)]atomic.Uint64
	took       [ways]histogram
	good, bad  tally         // requests that were answered, and that were not
	last       atomic.Uint64 // when the last was answered, in milliseconds since 1970
	inferences atomic.Uint64
	executions histogram // by rows
	reloads    atomic.Uint64
	failures   atomic.Uint64 // of reloads
}

// A tally counts requests with the time that they took.
type tally struct {
	count atomic.Uint64
	ns    atomic.Uint64
}

// add counts a request.
func (t *tally) add(took time.Duration) {
	t.count.Add(1)
	t.ns.Add(uint64(took))
}

// A histogram counts values by bins. The last bin holds what is above all bounds.
type histogram struct {
	bins [len(seconds) + 1]atomic.Uint64
	sum  atomic.Uint64 // of nanoseconds, or of rows
}

func (h *histogram) add(v float64, bounds []float64, sum uint64) {
	at := len(bounds)
	for i, b := range bounds {
		if v <= b {
			at = i
			break
		}
	}
	h.bins[at].Add(1)
	h.sum.Add(sum)
}

// count counts a request.
func (f *figures) count(by way, code, rows int, took time.Duration) {
	at := len(statuses) - 1
	for i, s := range statuses {
		if s == code {
			at = i
			break
		}
	}
	f.requests[by][at].Add(1)
	if code == 200 {
		f.inferences.Add(uint64(rows))
		f.good.add(took)
		f.last.Store(uint64(time.Now().UnixMilli()))
	} else {
		f.bad.add(took)
	}
	f.took[by].add(took.Seconds(), seconds[:], uint64(took))
}

// executed counts an execution of the networks.
func (f *figures) executed(_, rows int) { f.executions.add(float64(rows), rowsBounds[:], uint64(rows)) }
