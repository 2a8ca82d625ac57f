package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/vi"
)

// Embed replaces units that number the levels of a category by learned Normals: level k
// of a category becomes row k of its table, Width independent Normals with a mean and a
// variance each. Outputs are all other units first, in order, then the rows of the
// categories.
//
// The prior of a table is that of a random effect: what the levels have in common. A level
// that training rarely showed stays near the prior, with most of its variance, and a level
// that it never showed is the prior.
type Embed struct {
	Categories []Category `json:"categories"` // in ascending order of their units
}

// A Category is a unit that holds the number of a level, 0 to Levels−1. Any other number
// is read as the nearest of them. A variance of the unit is ignored.
type Category struct {
	Unit   int `json:"unit"`
	Levels int `json:"levels"`
	Width  int `json:"width"` // Normals of a level
}

// embedStart is the standard deviation that levels start with. The prior follows the
// levels: with one near 0 they would never leave it.
const embedStart = 0.3

// Kind is "embed", as model files and the names of parameters have it.
func (Embed) Kind() string { return "embed" }

// Bind32 declares a vector for each level of each category.
func (l Embed) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindEmbed(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Embed) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindEmbed(l, b) }

type embed[T gauss.Float] struct {
	form, in Form
	sense    bool
	inputs   int
	out      int
	tape     int
	others   []int // the units that stay
	tables   []levelTable[T]
	tiles    []levelTile
}

// A levelTable is the table of one category.
type levelTable[T gauss.Float] struct {
	Category
	*vi.Tensor[T]
	variance []T // nil: the levels are numbers
	at       int // its first output
	tape     int // its first number on the tape: the level, gradients by mean and by variance
}

// A levelTile is levels lo to hi−1 of a table.
type levelTile struct{ table, lo, hi int }

func bindEmbed[T gauss.Float](l Embed, b *Binder[T]) (Unit[T], error) {
	const tile = 1 << 13 // numbers
	u := &embed[T]{in: b.Form.apart(), sense: b.Sense, inputs: b.In.Size()}
	u.form = u.in
	last := -1
	for i, c := range l.Categories {
		switch {
		case c.Unit <= last || c.Unit >= u.inputs:
			return nil, fmt.Errorf("category %d is unit %d; the units must rise and be below %d", i, c.Unit, u.inputs)
		case c.Levels < 1 || c.Levels > 1<<24 || c.Width < 1 || c.Width > maxWeights/c.Levels:
			return nil, fmt.Errorf("%d levels of %d Normals; there must be 1 to %d levels, and at most %d Normals", c.Levels, c.Width, 1<<24, maxWeights)
		}
		for last++; last < c.Unit; last++ {
			u.others = append(u.others, last)
		}
		t, err := b.RandomFrom(fmt.Sprintf("levels%d", i), 0, embedStart, vi.Prior{}, c.Levels, c.Width)
		if err != nil {
			return nil, err
		}
		u.form = u.form.orRandom(t.Random)
		u.tables = append(u.tables, levelTable[T]{Category: c, Tensor: t, tape: u.tape})
		u.tape += 1 + 2*c.Width
		for lo, n := 0, max(1, tile/c.Width); lo < c.Levels; lo += n {
			u.tiles = append(u.tiles, levelTile{i, lo, min(lo+n, c.Levels)})
		}
	}
	if len(u.tables) == 0 {
		return nil, fmt.Errorf("no category; an embed layer needs at least 1")
	}
	for last++; last < u.inputs; last++ {
		u.others = append(u.others, last)
	}
	u.out = len(u.others)
	for i := range u.tables {
		t := &u.tables[i]
		t.at = u.out
		u.out += t.Width
		if t.Random {
			t.variance = make([]T, t.Levels*t.Width)
		}
	}
	return u, nil
}

func (u *embed[T]) Out() Shape        { return Vec(u.out) }
func (u *embed[T]) Form() Form        { return u.form }
func (u *embed[T]) TapeWidth() int    { return u.tape }
func (u *embed[T]) GradTiles() int    { return len(u.tiles) }
func (u *embed[T]) PrepareTiles() int { return len(u.tiles) }

