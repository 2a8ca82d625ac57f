// Package experiment has the paper's experiments: the trials that each needs, what
// their results show, and a verdict on each of the paper's claims.
//
// An Experiment plans and evaluates; a kind of trial (Kinds) trains and measures.
// They share nothing but result files (package sweep), so the trials may run
// anywhere, and figures and claims can be made again from the files.
package experiment
