package nn

// GlobalAvgPool averages each channel over all places of an image, whatever its size: an
// AvgPool2D with one window.
type GlobalAvgPool struct{}

// Kind is "globalavgpool", as model files and the names of parameters have it.
func (GlobalAvgPool) Kind() string { return "globalavgpool" }

// Bind32 binds the layer as the AvgPool2D that it is.
func (l GlobalAvgPool) Bind32(b *Binder[float32]) (Unit[float32], error) {
	return bindAvgPool(l.Over(b.In), b)
}

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l GlobalAvgPool) Bind64(b *Binder[float64]) (Unit[float64], error) {
	return bindAvgPool(l.Over(b.In), b)
}

// Over returns the AvgPool2D that the layer is for images of a shape.
func (GlobalAvgPool) Over(in Shape) AvgPool2D { return AvgPool2D{Size: [2]int{in.H, in.W}} }

// GlobalMaxPool takes the maximum of each channel over all places of an image, whatever its
// size: a MaxPool2D with one window, whose error grows with the number of cells.
type GlobalMaxPool struct{}

// Kind is "globalmaxpool", as model files and the names of parameters have it.
func (GlobalMaxPool) Kind() string { return "globalmaxpool" }

// Bind32 binds the layer as the MaxPool2D that it is.
func (l GlobalMaxPool) Bind32(b *Binder[float32]) (Unit[float32], error) {
	return bindMaxPool(l.Over(b.In), b)
}

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l GlobalMaxPool) Bind64(b *Binder[float64]) (Unit[float64], error) {
	return bindMaxPool(l.Over(b.In), b)
}

// Over returns the MaxPool2D that the layer is for images of a shape.
func (GlobalMaxPool) Over(in Shape) MaxPool2D { return MaxPool2D{Size: [2]int{in.H, in.W}} }
