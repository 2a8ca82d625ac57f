package main

import (
	"utvi/experiment"
	"utvi/sweep"
)

// kinds are all trials that this program can run.
func kinds() []sweep.Kind {
	return append(experiment.Kinds(), fitKind)
}
