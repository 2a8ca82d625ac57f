package predict

import (
	"fmt"

	"utvi/engine"
)

// Use makes e run the networks of the model from now on. An engine that cannot run one of
// them returns an error.
func (m *Model) Use(e engine.Engine[float32]) error {
	for i, n := range m.Networks.Members {
		if err := n.Use(e); err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
	}
	m.engine = e
	m.keepReady() // sessions that are ready use what was there before
	return nil
}
