package likelihood

import "fmt"

// onePerOutput returns the number of targets if each output has one.
func onePerOutput(name string, outputs int) (int, error) {
	if outputs < 1 {
		return 0, fmt.Errorf("likelihood %s: the network has %d outputs; it needs at least 1", name, outputs)
	}
	return outputs, nil
}

// checkFloor reports an invalid floor; 0 means the default.
func checkFloor(name string, floor, most float64) error {
	if !(floor >= 0 && floor <= most) {
		return fmt.Errorf("likelihood %s: the floor is %v; it must be a number > 0, at most %.3g, or 0 for the default", name, floor, most)
	}
	return nil
}

// withFloor returns the name of a likelihood, with its floor if it was set.
func withFloor(name string, floor float64) string {
	if floor == 0 {
		return name
	}
	return fmt.Sprintf("%s, floor %g", name, floor)
}
