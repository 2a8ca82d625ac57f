package nn

import "utvi/gauss"

// Neighbours that are computed faster together than one after the other become one unit when a
// network is bound. That is a pass of its own over bound units, so a chain just runs what it
// gets, and whatever binds layers in another arrangement can use the pass for each of its runs:
// units of which each is the only reader of the output of the one before.
//
// Units behind an observer, and those that carry correlations, are not what the pass looks for:
// everything between them is seen by somebody.

// fuse replaces neighbours among units by units that compute them together, with the same bits,
// tapes and tiles. ends has, for each unit that is left, the last of those that it stands for.
func fuse[T gauss.Float](units []Unit[T]) (fused []Unit[T], ends []int) {
	for i := 0; i < len(units); i++ {
		u := units[i]
		if i+1 < len(units) {
			if both := activate(u, units[i+1]); both != nil {
				u = both
				i++
			}
		}
		fused = append(fused, u)
		ends = append(ends, i)
	}
	return fused, ends
}

// Signals between two units lie where the fewer copies are made: the runner of the unit behind may
// have a place for its input, the one of the unit before a place for the gradient by its output,
// both on their tapes. Whoever owns the signal asks for each block, before Forward or Backward
// of any unit; a nil mean is no place. variance is for signals that have any.
type (
	inputPlacer[T gauss.Float] interface {
		inputPlace(tape []T, rows int) (mean, variance []T)
	}
	gradientPlacer[T gauss.Float] interface {
		gradientPlace(tape []T, rows int) (mean, variance []T)
	}
)

// A linker is a runner that can do more if it knows the runner that reads its output, the only
// one; next is nil if that is somebody else. room is memory for a batch as wide as the widest
// signal, which all linkers share: what one leaves there is lost when it returns.
type linker[T gauss.Float] interface {
	link(next Runner[T], room gauss.Batch[T])
}

// linkAll links runners that run one after the other, with room from make.
func linkAll[T gauss.Float](runners []Runner[T], room func() gauss.Batch[T]) {
	var shared gauss.Batch[T]
	for i, r := range runners {
		l, ok := r.(linker[T])
		if !ok {
			continue
		}
		if shared.Mean == nil {
			shared = room()
		}
		var next Runner[T]
		if i+1 < len(runners) {
			next = runners[i+1]
		}
		l.link(next, shared)
	}
}

// placed is a batch with its numbers at a place, if there is one.
func placed[T gauss.Float](b gauss.Batch[T], mean, variance []T) gauss.Batch[T] {
	if mean == nil {
		return b
	}
	b.Mean = mean
	if b.Var != nil {
		b.Var = variance
	}
	return b
}
