package engine

import (
	"math"
	"sync/atomic"
	"time"

	"utvi/internal/compute"
)

// shares cuts the rows of a batch among the workers of a pool. Cores are not equally fast: some
// are built smaller, on some other programs run. So every worker has rows of its own, as many as
// its pace of late allows, and whoever is done takes blocks that others have not begun. Results
// do not depend on it: rows meet in sums that run in their order, whatever the blocks.
type shares struct {
	pool *compute.Pool
	do   func(worker, block int, rows span)
	task func(worker, task int)
	far  bool // one worker reads its weights from memory
	of   []share
	now  func(worker int) time.Time // what a worker's watch shows
}

// A share is what one worker has of a batch.
type share struct {
	rows   span
	count  int          // of rows
	size   int          // rows of a block
	blocks span         // among those of the batch
	begun  atomic.Int32 // of its blocks

	// What the worker has done since the batch was cut, whosever rows they were.
	done int
	busy time.Duration
	pace float64 // rows a nanosecond, of late; 0: not known

	_ [64]byte // another worker's share is another cache line
}

// newShares returns shares whose blocks are run by do.
func newShares(pool *compute.Pool, far bool, do func(worker, block int, rows span)) *shares {
	s := &shares{pool: pool, do: do, far: far, of: make([]share, pool.Workers()), now: wallClock}
	if pool.Workers() == 1 {
		s.now = noClock
	}
	s.task = s.runBlock
	return s
}

func wallClock(int) time.Time { return time.Now() }

// noClock is for a worker that is alone: all rows are its own at any pace, and reading the clock
// twice would be a tenth of the time of one row.
func noClock(int) time.Time { return time.Time{} }

// cut cuts a batch of so many rows. Workers that are about as fast get as many rows: sums over
// rows take blocks of one size together.
func (s *shares) cut(batch int) {
	best := s.learn()
	workers := min(len(s.of), (batch+minBlock-1)/minBlock)
	var total float64
	for w := range workers {
		total += s.of[w].speed(best)
	}
	left := batch
	for w := range s.of {
		x := &s.of[w]
		x.count = 0
		if w < workers {
			x.count = int(float64(batch)*x.speed(best)/total/4) * 4
		}
		left -= x.count
	}
	// What is left goes to those who would be done first.
	for left > 0 {
		first := 0
		for w := range workers {
			if float64(s.of[w].count+4)*s.of[first].speed(best) < float64(s.of[first].count+4)*s.of[w].speed(best) {
				first = w
			}
		}
		n := min(4, left)
		s.of[first].count, left = s.of[first].count+n, left-n
	}
	row, block := 0, 0
	for w := range s.of {
		x := &s.of[w]
		x.rows, x.size = span{row, row + x.count}, s.blockRows(x.count)
		blocks := 0
		if x.count > 0 {
			blocks = (x.count + x.size - 1) / x.size
		}
		x.blocks = span{block, block + blocks}
		row, block = row+x.count, block+blocks
	}
}

// learn takes the pace of every worker from what it has done, and returns the best.
func (s *shares) learn() (best float64) {
	for w := range s.of {
		x := &s.of[w]
		if x.done > 0 && x.busy > 0 {
			pace := float64(x.done) / float64(x.busy)
			if x.pace > 0 { // a single delay says little
				pace = x.pace + (pace-x.pace)/4
			}
			x.pace = pace
			x.done = 0
			x.busy = 0
		}
		best = max(best, x.pace)
	}
	return best
}

// speed is the pace by which a worker gets rows, by that of the best one, in eighths: a difference
// of a few per cent is chance. A worker without a pace, or with a very low one, gets enough rows to
// find it out.
func (x *share) speed(best float64) float64 {
	if x.pace == 0 {
		return 1
	}
	return max(2, math.Round(8*x.pace/best)) / 8
}

// blockRows is the number of rows in a block of a worker's rows.
func (s *shares) blockRows(rows int) int {
	if len(s.of) == 1 {
		return oneWorkerRows(rows, s.far)
	}
	blocks := max(1, (rows+maxBlock-1)/maxBlock)
	return (rows + 4*blocks - 1) / (4 * blocks) * 4
}

// most is the most rows of a block of a batch, however fast the workers are.
func (s *shares) most(batch int) int {
	if len(s.of) == 1 {
		return oneWorkerRows(batch, s.far)
	}
	return min(batch, maxBlock)
}

// all yields the rows of every block, in order.
func (s *shares) all(yield func(rows span) bool) {
	for w := range s.of {
		x := &s.of[w]
		for i := range x.blocks.to - x.blocks.from {
			if !yield(x.block(i)) {
				return
			}
		}
	}
}

// block is the rows of a block of the share.
func (x *share) block(i int) span {
	from := x.rows.from + i*x.size
	return span{from, min(x.rows.to, from+x.size)}
}

// run runs all blocks of the batch.
func (s *shares) run() {
	for w := range s.of {
		s.of[w].begun.Store(0)
	}
	s.pool.Run(s.of[len(s.of)-1].blocks.to, s.task)
}

// runBlock runs a block that nobody has begun: the worker's own while there are any.
func (s *shares) runBlock(worker, _ int) {
	me := &s.of[worker]
	for i := range s.of {
		x := &s.of[(worker+i)%len(s.of)]
		left := int32(x.blocks.to - x.blocks.from)
		if x.begun.Load() >= left {
			continue
		}
		b := x.begun.Add(1) - 1
		if b >= left {
			continue
		}
		rows := x.block(int(b))
		begin := s.now(worker)
		s.do(worker, x.blocks.from+int(b), rows)
		me.busy += s.now(worker).Sub(begin)
		me.done += rows.to - rows.from
		return
	}
	panic("engine: more tasks than blocks")
}
