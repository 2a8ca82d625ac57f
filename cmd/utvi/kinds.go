package main

import (
	"slices"

	"utvi/internal/experiment"
	"utvi/internal/fitkind"
	"utvi/internal/locate/batch"
	"utvi/internal/sweep"
)

// kinds are all trials that this program can run.
func kinds() []sweep.Kind {
	return slices.Concat(experiment.Kinds(), fitkind.All(), batch.Kinds())
}
