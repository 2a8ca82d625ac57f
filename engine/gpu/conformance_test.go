package gpu_test

import (
	"testing"

	"utvi/engine"
	"utvi/engine/enginetest"
)

func TestConformance(t *testing.T) {
	card(t) // or the test is skipped
	enginetest.Run(t, func() engine.Engine[float32] { return card(t) })
}
