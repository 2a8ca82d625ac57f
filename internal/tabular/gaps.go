package tabular

import (
	"fmt"
	"slices"

	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// A column may be missing in a row that is predicted and in no row of training. An input
// that says so would be 0 in training and learn nothing, but it would make all networks
// larger. So networks are trained without such inputs, and get them afterwards (grow), with
// weights that make a prediction as uncertain as it varies with the column (setUnseen).

// checkGaps reports gaps that are not inputs of 0.
func (d Data) checkGaps() error {
	end := 0
	for _, g := range d.Gaps {
		if g.From < end || g.To < g.From+2 || g.To > d.X.Width {
			return fmt.Errorf("a column that is never missing has inputs %d to %d of %d; it needs its own, at least 2, behind those of the column before", g.From, g.To-1, d.X.Width)
		}
		end = g.To
		for i := range d.X.Rows {
			if d.X.Mean[i*d.X.Width+g.To-1] != 0 {
				return fmt.Errorf("input %d says that a column is missing in row %d; that column has no gap", g.To-1, i)
			}
		}
	}
	return nil
}

// withoutGaps returns the data without the inputs that say that a column is missing in no
// row.
func (d Data) withoutGaps() Data {
	if len(d.Gaps) == 0 {
		return d
	}
	out, at := d, make([]int, d.X.Width) // what an input becomes
	var kept []int
	for j := range d.X.Width {
		at[j] = len(kept)
		if !d.isGap(j) {
			kept = append(kept, j)
		}
	}
	narrow := func(x []float32) (to []float32) {
		if x == nil {
			return nil
		}
		to = make([]float32, 0, d.X.Rows*len(kept))
		for i := range d.X.Rows {
			for _, j := range kept {
				to = append(to, x[i*d.X.Width+j])
			}
		}
		return to
	}
	out.X = gauss.Batch[float32]{Rows: d.X.Rows, Width: len(kept), Mean: narrow(d.X.Mean), Var: narrow(d.X.Var)}
	out.Gaps = nil
	out.Choices = nil
	out.Levels = nil
	for _, c := range d.Choices {
		out.Choices = append(out.Choices, Span{at[c.From], at[c.From] + c.To - c.From})
	}
	if d.Levels != nil {
		for _, j := range kept {
			out.Levels = append(out.Levels, d.Levels[j])
		}
	}
	return out
}

func (d Data) isGap(input int) bool {
	return slices.ContainsFunc(d.Gaps, func(g Span) bool { return g.To-1 == input })
}

// grow returns the network with an input for each gap, which changes nothing if it is 0.
func grow(m *model.Model, d Data) (*model.Model, error) {
	if len(d.Gaps) == 0 {
		return m, nil
	}
	c := m.Config
	c.Input = nn.Vec(d.X.Width)
	var embedded nn.Embed // as it becomes
	c.Layers = nn.Rewrite(c.Layers, func(l nn.Layer) nn.Layer {
		switch l := l.(type) {
		case nn.Piecewise:
			return nn.Piecewise{Edges: spaced(d, l.Edges)}
		case nn.Periodic:
			return nn.Periodic{Frequencies: spaced(d, l.Frequencies)}
		case nn.Embed:
			embedded.Categories = slices.Clone(l.Categories)
			for i := range embedded.Categories {
				for _, g := range d.Gaps {
					if g.To-1 <= embedded.Categories[i].Unit {
						embedded.Categories[i].Unit++
					}
				}
			}
			return embedded
		}
		return l
	}).(nn.Chain)
	out, err := model.New(c)
	if err != nil {
		return nil, err
	}
	out.Facts, out.Likelihood = m.Facts, m.Likelihood
	for i, t := range m.Params.Tensors {
		to := out.Params.Tensors[i]
		to.Prior = t.Prior
		if t.Len() == to.Len() {
			copy(to.Mean, t.Mean)
			copy(to.Rho, t.Rho)
			continue
		}
		// The weights of the first dense layer, which has a row for each of its inputs.
		spread(to, t, func(row int) bool {
			return slices.ContainsFunc(d.Gaps, func(g Span) bool { return behind(embedded, g.To-1) == row })
		})
	}
	out.Changed()
	return out, nil
}

// spaced returns a list of what inputs have, with nothing for gaps.
func spaced(d Data, list [][]float64) (all [][]float64) {
	for j := range d.X.Width {
		if d.isGap(j) {
			all = append(all, nil)
		} else {
			all, list = append(all, list[0]), list[1:]
		}
	}
	return all
}

// spread copies rows of weights to those that are not new.
func spread(to, from *vi.Tensor[float32], isNew func(row int) bool) {
	width, next := from.Len()/from.Shape[0], 0
	for row := range to.Len() / width {
		if isNew(row) {
			continue
		}
		copy(to.Mean[row*width:(row+1)*width], from.Mean[next:])
		copy(to.Rho[row*width:(row+1)*width], from.Rho[next:])
		next += width
	}
}
