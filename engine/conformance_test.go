package engine_test

import (
	"testing"

	"utvi/engine"
	"utvi/engine/enginetest"
)

func TestConformance(t *testing.T) { enginetest.Run(t, engine.CPU[float32]) }
