package likelihood

import "fmt"

// onePerOutput is the number of targets where each output has its own.
func onePerOutput(name string, outputs int) (int, error) {
	if outputs < 1 {
		return 0, fmt.Errorf("likelihood %s: the network has %d outputs; it needs at least 1", name, outputs)
	}
	return outputs, nil
}

// checkFloor reports a floor that is no bound; 0 means the default.
func checkFloor(name string, floor, most float64) error {
	if !(floor >= 0 && floor <= most) {
		return fmt.Errorf("likelihood %s: the floor is %v; it must be a number > 0, at most %.3g, or 0 for the default", name, floor, most)
	}
	return nil
}

// withFloor names a likelihood, with its floor where that was chosen.
func withFloor(name string, floor float64) string {
	if floor == 0 {
		return name
	}
	return fmt.Sprintf("%s, floor %g", name, floor)
}
