package gpu

// MeasureLittle makes Time launch everything a few times only.
func MeasureLittle() { windows, launchesEach, repeats = 1, 2, 2 }

// SideBySide returns how many trainings ran side by side most recently.
func (e *Engine) SideBySide() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, g := range e.gangs {
		n = max(n, len(g.tables.members))
	}
	return n
}

// SetLaneRows sets how many rows a lane takes at a time, and returns what undoes it.
func SetLaneRows(n int) func() {
	before := laneRows
	laneRows = n
	return func() { laneRows = before }
}
