package moment

// A Rule approximates the moments of a function of a Gaussian. Rules are
// immutable values.
//
// To add one, write a file beside this one: say where to look in Push, evaluate
// there with Eval, and combine. Both Push methods are one line over the same
// generic body.
type Rule interface {
	// String is the rule's name with its parameters, as Parse reads it.
	String() string

	// Check reports, when a network is built, whether the rule can serve f.
	Check(f *Func) error

	// Points is the number of evaluations an element needs; it sizes the tiles.
	Points() int

	// Draws reports whether the points are random.
	Draws() bool

	// Learns reports whether the rule has a κ to be learned.
	Learns() bool

	// Vector reports whether Push32 can serve f. If not, float32 elements are
	// pushed in float64.
	Vector(f *Func) bool

	// Push fills t.Out from t.Mean and t.Var.
	Push32(t *Tile[float32])
	Push64(t *Tile[float64])
}