func (u *embed[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &embedRunner[T]{embed: u}
	if !u.sense || u.form == Fixed {
		return r
	}
	s := &embedSenser[T]{embedRunner: r, e: make([]T, maxRows*u.out)}
	if train {
		r.de = make([]T, maxRows*u.out)
	}
	return s
}

// An embedRunner has in de, where correlations are carried, the gradients by the variances
// that the levels add.
type embedRunner[T gauss.Float] struct {
	*embed[T]
	de []T
}

func (r *embedRunner[T]) Prepare(tile int) {
	x := r.tiles[tile]
	t := &r.tables[x.table]
	if lo, hi := x.lo*t.Width, x.hi*t.Width; t.variance != nil {
		kernel.Variance(t.variance[lo:hi], t.Rho[lo:hi])
	}
}

// level is the number of the level that a unit holds.
func (c Category) level(x float64) int {
	return int(min(max(x, 0), float64(c.Levels-1)) + 0.5)
}

func (r *embedRunner[T]) Forward(p *Pass[T]) {
	for row := range p.In.Rows {
		x, out := p.In.Mean[row*r.inputs:][:r.inputs], p.Out.Mean[row*r.out:][:r.out]
		for i, unit := range r.others {
			out[i] = x[unit]
		}
		for i := range r.tables {
			t := &r.tables[i]
			copy(out[t.at:t.at+t.Width], t.Mean[t.level(float64(x[t.Unit]))*t.Width:])
		}
		if r.form == Fixed {
			continue
		}
		v := p.Out.Var[row*r.out:][:r.out]
		clear(v)
		if r.in != Fixed {
			for i, unit := range r.others {
				v[i] = p.In.Var[row*r.inputs+unit]
			}
		}
		for i := range r.tables {
			if t := &r.tables[i]; t.variance != nil {
				copy(v[t.at:t.at+t.Width], t.variance[t.level(float64(x[t.Unit]))*t.Width:])
			}
		}
	}
}

// Backward leaves on the tape the level of each category and the gradients by its
// moments. The number of a level has no slope.
func (r *embedRunner[T]) Backward(p *Pass[T]) {
	for row := range p.DOut.Rows {
		tape := p.Tape[row*r.tape:][:r.tape]
		for i := range r.tables {
			t := &r.tables[i]
			at, n := row*r.out+t.at, t.Width
			to := tape[t.tape:][:1+2*n]
			to[0] = T(t.level(float64(p.In.Mean[row*r.inputs+t.Unit])))
			copy(to[1:1+n], p.DOut.Mean[at:])
			if t.variance == nil {
				continue
			}
			copy(to[1+n:], p.DOut.Var[at:at+n])
			if r.de != nil {
				kernel.Add(to[1+n:], r.de[at:at+n])
			}
		}
		if p.DIn.Mean == nil {
			continue
		}
		dx := p.DIn.Mean[row*r.inputs:][:r.inputs]
		clear(dx)
		for i, unit := range r.others {
			dx[unit] = p.DOut.Mean[row*r.out+i]
		}
		if r.in != Fixed {
			dv := p.DIn.Var[row*r.inputs:][:r.inputs]
			clear(dv)
			for i, unit := range r.others {
				dv[unit] = p.DOut.Var[row*r.out+i]
			}
		}
	}
}

func (r *embedRunner[T]) Gradient(tile int, blocks []Block[T]) {
	x := r.tiles[tile]
	t := &r.tables[x.table]
	n := t.Width
	clear(t.GMean[x.lo*n : x.hi*n])
	if t.variance != nil {
		clear(t.GVar[x.lo*n : x.hi*n])
	}
	for _, b := range blocks {
		for row := range b.Rows {
			from := b.Tape[row*r.tape+t.tape:][:1+2*n]
			k := int(from[0])
			if k < x.lo || k >= x.hi {
				continue
			}
			kernel.Add(t.GMean[k*n:(k+1)*n], from[1:1+n])
			if t.variance != nil {
				kernel.Add(t.GVar[k*n:(k+1)*n], from[1+n:])
			}
		}
	}
}

// Follow implements Sensitive.
func (u *embed[T]) Follow(int) {}

// embedSenser carries correlations: the levels of a row are independent of all others and
// add their variances; the other units are passed on.
type embedSenser[T gauss.Float] struct {
	*embedRunner[T]
	e []T // rows × outputs, 0 for units that are passed on
}

func (r *embedSenser[T]) Forward(p *Pass[T]) {
	r.embedRunner.Forward(p)
	e := r.e[:len(p.Out.Var)]
	copy(e, p.Out.Var)
	for row := range p.In.Rows {
		clear(e[row*r.out:][:len(r.others)])
	}
}

func (r *embedSenser[T]) Sense(s *Sense[T]) {
	s.AddVariances(r.e, r.out)
	if s.Weigher != nil {
		r.weigh(s)
	}
	if s.In == nil {
		return
	}
	clear(s.In)
	for i := range s.Rows * s.K {
		for j, unit := range r.others {
			s.In[i*r.inputs+unit] = s.Out[i*r.out+j]
		}
	}
}

// weigh tells which levels the rows have.
func (r *embedSenser[T]) weigh(s *Sense[T]) {
	level := make([]int, s.Rows)
	for _, t := range r.tables {
		for row := range level {
			level[row] = t.level(float64(s.Pass.In.Mean[row*r.inputs+t.Unit]))
		}
		if t.variance != nil {
			s.Weigher.Levels(s, t.Tensor, level, t.at)
		}
	}
}

func (r *embedSenser[T]) SenseBack(s *Sense[T]) {
	clear(s.BOut)
	if s.BIn != nil {
		for i := range s.Rows * s.K {
			for j, unit := range r.others {
				s.BOut[i*r.out+j] = s.BIn[i*r.inputs+unit]
			}
		}
	}
	s.AddVariancesBack(r.e, r.de, r.out)
}
