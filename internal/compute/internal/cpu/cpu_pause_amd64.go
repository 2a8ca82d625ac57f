package cpu

// Pause waits for a few dozen cycles.
func Pause() { pause() }
