package kernel

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// This file has the moments of softmaxes, sixteen side by side, and their slopes; fn.Softmax has the
// mathematics. Families agree to rounding.

// Sixteen are numbers side by side, each of a softmax of its own.
type Sixteen[T compute.Float] [16]T

// SoftmaxNodes are the points above 0 and the weights, that of 0 first, of the symmetric quadratures of
// Join, of 5 points, and of Logistic, of 15.
type SoftmaxNodes[T compute.Float] struct {
	JoinX     [2]T
	JoinW     [3]T
	LogisticX [7]T
	LogisticW [8]T
}

// SoftmaxWork is room that Join and Logistic need.
type SoftmaxWork[T compute.Float] [31]Sixteen[T]

// Normals16 has the means and variances of sixteen Normals.
type Normals16[T compute.Float] struct{ M, V Sixteen[T] }

// Joined are l = ln(eᵃ+eᵇ) of two Normals each, with the derivatives of the mean by that of b (1 − MB by
// that of a) and of the variance by it (−VB), of the mean by both variances, of the variance by each.
type Joined[T compute.Float] struct {
	Normals16[T]
	MB, VB, MV, VVA, VVB Sixteen[T]
}

// A Sigmoid has the moments of 1/(1+e^−x) and their derivatives by those of x: MM and VM by the mean,
// MV and VV by the variance.
type Sigmoid[T compute.Float] struct {
	Normals16[T]
	MM, VM, MV, VV Sixteen[T]
}

// head is where numbers for an assembly begin.
func head[T compute.Float](x *Sixteen[T]) *float32 { return &cpu.As32(x[:])[0] }

func softmaxVector[T compute.Float]() bool { return cpu.Is32[T]() && cpu.Vector }

// Join computes l from the moments of a and b, with its slopes if wanted.
func Join[T compute.Float](l *Joined[T], a, b *Normals16[T], n *SoftmaxNodes[T], work *SoftmaxWork[T], slopes bool) {
	if !softmaxVector[T]() {
		for i := range l.M {
			l.join(i, a, b, n)
		}
		return
	}
	nodes := &cpu.As32(n.JoinX[:])[0]
	if slopes {
		joinSlopesAsm(head(&l.M), head(&a.M), head(&b.M), nodes, head(&work[0]))
		return
	}
	joinAsm(head(&l.M), head(&a.M), head(&b.M), nodes, head(&work[0]))
}

// JoinBack adds to da and db the gradients by the moments of a and b, given the gradients d of l.
func JoinBack[T compute.Float](da, db, d *Normals16[T], l *Joined[T]) {
	if softmaxVector[T]() {
		joinBackAsm(head(&da.M), head(&db.M), head(&d.M), head(&l.M))
		return
	}
	for i := range d.M {
		m, v := d.M[i], d.V[i]
		toB := T(m*l.MB[i]) + T(v*l.VB[i])
		both := T(m * l.MV[i])
		da.M[i] += m - toB
		db.M[i] += toB
		da.V[i] += both + T(v*l.VVA[i])
		db.V[i] += both + T(v*l.VVB[i])
	}
}

// Logistic computes the moments of 1/(1+e^(rest−x)), with their slopes if wanted, and adds the means to sum.
func Logistic[T compute.Float](y *Sigmoid[T], sum *Sixteen[T], x, rest *Normals16[T], n *SoftmaxNodes[T], work *SoftmaxWork[T], slopes bool) {
	if !softmaxVector[T]() {
		for i := range y.M {
			y.logistic(i, x, rest, n)
			sum[i] += y.M[i]
		}
		return
	}
	nodes := &cpu.As32(n.JoinX[:])[0]
	if slopes {
		logisticSlopesAsm(head(&y.M), head(sum), head(&x.M), head(&rest.M), nodes, head(&work[0]))
		return
	}
	logisticAsm(head(&y.M), head(sum), head(&x.M), head(&rest.M), nodes, head(&work[0]))
}

// LogisticBack adds to dx and writes to drest the gradients by the moments of x and rest, given those by
// the moments of a softmax's output: its mean is that of y divided by sum, and what all outputs send
// there for it is shared.
func LogisticBack[T compute.Float](dx, drest, dy *Normals16[T], shared, sum *Sixteen[T], y *Sigmoid[T]) {
	if softmaxVector[T]() {
		logisticBackAsm(head(&dx.M), head(&drest.M), head(&dy.M), head(shared), head(sum), head(&y.M))
		return
	}
	for i := range dy.M {
		gm, gv := (dy.M[i]-shared[i])/sum[i], dy.V[i]
		m := T(gm*y.MM[i]) + T(gv*y.VM[i])
		v := T(gm*y.MV[i]) + T(gv*y.VV[i])
		drest.M[i], drest.V[i] = -m, v
		dx.M[i] += m
		dx.V[i] += v
	}
}
