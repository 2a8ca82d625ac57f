package importer

import (
	"fmt"
	"slices"

	"utvi/internal/onnx"
)

// A constant is a tensor of numbers that the graph knows. A dimension that has the rows is 1 long.
type constant struct {
	dims  []int
	data  []float64
	whole bool // the graph has them as whole numbers, whose quotients are whole, too
}

func (r *reader) tensor(t *onnx.Tensor) (*constant, error) {
	data, err := t.Float64s(r.beside)
	if err != nil {
		return nil, err
	}
	r.held += len(data)
	c := &constant{data: data, whole: !fractions(t.Elem)}
	for _, d := range t.Dims {
		c.dims = append(c.dims, int(d))
	}
	return c, nil
}

// scalar reports whether a constant is one number.
func (c *constant) scalar() bool { return len(c.data) == 1 }

// ints are the elements as whole numbers.
func (c *constant) ints() []int {
	v := make([]int, len(c.data))
	for i, x := range c.data {
		v[i] = int(max(-1<<52, min(1<<52, x)))
	}
	return v
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// with combines two constants element by element. Where one has a dimension of size 1, or
// lacks one in front, it is repeated.
func (c *constant) with(d *constant, f func(x, y float64) float64) (*constant, error) {
	rank := max(len(c.dims), len(d.dims))
	a, b := append(repeated(1, rank-len(c.dims)), c.dims...), append(repeated(1, rank-len(d.dims)), d.dims...)
	out := &constant{dims: make([]int, rank)}
	n, most := 1, max(len(c.data), len(d.data), 1<<20)
	for i := range a {
		out.dims[i] = a[i]
		if a[i] == 1 {
			out.dims[i] = b[i]
		}
		if b[i] != 1 && b[i] != out.dims[i] || out.dims[i] > 0 && n > most/out.dims[i] {
			return nil, fmt.Errorf("constants of the sizes %v and %v cannot be combined", c.dims, d.dims)
		}
		n *= out.dims[i]
	}
	out.data = make([]float64, n)
	for k := range out.data {
		var at [2]int
		for i, before := 0, n; i < rank; i++ {
			before /= out.dims[i]
			place := k / before % out.dims[i]
			for j, size := range [2]int{a[i], b[i]} {
				at[j] = at[j]*size + min(place, size-1)
			}
		}
		out.data[k] = f(c.data[at[0]], d.data[at[1]])
	}
	return out, nil
}

// unsqueeze adds dimensions of size 1.
func (c *constant) unsqueeze(axes []int) (*constant, error) {
	rank := len(c.dims) + len(axes)
	out := make([]int, rank)
	for _, a := range axes {
		if a < 0 {
			a += rank
		}
		if a < 0 || a >= rank || out[a] != 0 {
			return nil, fmt.Errorf("dimensions %v cannot be added to %d", axes, len(c.dims))
		}
		out[a] = 1
	}
	rest := c.dims
	for i := range out {
		if out[i] == 0 {
			out[i], rest = rest[0], rest[1:]
		}
	}
	return &constant{dims: out, data: c.data}, nil
}

// squeeze removes dimensions of size 1, all of them if none are named.
func (c *constant) squeeze(axes []int) (*constant, error) {
	var left []int
	for i, d := range c.dims {
		named := len(axes) == 0 || slices.Contains(axes, i) || slices.Contains(axes, i-len(c.dims))
		if d != 1 || !named {
			left = append(left, d)
		}
	}
	return &constant{dims: left, data: c.data}, nil
}

func (c *constant) reshape(to []int) (*constant, error) {
	dims, err := resolve(c.dims, to)
	if err != nil {
		return nil, err
	}
	return &constant{dims: dims, data: c.data}, nil
}

// resolve finds the sizes that 0 (as before) and −1 (what is left) stand for.
func resolve(from, to []int) ([]int, error) {
	dims := append([]int(nil), to...)
	open, known := -1, 1
	for i, d := range dims {
		if d == 0 && i < len(from) {
			dims[i] = from[i]
		}
		d = dims[i]
		if d < 0 {
			if open >= 0 {
				return nil, fmt.Errorf("the size %v leaves two dimensions open", to)
			}
			open = i
			continue
		}
		if d > 0 && known > 1<<53/d {
			return nil, fmt.Errorf("the size %v is too large", to)
		}
		known *= d
	}
	total := size(from)
	if open >= 0 && known > 0 {
		dims[open] = total / known
		known *= dims[open]
	}
	if known != total {
		return nil, fmt.Errorf("%d elements cannot take the size %v", total, to)
	}
	return dims, nil
}

func (c *constant) transpose(perm []int) (*constant, error) {
	n := len(c.dims)
	if perm == nil {
		for i := range n {
			perm = append(perm, n-1-i)
		}
	}
	if !isPermutation(perm, n) {
		return nil, fmt.Errorf("%v does not permute %d dimensions", perm, n)
	}
	out := &constant{dims: make([]int, n), data: make([]float64, len(c.data))}
	stride := make([]int, n)
	for i, s := n-1, 1; i >= 0; i-- {
		stride[i] = s
		s *= c.dims[i]
	}
	for i, p := range perm {
		out.dims[i] = c.dims[p]
	}
	at := make([]int, n)
	for k := range out.data {
		from := 0
		for i, p := range perm {
			from += at[i] * stride[p]
		}
		out.data[k] = c.data[from]
		for i := n - 1; i >= 0; i-- {
			if at[i]++; at[i] < out.dims[i] {
				break
			}
			at[i] = 0
		}
	}
	return out, nil
}

func isPermutation(perm []int, n int) bool {
	seen := make([]bool, n)
	for _, p := range perm {
		if p < 0 || p >= n || seen[p] {
			return false
		}
		seen[p] = true
	}
	return len(perm) == n
}
