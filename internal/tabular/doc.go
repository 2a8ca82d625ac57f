// Package tabular fits a table that has been encoded as numbers: regression on one
// or several targets, or classification, without tuning.
//
// # What is chosen, and how
//
// Networks differ in what matters most on small tables: the model of the noise
// (embedded in the weights' variances, a learned variance, or a head that predicts
// the variance), how much of the score has a noise that all rows share (see
// likelihood.Heteroscedastic), the weight of the KL (1 is the evidence lower bound; a
// mean-field posterior of a network with more weights than rows underfits there, and less
// is a colder posterior), the nonlinearity, the size, and whether numbers are embedded: by
// intervals (nn.Piecewise), which steps and thresholds ask for, or by waves (nn.Periodic),
// which tell neighbouring rows apart. A few such candidates are trained with some rows held
// out and scored there by ln p(y). The best one decides on the noise. Then members are
// picked one at a time, with repetition, always the one that raises the held-out score of
// the mixture most (Caruana et al. 2004),
//
//	ln p(y) = ln (1/K) Σ p_k(y)
//
// and each pick is trained from another seed. A training ends where the
// candidate's held-out score stopped rising.
//
// Before that, a target that is never negative and skewed is transformed (dist.Warp) if
// the first candidate then gives held-out rows a higher score; the slope of the transform
// is part of the score. In the same way, targets that are counts are predicted by a Poisson
// or negative binomial distribution if that gives held-out counts a higher probability than
// the density integrated over ± ½.
//
// Inputs that number the levels of a category are embedded (nn.Embed).
//
// # What is predicted
//
// The mixture of the members, whose Normals are widened to the shape that held-out
// residuals have: N(m, v) becomes Σ w_j N(m, r_j·v), three pairs w and r fitted to
// held-out rows by expectation maximisation. Real residuals have heavier tails than
// a Normal's; a Normal that allows for them covers too much. Two wide parts of small
// weight allow for rows of a kind that no held-out row showed. Candidates are scored
// the same way. In the end held-out rows also correct v by a power, by the mean m, and by a
// curve over the standard deviation (widths.Level).
//
// Far from the training rows the noise stays in the range that training rows showed, and
// the variance due to the weights grows.
//
// # Defaults
//
// The defaults depend only on the number of rows.
//
//	                    under 5,000 rows           5,000 rows and more
//	held out            2 of 8 folds, in turn      a sixteenth, for good
//	candidates          7, on both folds; the      6, for a third of the steps
//	                    best from 3 seeds
//	members             5, trained on all rows     5, without those held out
//	shape from          the candidates, as picked  the members
//	network             50 units a layer           100
//	steps               1250 of 64 rows            55·√rows of 128, at most
//	                                               27,500; of 256 from 50,000 rows
//
// One candidate of numbers is linear; of classes, one to three are. If levels are embedded, there are
// three more: two without these columns, and one with a KL of 1.
//
// Below 834 rows, three to five folds are held out, below 200 rows all ten, and there are 9 candidates,
// three of them with schedules of a half or a quarter of the steps. Two more are Gaussian processes with
// the kernel of the evidence, one a ridge regression, one that bends; they need no training. On the first two folds candidates are
// trained to the end; then no further than two stops beyond the one they would take, and not
// at all if they are far behind the best.
//
// Waves are tried on small tables only: a third of the steps does not show that they
// overfit.
//
// Everywhere: AdamW without decay, rate 0.005 with a short warm-up and a cosine, KL/N
// with a linear warm-up over three tenths of the steps, empirical-Bayes priors,
// σ = 0.02 to start from.
//
// Everything is in the units of the encoded table. All choices are functions of the
// rows, the configuration and its seed.
package tabular
