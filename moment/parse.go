package moment

import (
	"fmt"
	"math"

	"utvi/internal/call"
)

// rules lists the rules by name, with the number of their parameters and their
// constructors.
var rules = map[string]struct {
	parameters int
	whole      bool // numbers of points
	make       func(x []float64) Rule
}{
	"ut":         {1, false, func(x []float64) Rule { return UT(x[0]) }},
	"learned-ut": {1, false, func(x []float64) Rule { return LearnedUT(x[0]) }},
	"gh":         {1, true, func(x []float64) Rule { return GaussHermite(int(x[0])) }},
	"genut":      {2, false, func(x []float64) Rule { return GenUT(x[0], x[1]) }},
	"mc":         {1, true, func(x []float64) Rule { return MonteCarlo(int(x[0])) }},
	"linear":     {0, false, func([]float64) Rule { return Linear() }},
	"exact":      {0, false, func([]float64) Rule { return Exact() }},
}

// Parse returns the rule with the given name, such as "ut(2)", "gh(5)", "genut(0,3)",
// "mc(10)", "linear", "exact" or "learned-ut(2)": the reverse of Rule.String.
func Parse(name string) (Rule, error) {
	kind, args, err := call.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", name, err)
	}
	r, ok := rules[kind]
	switch {
	case !ok:
		return nil, fmt.Errorf("unknown rule %q; the rules are ut(κ), learned-ut(κ), gh(order), genut(skewness,kurtosis), mc(samples), linear, exact", name)
	case len(args) != r.parameters:
		return nil, fmt.Errorf("rule %q takes %d parameters, not %d", kind, r.parameters, len(args))
	case r.whole && !isCount(args[0]):
		return nil, fmt.Errorf("rule %q: the number of points must be a whole number up to 1e9", name)
	}
	return r.make(args), nil
}

// isCount reports whether x can be made an int; Check says whether it fits.
func isCount(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= 1e9 }

// ParseJoint returns the joint rule with the given name, such as "joint-ut(2)",
// "joint-ut(3-d)", "axes(3)", "joint-gh(5)", "fifth", "fifth-or-axes", "joint-mc(100)"
// or "own".
func ParseJoint(name string) (JointRule, error) {
	switch name {
	case "joint-ut(3-d)":
		return JointUTGauss(), nil
	case "fifth":
		return JointFifth(), nil
	case "own":
		return JointOwn(), nil
	case "fifth-or-axes":
		return JointSized(), nil
	}
	kind, args, err := call.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("joint rule %q: %w", name, err)
	}
	whole := map[string]func(int) JointRule{"axes": JointAxes, "joint-gh": JointGH, "joint-mc": JointMC}[kind]
	switch {
	case kind != "joint-ut" && whole == nil:
		return nil, fmt.Errorf("unknown joint rule %q; the joint rules are joint-ut(κ), joint-ut(3-d), axes(order), joint-gh(order), fifth, fifth-or-axes, joint-mc(samples), own", name)
	case len(args) != 1:
		return nil, fmt.Errorf("joint rule %q takes 1 parameter, not %d", kind, len(args))
	case whole == nil:
		return JointUT(args[0]), nil
	case !isCount(args[0]):
		return nil, fmt.Errorf("joint rule %q takes a whole number, not %v", kind, args[0])
	}
	return whole(int(args[0])), nil
}
