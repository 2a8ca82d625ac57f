// Package experiment holds the paper's experiments as reproducible runs: a
// specification goes in, every number comes out. A run that was interrupted
// continues where it stood, and gives the same bits.
package experiment

// An Event tells how far one of an experiment's trainings is.
type Event struct {
	Trial       string
	Index       int // of the trial, < Trials
	Trials      int
	Step, Steps int     // done, and to do in all
	Score       float64 // the last validation score, NaN before the first
}

// A Progress hears of events. Trainings run concurrently, and call it so.
type Progress func(Event)
