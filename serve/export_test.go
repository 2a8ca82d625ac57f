package serve

import "time"

// Patience is longer than any machine takes that has not hung.
const Patience = 5 * time.Minute

// PauseWith makes a server wait in another way than by sleeping.
func PauseWith(c Config, pause func(time.Duration)) Config {
	c.pause = pause
	return c
}
