package gpu

import (
	"slices"

	"utvi/internal/cuda"
	"utvi/nn"
)

// A levels is the table of a category; see kernels/embed.h.
type levels struct {
	Unit, Levels, Width, At int32
	Mean, Var               cuda.Ptr
}

const sizeLevels = 32

type levelGradient struct {
	Table         levels
	M, G, H, De   cuda.Ptr
	Rows, In, Out int32
	_             int32
	GM, GS        cuda.Ptr
	Results       cuda.Ptr
}

// embed lists the units that stay and the tables.
func (l *layer) embed(x nn.Embed) {
	l.kind = opEmbed
	unit := 0
	for _, c := range x.Categories {
		for ; unit < c.Unit; unit++ {
			l.table = append(l.table, int32(unit))
		}
		unit++
	}
	for ; unit < l.in; unit++ {
		l.table = append(l.table, int32(unit))
	}
	at := len(l.table)
	for _, c := range x.Categories {
		l.levels = append(l.levels, levels{Unit: int32(c.Unit), Levels: int32(c.Levels), Width: int32(c.Width), At: int32(at)})
		at += c.Width
	}
}

// tables are the tables of a layer with their parameters on the card.
func (w *weights) tables(l *layer) []levels {
	all := slices.Clone(l.levels)
	for i, t := range l.tensors {
		all[i].Mean, all[i].Var = w.at(t), w.tensors[t].s
	}
	return all
}

// addLevels adds the gradients of a layer's tables. Where those of the parameters lie is known
// later: they are kept as distances from the first.
func (s *stepList) addLevels(l *layer, o op, e senseGradients) {
	w := s.w
	for i, x := range w.tables(l) {
		g := levelGradient{Table: x, M: o.M, G: o.G, H: o.H, De: e.adds, Rows: int32(s.rows), In: int32(l.in), Out: int32(l.out), Results: w.results}
		g.GM = cuda.Ptr(4 * w.mean[l.tensors[i]])
		if x.Var != 0 {
			g.GS = cuda.Ptr(4 * w.rho[l.tensors[i]])
		}
		s.levels = append(s.levels, g)
	}
}

// placeLevels makes addresses of the distances.
func (s *stagedStep) placeLevels(all []levelGradient) {
	for _, g := range all {
		g.GM += s.grad
		if g.GS != 0 {
			g.GS += s.grad
		}
		s.levels = append(s.levels, many[levelGradient]{One: g})
	}
}

// levelThreads is how many elements of a table a block has.
const levelThreads = 256

func (s *stagedStep) runLevels() error {
	for i := range s.levels {
		g := &s.levels[i]
		n := tiles(int(g.One.Table.Levels*g.One.Table.Width), levelThreads)
		if err := launch(s.w, s.w.kernels.levels, cuda.Grid{X: n}, levelThreads, g); err != nil {
			return err
		}
	}
	return nil
}
