package nn

import "utvi/gauss"

// Inner returns the layers that a layer holds.
func Inner(l Layer) []Layer {
	switch l := l.(type) {
	case Chain:
		return l
	case Residual:
		return []Layer{l.Branch}
	}
	return nil
}

// Any reports whether is holds for a layer or one of those within.
func Any(l Layer, is func(Layer) bool) bool {
	if is(l) {
		return true
	}
	for _, inner := range Inner(l) {
		if Any(inner, is) {
			return true
		}
	}
	return false
}

// A Part is one layer of a bound network.
type Part[T gauss.Float] struct {
	Name  string // the prefix of its parameters
	Layer Layer
	Unit  Unit[T]
}

// Parts returns the layers of a bound chain in their order, those of chains
// within it in their place. Run one after the other they are the network.
func Parts[T gauss.Float](l Chain, u Unit[T]) []Part[T] {
	c := u.(*chain[T])
	var parts []Part[T]
	for i, layer := range l {
		if inner, ok := layer.(Chain); ok {
			parts = append(parts, Parts(inner, c.units[i])...)
			continue
		}
		parts = append(parts, Part[T]{c.names[i], layer, c.units[i]})
	}
	return parts
}
