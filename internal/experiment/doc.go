// Package experiment holds the paper's experiments: the trials each needs, what
// their results show, and whether the paper's claims hold.
//
// An Experiment plans and compares; a kind of trial (Kinds) trains and measures.
// Between them stand result files only (package sweep), so the trials may run
// anywhere, and figures and claims can be made again from the files.
package experiment
