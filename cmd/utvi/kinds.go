package main

import (
	"slices"

	"utvi/experiment"
	"utvi/fit"
	"utvi/sweep"
)

// kinds are all trials that this program can run.
func kinds() []sweep.Kind {
	return slices.Concat(experiment.Kinds(), fit.Kinds())
}
