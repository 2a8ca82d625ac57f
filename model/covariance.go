package model

import (
	"utvi/gauss"
	"utvi/internal/covariance"
)

// Covariances carries means and full covariance matrices through the network, in
// float64: the covariances of two units behind a nonlinearity are those of two jointly
// Normal inputs, as a series of the given order (1 keeps the slopes; 4 is close to
// drawn networks). It takes n³ operations for a layer of n units, and is meant for
// comparison: nn.Correlated gives the first order of it for the price of a backward
// pass.
//
// The result holds the covariances of the outputs of each row in Cov. It is an error
// if the network has a layer for which full covariances are not known.
func (n *Net[T]) Covariances(x gauss.Batch[T], order int) (gauss.Batch[float64], error) {
	return covariance.Propagate(n.Graph(), x, order)
}
