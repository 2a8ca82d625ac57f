package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// A series holds the slots of a block of rows at several times. The slots of a time
// follow each other, and each has the units of all rows, row by row. Level 0 is the start, level
// i+1 step i; with fewer levels than steps, those that nobody reads any more are used again.
type series[T gauss.Float] struct {
	mean, vari           []T // vari is nil where values are fixed
	levels, slots, width int // width is the units of a row, or those of all followed quantities
}

func newSeries[T gauss.Float](levels, slots, rows, width int, vari bool) series[T] {
	n := levels * slots * rows * width
	s := series[T]{mean: compute.Make[T](n), levels: levels, slots: slots, width: width}
	if vari {
		s.vari = compute.Make[T](n)
	}
	return s
}

// at is n slots of a level.
func (s *series[T]) at(rows, level, slot, n int) gauss.Batch[T] {
	size := rows * s.width
	lo := (level%s.levels*s.slots + slot) * size
	b := gauss.Batch[T]{Rows: n * rows, Width: s.width, Mean: s.mean[lo : lo+n*size]}
	if s.vari != nil {
		b.Var = s.vari[lo : lo+n*size]
	}
	return b
}

// An applied is the function of a step at all times.
type applied[T gauss.Float] struct {
	tile                  *moment.Tile[T]
	jac                   kernel.Moments[T]
	slope, slopeM, slopeV []T
	e                     []T // the variance beyond the slope
}

type recurrentRunner[T gauss.Float] struct {
	*recurrent[T]
	train  bool
	rows   int // of the block Forward saw last
	levels int // steps that are kept
	input  projectionRunner[T]
	state  []projectionRunner[T]

	gates    gauss.Batch[T] // of the input: rows × times·gates·units
	byGates  gauss.Batch[T] // the gradient by them
	values   series[T]
	grads    series[T]
	step     gauss.Batch[T] // what a matrix makes of a slot, or the gradient by that
	back     gauss.Batch[T] // the gradient by a slot
	room     [2][]T
	applied  []applied[T] // one for each step
	pass     Pass[T]      // of the input
	followed *followed[T] // where correlations are carried
}

func (u *recurrent[T]) NewRunner(maxRows int, train bool) Runner[T] {
	times := u.shape.W
	r := &recurrentRunner[T]{recurrent: u, train: train, levels: 1, input: u.input.newRunner(maxRows, train)}
	random := u.form != Fixed
	if train || u.sense {
		r.levels = times
	}
	batch := func(width int) gauss.Batch[T] {
		b := newBatch[T](maxRows, width)
		if !random {
			b.Var = nil
		}
		return b
	}
	r.gates = batch(times * u.gates * u.units)
	r.values = newSeries[T](r.levels+1, u.slots, maxRows, u.units, random)
	widest := u.gates
	for i := range u.state {
		widest = max(widest, u.matrices[i].gates)
		p := u.state[i].newRunner(maxRows, train)
		if train || u.sense {
			p.in = batch(times * u.units)
		}
		if train {
			p.grad = batch(times * u.matrices[i].gates * u.units)
		}
		r.state = append(r.state, p)
	}
	r.step = batch(widest * u.units)
	r.back = batch(u.units)
	for i := range r.room {
		r.room[i] = make([]T, maxRows*widest*u.units)
	}
	if train {
		r.byGates = batch(times * u.gates * u.units)
		kept := 2
		if u.sense {
			kept = times + 1
		}
		r.grads = newSeries[T](kept, u.slots, maxRows, u.units, random)
		if r.alike() {
			r.state[0].grad = r.byGates
		}
	}
	for _, s := range u.steps {
		r.applied = append(r.applied, u.newApplied(s, r.levels*s.n*maxRows*u.units, train))
	}
	if u.sense {
		r.followed = newFollowed(r, maxRows)
	}
	return r
}

// alike reports whether the gradient by what the first matrix makes is that by the gates of
// the input: all gates are joined.
func (u *recurrent[T]) alike() bool { return u.steps[0].joined == u.gates }

// newApplied makes room for n elements of a step that applies a function.
func (u *recurrent[T]) newApplied(s recurrentStep, n int, train bool) (a applied[T]) {
	if s.kind != stepApply {
		return a
	}
	rule := u.rules[s.function]
	a.tile = moment.NewTile[T](u.functions[s.function], rule)
	if train {
		a.jac = newJacobian[T](n)
	}
	if u.sense {
		a.slope = make([]T, n)
		a.e = make([]T, n)
		if train || rule.Nodes().Method != moment.ByPoints {
			a.slopeM = make([]T, n)
			a.slopeV = make([]T, n)
		}
		if a.jac.MM == nil && a.slopeM != nil {
			a.jac = newJacobian[T](n)
		}
	}
	return a
}

// projection is that of the input, 0, or of a matrix.
func (r *recurrentRunner[T]) projection(i int) *projectionRunner[T] {
	if i == 0 {
		return &r.input
	}
	return &r.state[i-1]
}

func (r *recurrentRunner[T]) Prepare(tile int) {
	i := 0
	for tile >= r.projection(i).prepareTiles() {
		tile -= r.projection(i).prepareTiles()
		i++
	}
	r.projection(i).Prepare(tile)
}

func (r *recurrentRunner[T]) Gradient(tile int, blocks []Block[T]) {
	i, before := 0, 0
	for tile >= r.projection(i).gradTiles() {
		tile -= r.projection(i).gradTiles()
		before += r.projection(i).tapeWidth()
		i++
	}
	r.projection(i).Gradient(tile, blocks, before)
}
