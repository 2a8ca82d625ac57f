package engine

import (
	"utvi/nn"
	"utvi/vi"
)

// A stepTask is what one worker updates and then prepares while it is in cache: whole
// ranges of parameters, and the tiles that read them.
type stepTask struct {
	ranges, tiles span
}

// A span is from ≤ i < to.
type span struct{ from, to int }

// maxStep is the most weights that a task of several tiles updates.
const maxStep = 1 << 16

// planStep assigns every tile of Prepare to a task, with the ranges that only the task's
// tiles read. The other ranges are updated before. With drawn weights these are all: a
// step then prepares nothing.
func (t *trainer) planStep() {
	first := map[*vi.Tensor[float32]]int{} // range of a tensor
	for i, r := range t.ranges {
		if r.lo == 0 {
			first[t.params.Tensors[r.tensor]] = i
		}
	}
	owned, tiles := make([]bool, len(t.ranges)), t.unit.PrepareTiles()
	for tile := 0; tile < tiles && t.draws == nil; {
		task := stepTask{tiles: span{tile, tile + 1}}
		if x, lo, hi, to := wholeRanges(t.unit, tile, tiles); x != nil {
			task.tiles.to = to
			task.ranges = span{first[x] + lo/rangeSize, first[x] + (hi+rangeSize-1)/rangeSize}
			for r := task.ranges.from; r < task.ranges.to; r++ {
				owned[r] = true
			}
		}
		t.tasks, tile = append(t.tasks, task), task.tiles.to
	}
	for r, owned := range owned {
		if !owned {
			t.unowned = append(t.unowned, r)
		}
	}
}

// wholeRanges returns the weights of a tensor that the tiles from one tile up to another
// read, if they are whole ranges and not too many. The tensor is nil otherwise.
func wholeRanges(u nn.Unit[float32], tile, tiles int) (x *vi.Tensor[float32], lo, hi, to int) {
	x, lo, hi = nn.PrepareReads(u, tile)
	if x == nil || lo%rangeSize != 0 {
		return nil, 0, 0, 0
	}
	for to = tile + 1; hi < x.Len() && hi%rangeSize != 0; to++ {
		if to == tiles {
			return nil, 0, 0, 0
		}
		y, from, end := nn.PrepareReads(u, to)
		if y != x || from != hi || end-lo > maxStep {
			return nil, 0, 0, 0
		}
		hi = end
	}
	return x, lo, hi, to
}

// makeStep updates all parameters and prepares the unit.
func (t *trainer) makeStep() {
	t.Pool.Run(len(t.unowned), t.runUnowned)
	t.Pool.Run(len(t.tasks), t.runStep)
}

func (t *trainer) doUnowned(worker, task int) { t.doUpdate(worker, t.unowned[task]) }

func (t *trainer) doStep(worker, task int) {
	s := &t.tasks[task]
	for r := s.ranges.from; r < s.ranges.to; r++ {
		t.doUpdate(worker, r)
	}
	for tile := s.tiles.from; tile < s.tiles.to; tile++ {
		t.doPrepare(worker, tile)
	}
}
