// Package laplace computes the covariance of a network's weights from its Jacobians: what a linearised
// (Gauss–Newton) Laplace approximation says, with correlations between all weights of a layer, or of
// all layers. A factorised posterior has none, and is too sure between clusters of rows.
//
// The adjoint pass of nn.Correlated knows how an output varies with the weights of a layer: by a ⊗ m,
// the sensitivities to its outputs and the means of its inputs. With prior covariance S, Jacobians J_n
// of the training rows and the Hessians H_n of −ln p by the outputs, 1/(noise + v) for numbers, the
// covariance of the weights is
//
//	Σ = (S⁻¹ + Σ_n J_nᵀ H_n J_n)⁻¹                                  [Weights]
//
// and that of the outputs of two rows is J Σ J'ᵀ. Where weights are many, the same follows from the
// kernel k(x, x') = J S J'ᵀ = Σ_layers s²·(a·a')(m·m') of the rows (Woodbury):
//
//	k(x, x') − k(x, X)·(K + H⁻¹)⁻¹·k(X, x')                         [Kernel]
//
// Where rows are many as well, weights vary along the Jacobians of some of them, the landmarks, and
// as in the prior across these; all rows are counted.
package laplace
