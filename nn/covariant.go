package nn

// A CovarianceTaker is a layer that knows what to do with covariances of its inputs.
// Any other layer is bound as if the units of a row were independent.
type CovarianceTaker interface {
	Layer
	// TakesCovariances reports whether the layer, with its settings, reads In.Cov of
	// inputs of the form Covariant. Its unit says by Form what it makes of them. In
	// training it writes DIn.Cov: the gradients by the covariances of two different
	// units, symmetric; those by variances go to DIn.Var as ever, and the diagonal of
	// DIn.Cov does not count.
	TakesCovariances() bool
}

func takesCovariances(l Layer) bool {
	t, ok := l.(CovarianceTaker)
	return ok && t.TakesCovariances()
}

// TakesCovariances: the first layer of a chain decides for itself.
func (l Chain) TakesCovariances() bool { return len(l) > 0 && takesCovariances(l[0]) }
