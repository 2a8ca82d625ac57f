package gpu

// SetLaneRows sets how many rows a lane takes at a time, and returns what undoes it.
func SetLaneRows(n int) func() {
	before := laneRows
	laneRows = n
	return func() { laneRows = before }
}
