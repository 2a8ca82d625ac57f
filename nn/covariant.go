package nn

import "utvi/gauss"

// A CovarianceTaker is a layer that can use the covariances of its inputs. Any other
// layer is bound as if the units of a row were independent.
type CovarianceTaker interface {
	Layer
	// TakesCovariances reports whether the layer, with its settings, reads In.Cov of
	// inputs of the form Covariant. The Form method of its unit states the form of the
	// output. In training the unit writes DIn.Cov: the gradients with respect to the
	// covariances of two different units, symmetric. Gradients with respect to
	// variances go to DIn.Var as usual; the diagonal of DIn.Cov is ignored.
	TakesCovariances() bool
}

func takesCovariances(l Layer) bool {
	t, ok := l.(CovarianceTaker)
	return ok && t.TakesCovariances()
}

// TakesCovariances implements CovarianceTaker: the first layer of a chain decides.
func (l Chain) TakesCovariances() bool { return len(l) > 0 && takesCovariances(l[0]) }

// scaleCov writes the covariances of units that are scaled by slopes g, one for each
// unit and row or, if there are fewer, the same for all rows; their variances are given
// by out.Var. A nil out.Cov is not wanted.
func scaleCov[T gauss.Float](out, in gauss.Batch[T], g []T) {
	w := in.Width
	for at := range out.Cov {
		i, j := at/w%w, at%w
		row := at / (w * w) * w
		if i == j {
			out.Cov[at] = out.Var[row+i]
			continue
		}
		out.Cov[at] = T(g[(row+i)%len(g)]*g[(row+j)%len(g)]) * in.Cov[at]
	}
}

// unscaleCov writes the gradients by the covariances that scaleCov took. A nil out.Cov
// is zero.
func unscaleCov[T gauss.Float](din, dout gauss.Batch[T], g []T) {
	w := din.Width
	clear(din.Cov)
	if din.Cov == nil {
		return
	}
	for at, d := range dout.Cov {
		row := at / (w * w) * w
		din.Cov[at] = T(g[(row+at/w%w)%len(g)]*g[(row+at%w)%len(g)]) * d
	}
}

// slopeGradient is the gradient by the slope of unit i of a row of scaleCov.
func slopeGradient[T gauss.Float](in, dout gauss.Batch[T], g []T, row, i int) float64 {
	w := in.Width
	var sum float64
	for j := range w {
		if at := (row*w+i)*w + j; j != i {
			sum += 2 * float64(dout.Cov[at]) * float64(g[(row*w+j)%len(g)]) * float64(in.Cov[at])
		}
	}
	return sum
}
