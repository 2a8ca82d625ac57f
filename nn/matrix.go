package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	mul "utvi/internal/compute/product"
)

// A matrix is a view: element (i, j) is data[i*row + j*column].
type matrix[T gauss.Float] struct {
	data          []T
	rows, columns int
	row, column   int
}

func rowMajor[T gauss.Float](data []T, rows, columns int) matrix[T] {
	return matrix[T]{data[:rows*columns], rows, columns, columns, 1}
}

// t is the transposed matrix.
func (m matrix[T]) t() matrix[T] { return matrix[T]{m.data, m.columns, m.rows, m.column, m.row} }

// mulRoom is what products of n × p and p × q matrices, and those of their gradients, need.
type mulRoom[T gauss.Float] struct {
	panels []T // the right operand
	square []T // second moments of a factor
	other  []T // a product of the size of a factor
}

func newMulRoom[T gauss.Float](n, p, q int) mulRoom[T] {
	most := 0
	for _, s := range [][2]int{{p, q}, {p, n}, {q, p}, {n, p}, {n, q}, {q, n}} {
		most = max(most, mul.RightLen(s[0], s[1]))
	}
	return mulRoom[T]{panels: compute.Make[T](most), square: make([]T, max(n*p, p*q)), other: make([]T, max(n*p, p*q))}
}

// mul writes x·y to dst, or adds it.
func (r *mulRoom[T]) mul(dst, x, y matrix[T], add bool) {
	if dst.column != 1 {
		dst = dst.t()
		x, y = y.t(), x.t()
	}
	right := mul.Right[T]{K: y.rows, N: y.columns, Data: r.panels[:mul.RightLen(y.rows, y.columns)]}
	right.Pack(y.data, y.row, y.column)
	to := mul.To(dst.data, dst.row)
	if add {
		to = mul.Onto(dst.data, dst.row)
	}
	mul.Mul(to, mul.Strided(x.data, x.row, x.column), x.rows, right)
}

// second returns m∘m, plus v on demand, in room that the next call uses again.
func (r *mulRoom[T]) second(m, v matrix[T], add bool) matrix[T] {
	s := m
	s.data = r.square[:len(m.data)]
	kernel.MulTo(s.data, m.data, m.data)
	if add {
		kernel.Add(s.data, v.data)
	}
	return s
}

// like is room for a matrix that lies as m does.
func (r *mulRoom[T]) like(m matrix[T]) matrix[T] {
	m.data = r.other[:len(m.data)]
	return m
}

func scaleBy[T gauss.Float](x []T, by T) {
	if by != 1 {
		kernel.ScaleTo(x, x, by)
	}
}

// scaleTo writes as much of x as dst has, times by.
func scaleTo[T gauss.Float](dst, x []T, by T) {
	kernel.ScaleTo(dst, x, by)
}
