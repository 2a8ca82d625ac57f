package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/expr"
	"utvi/moment"
	"utvi/vi"
)

// applyParams are the parameters of a formula in a layer. Learned ones are point tensors
// of one number, or of one number per unit.
type applyParams[T gauss.Float] struct {
	learned []*vi.Tensor[T]
	fixed   [][]T // one number per unit, of the inputs after the learned ones
}

func (a *applyParams[T]) bindParams(f *expr.Formula, b *Binder[T]) error {
	if f == nil {
		return nil
	}
	size := b.In.Size()
	for i, p := range f.Inputs {
		if p.Values != nil && len(p.Values) != size {
			return fmt.Errorf("the parameter %s has %d values for %d units; each unit needs one", p.Name, len(p.Values), size)
		}
		if i >= f.Learned {
			values := make([]T, size)
			for k, v := range p.Values {
				values[k] = T(v)
			}
			a.fixed = append(a.fixed, values)
			continue
		}
		n := 1
		if p.OnePerUnit() {
			n = size
		}
		t, err := b.declared(b.Params.Point(b.Name+".param."+p.Name, 1, p.Start, n))
		if err != nil {
			return err
		}
		a.learned = append(a.learned, t)
	}
	return nil
}

// learnedWidth returns the number of all learned parameters.
func (a *applyParams[T]) learnedWidth() int {
	n := 0
	for _, t := range a.learned {
		n += t.Len()
	}
	return n
}

// values returns an input of the formula: one number, or one a unit.
func (a *applyParams[T]) values(j int) []T {
	if j < len(a.learned) {
		return a.learned[j].Mean
	}
	return a.fixed[j-len(a.learned)]
}

// setGradient sets the gradient of learned parameter i, counted over all tensors.
func (a *applyParams[T]) setGradient(i int, sum float64) {
	for _, t := range a.learned {
		if i < t.Len() {
			t.GMean[i] = T(sum)
			return
		}
		i -= t.Len()
	}
}

// A paramRun is the part of a runner that handles the parameters.
type paramRun[T gauss.Float] struct {
	params *applyParams[T]
	inputs [][]T // of a tile
	mp, vp [][]T // derivatives of the block's moments; nil: not wanted
}

// keep allocates the derivatives of n elements.
func (r *paramRun[T]) keep(learned []*vi.Tensor[T], n int) {
	for range learned {
		r.mp, r.vp = append(r.mp, make([]T, n)), append(r.vp, make([]T, n))
	}
}

// attach gives a tile its inputs.
func (r *paramRun[T]) attach(a *applyParams[T], t *moment.Tile[T]) {
	r.params = a
	for range len(a.learned) + len(a.fixed) {
		r.inputs = append(r.inputs, make([]T, t.Cap()))
	}
	t.Params = r.inputs
	if r.mp != nil {
		t.MP, t.VP = make([][]T, len(r.mp)), make([][]T, len(r.vp))
	}
}

// begin sets the inputs that all units share.
func (r *paramRun[T]) begin(t *moment.Tile[T]) {
	for j, in := range r.inputs {
		if v := r.params.values(j); len(v) == 1 {
			for i := range in {
				in[i] = v[0]
			}
		}
	}
}

// place sets the inputs and the places of the derivatives for elements [lo, hi) of
// rows of the given width.
func (r *paramRun[T]) place(t *moment.Tile[T], lo, hi, width int) {
	for j, in := range r.inputs {
		v := r.params.values(j)
		if len(v) == 1 {
			continue
		}
		unit, in := lo%width, in[:hi-lo]
		for len(in) > 0 {
			n := copy(in, v[unit:])
			in, unit = in[n:], 0
		}
	}
	for j := range r.mp {
		t.MP[j], t.VP[j] = r.mp[j][lo:hi], r.vp[j][lo:hi]
	}
}

// record stores the gradients of each row on the tape, whose rows have the given
// width, from the given column on.
func (r *paramRun[T]) record(p *Pass[T], width, column int) {
	n := p.DOut.Width
	for j := range r.mp {
		for row := range p.DOut.Rows {
			tape := p.Tape[row*width+column:]
			var sum float64
			for u := range n {
				i := row*n + u
				g := float64(p.DOut.Mean[i]) * float64(r.mp[j][i])
				if p.DOut.Var != nil {
					g += float64(p.DOut.Var[i]) * float64(r.vp[j][i])
				}
				sum += g
				if r.params.learned[j].Len() > 1 {
					tape[u] = T(g)
				}
			}
			if r.params.learned[j].Len() == 1 {
				tape[0] = T(sum)
			}
		}
		column += r.params.learned[j].Len()
	}
}
