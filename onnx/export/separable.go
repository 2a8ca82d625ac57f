package export

import (
	"utvi/internal/onnx"
	"utvi/nn"
)

// resize writes a Resize. Numbers that become a whole number of times as many cells have an
// operator of ONNX, which leaves no doubt about rounding.
func (w *writer) resize(l nn.Resize, in signal, out *signal) back {
	rows, columns := l.Matrices(in.shape)
	s, to := in.shape, out.shape
	if in.form != nn.Fixed || to.H%s.H != 0 || to.W%s.W != 0 {
		return w.separable(rows, columns, in, out)
	}
	mode := []onnx.Attribute{onnx.Text("mode", "nearest"), onnx.Text("nearest_mode", "floor"), onnx.Text("coordinate_transformation_mode", "asymmetric")}
	if l.Bilinear {
		mode = []onnx.Attribute{onnx.Text("mode", "linear"), onnx.Text("coordinate_transformation_mode", "half_pixel")}
	}
	if l.AlignCorners {
		mode[1] = onnx.Text("coordinate_transformation_mode", "align_corners")
	}
	scales := w.floats("scales", []float64{1, 1, float64(to.H / s.H), float64(to.W / s.W)}, 4)
	out.mean = w.unplanes(w.Op("Resize", []value{w.planes(in.mean, s), "", scales}, mode...), to)
	return nil
}

// separable writes a layer whose cells are sums of the input's with known weights, those of a
// row times those of a column: two products with constant matrices. Variances take squares.
func (w *writer) separable(rows, columns [][]float64, in signal, out *signal) back {
	product := func(v value, from, to nn.Shape, down, across []float64) value {
		v = w.reshape(v, -1, from.H, from.W*from.C)
		v = w.matmul(w.floats("rows", down, to.H, from.H), v)
		v = w.reshape(v, -1, to.H, from.W, from.C)
		return w.matmul(w.floats("columns", across, to.W, from.W), v)
	}
	down, across := flat(rows, 1), flat(columns, 1)
	done := func(v value) value { return w.natural(w.reshape(v, -1, out.shape.Size()), out.shape) }
	out.mean = done(product(in.mean, in.shape, out.shape, down, across))
	if in.form == nn.Fixed {
		return nil
	}
	out.variance = done(product(in.variance, in.shape, out.shape, flat(rows, 2), flat(columns, 2)))
	return func(_ *sensed, a value) value {
		y := product(a, out.shape, in.shape, turned(rows), turned(columns))
		return w.Op("Reshape", []value{y, w.likeRows(a, in.shape.Size())})
	}
}

// flat are the numbers of a matrix to a power, 1 or 2, row by row.
func flat(m [][]float64, power int) (all []float64) {
	for _, row := range m {
		for _, x := range row {
			if power == 2 {
				x *= x
			}
			all = append(all, x)
		}
	}
	return all
}

// turned are the numbers of a matrix, column by column.
func turned(m [][]float64) (all []float64) {
	for j := range m[0] {
		for _, row := range m {
			all = append(all, row[j])
		}
	}
	return all
}
