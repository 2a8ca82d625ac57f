package nn

// A Form is the kind of signal between two layers. It is determined when a network is
// bound: a layer learns the form of its input from its Binder, and its unit states the
// form of its output.
type Form uint8

const (
	// Fixed signals are plain numbers: batches without variances.
	Fixed Form = iota
	// Independent signals are Normals that are taken as independent: a mean and a
	// variance each.
	Independent
	// Covariant signals are jointly Normal: the units of a row also have covariances.
	Covariant
	// Forms is the number of forms.
	Forms = iota
)

// String is the form in a word.
func (f Form) String() string {
	return [...]string{"fixed", "independent", "covariant"}[f]
}

// orRandom returns the form of the output of a layer: that of its input, or
// Independent if the layer itself is random.
func (f Form) orRandom(random bool) Form {
	if f == Fixed && random {
		return Independent
	}
	return f
}

// apart returns the form of an output whose units are taken as independent.
func (f Form) apart() Form { return min(f, Independent) }
