package engine

import (
	"utvi/gauss"
)

// doBlock runs a block of rows forward, scores it and runs it backward.
func (t *trainer) doBlock(worker, block int, at span) {
	l := &t.scratch[worker]
	b := &t.blocks[block]
	lo := at.from
	hi := at.to
	l.pass.Seed = t.Seed
	l.pass.Step = uint64(t.step)
	l.pass.Row = uint64(lo)
	l.pass.In, l.pass.Out = l.in.Slice(0, b.Rows), l.out.Slice(0, b.Rows)
	l.pass.DOut, l.pass.DIn = l.dout.Slice(0, b.Rows), gauss.Batch[float32]{}
	l.pass.Tape = b.Tape
	y := l.y[:b.Rows*t.Data.Targets()]
	t.Data.Fill(lo, hi, l.pass.In, y)
	l.runner.Forward(&l.pass)
	t.score(l, lo, b.Rows)
	l.runner.Backward(&l.pass)
}

// score computes the likelihood, and its gradient, of the rows of the block in a worker's scratch, which are
// those of the batch from lo on.
func (t *trainer) score(l *workerScratch, lo, rows int) {
	out := &l.pass.Out
	dout := &l.pass.DOut
	targets := l.y
	w := out.Width
	k := t.Data.Targets()
	scale := 1 / float64(t.Batch)
	y, mean := l.row[:k], l.row[k:k+w]
	variance := l.row[k+w : k+2*w]
	dmean := l.row[k+2*w : k+3*w]
	dvar := l.row[k+3*w : k+4*w]
	for i := range rows {
		for j := range y {
			y[j] = float64(targets[i*k+j])
		}
		for j := range mean {
			mean[j] = float64(out.Mean[i*w+j])
			if out.Var != nil {
				variance[j] = float64(out.Var[i*w+j])
			}
		}
		t.nll[lo+i], t.floors[lo+i] = t.Likelihood.Row(y, mean, variance, dmean, dvar)
		for j := range mean {
			dout.Mean[i*w+j] = float32(dmean[j] * scale)
			if dout.Var != nil {
				dout.Var[i*w+j] = float32(dvar[j] * scale)
			}
		}
	}
}

func (t *trainer) doGrad(worker, tile int) { t.scratch[worker].runner.Gradient(tile, t.blocks) }

func (t *trainer) doPrepare(worker, tile int) { t.scratch[worker].runner.Prepare(tile) }
