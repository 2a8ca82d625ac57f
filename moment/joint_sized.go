package moment

// sizedMost is the largest number of inputs that JointSized gives to JointFifth.
const sizedMost = 10

// JointSized returns the rule that DefaultJoint chooses for a map without a closed
// form, as one rule for any number of inputs: JointFifth up to ten inputs,
// JointAxes(3) beyond. It can be saved before the number of inputs is known, and does
// not change if the default changes.
func JointSized() JointRule {
	few, many := JointFifth(), JointAxes(3)
	of := func(d int) JointRule {
		if d <= sizedMost {
			return few
		}
		return many
	}
	return points{
		name:   "fifth-or-axes",
		groups: func(d int) int { return of(d).Groups(d) },
		count:  func(d int) int { return of(d).Points(d) },
		node:   func(d, p int, z []float64) float64 { return of(d).Node(d, p, z) },
	}
}
