// Package tabular fits a table that has been encoded as numbers: regression on one
// or several targets, or classification, without anything to tune.
//
// # What is chosen, and how
//
// Networks differ in what matters most on small tables: the model of the noise
// (embedded in the weights' variances, a learned variance, or a head that predicts
// the variance), the weight of the KL (1 is the evidence lower bound; a mean-field
// posterior of a network with more weights than rows underfits there, and less is a
// colder posterior), the nonlinearity and the size. A few such candidates are trained
// with some rows held out, in folds where there are few rows, and scored there by
//
//	ln p(y) = ln (1/K) Σ p_k(y)
//
// The best one decides on the noise. Then members are picked one at a time, with
// repetition, each the one that raises the held-out score of the mixture most
// (Caruana et al. 2004), and each pick is trained from a seed of its own: on all
// rows where there are few, without those held out where there are many. A training
// ends where the candidate's held-out score stopped rising.
//
// # What is predicted
//
// The mixture of the members, whose Normals are widened to the shape that held-out
// residuals have: N(m, v) becomes Σ w_j N(m, r_j·v), the w and r fitted to held-out
// rows by expectation maximisation. Real residuals have heavier tails than a
// Normal's; a Normal that allows for them covers too much.
//
// Everything is in the units of the encoded table. All choices are functions of the
// rows, the configuration and its seed alone.
package tabular
