package nn

// A Composite is a layer made of layers. Whatever looks into layers (saving, drawing,
// switching off noise, listing) sees those of a Composite, also of one from outside
// this module.
//
// The unit of a Composite binds its children by BindChild, and adds up their TapeWidth,
// GradTiles and PrepareTiles. Its runner hands each child its part of the tape and
// passes each tile to the child that owns it.
type Composite interface {
	Layer
	// Children returns the layers inside, in the order in which they are bound.
	Children() []Layer
	// WithChildren returns the same layer with other children. It must not change the
	// receiver.
	WithChildren(children []Layer) Layer
}

// Any reports whether is returns true for a layer or for any layer inside it.
func Any(l Layer, is func(Layer) bool) bool {
	if is(l) {
		return true
	}
	if c, ok := l.(Composite); ok {
		for _, child := range c.Children() {
			if Any(child, is) {
				return true
			}
		}
	}
	return false
}

// Rewrite returns the layer with f applied to it and to every layer inside, children
// first.
func Rewrite(l Layer, f func(Layer) Layer) Layer {
	if c, ok := l.(Composite); ok {
		children := c.Children()
		next := make([]Layer, len(children))
		for i, child := range children {
			next[i] = Rewrite(child, f)
		}
		l = c.WithChildren(next)
	}
	return f(l)
}
