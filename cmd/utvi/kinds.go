package main

import (
	"slices"

	"utvi/fit"
	"utvi/internal/experiment"
	"utvi/sweep"
)

// kinds are all trials that this program can run.
func kinds() []sweep.Kind {
	return slices.Concat(experiment.Kinds(), fit.Kinds())
}
