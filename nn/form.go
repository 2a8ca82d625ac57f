package nn

// A Form says what a signal is between two layers. It is settled when a network is
// bound: a layer learns the form of its input from its Binder and states the form of
// its output.
type Form uint8

const (
	// Fixed signals are plain numbers: batches without variances.
	Fixed Form = iota
	// Independent signals are Normals taken as independent: a mean and a variance
	// each.
	Independent
	// Covariant signals are jointly Normal: the units of a row have covariances, too.
	Covariant
	// Forms is the number of forms.
	Forms = iota
)

func (f Form) String() string {
	return [...]string{"fixed", "independent", "covariant"}[f]
}

// orRandom is the form of a layer's output: that of its input, or Independent where
// the layer itself is random.
func (f Form) orRandom(random bool) Form {
	if f == Fixed && random {
		return Independent
	}
	return f
}

// apart is the form of an output whose units are taken as independent.
func (f Form) apart() Form { return min(f, Independent) }
