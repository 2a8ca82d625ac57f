// Package enginetest is the conformance suite of engines: the test of a new engine calls Run in
// one line.
package enginetest

import (
	"testing"

	"utvi/engine"
)

// Run checks an engine, which open returns anew for every check:
//
//   - predictions against the CPU in float64, with and without input variances, of batches of
//     several sizes; of goroutines that predict at the same time; after the parameters have
//     changed; without allocations;
//   - scores, gradients and updates against the CPU, with clipping and with fitted priors;
//   - the same seed, the same bits; also of a training that is continued from the state of
//     another, as a checkpoint does;
//   - numbers that are not finite: they change nothing, and are explained;
//   - networks that the engine cannot run: they are refused by an error that names the layer.
//     Dense layers, elementwise functions by the unscented transform and the Normal likelihood
//     must not be refused;
//   - the abilities that only some engines have, where the engine has them: engine.Pipeline and
//     those of engine.Abilities.
//
// Arithmetic may differ from the CPU's by rounding in float32. How fast the engine is, is not
// checked.
func Run(t *testing.T, open func() engine.Engine[float32]) {
	t.Helper()
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) { c.run(t, open()) })
	}
}

// A check is one part of the suite.
type check struct {
	name string
	run  func(t testing.TB, e engine.Engine[float32])
}

var suite = []check{
	{"name", named},
	{"predictions", predictions},
	{"predictors together", predictorsTogether},
	{"changed parameters", changedParameters},
	{"predictions allocate nothing", predictionAllocations},
	{"steps", steps},
	{"same bits", sameBits},
	{"continued", continued},
	{"drawn networks", drawnNetworks},
	{"steps allocate nothing", stepAllocations},
	{"scores that are not finite", scoreNotFinite},
	{"gradients that are not finite", gradientNotFinite},
	{"layers that overflow", layerOverflows},
	{"refusals", refusals},
	{"pipeline", pipeline},
	{"ensembles", ensembles},
	{"intervals", intervals},
	{"trainings side by side", sideBySide},
}

func named(t testing.TB, e engine.Engine[float32]) {
	if e.Name() == "" {
		t.Error("the engine has no name by which users could select it")
	}
}
