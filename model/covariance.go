package model

import (
	"utvi/gauss"
	"utvi/internal/covariance"
)

// Covariances propagates means and full covariance matrices through the network, in
// float64. The covariance of two units after a nonlinearity is that of two jointly
// Normal inputs, as a series of the given order (1 keeps the slopes; 4 is close to
// drawn networks). A layer of n units takes n³ operations, so the method is meant for
// comparison: nn.Correlated computes the first order for the price of a backward pass.
//
// The result holds the covariances of the outputs of each row in Cov. Covariances
// returns an error if full covariances are not known for a layer of the network.
func (n *Net[T]) Covariances(x gauss.Batch[T], order int) (gauss.Batch[float64], error) {
	return covariance.Propagate(n.Graph(), x, order)
}
