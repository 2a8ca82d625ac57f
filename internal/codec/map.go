package codec

import (
	"errors"
	"fmt"
	"slices"

	"utvi/fn"
	"utvi/internal/call"
	"utvi/moment"
	"utvi/nn"
)

// mapOptions name a coupled map, like funcOptions, and its rule. The default rule is
// written out, because the file outlives the default. Older files have no rule there:
// they mean moment.DefaultJoint, or JointGH(3) in a Stochastic, as both were then.
type mapOptions struct {
	Map    string      `json:"map,omitempty"`
	User   string      `json:"user_map,omitempty"`
	Values fingerprint `json:"values,omitempty"` // of a user's
	ruleOptions
}

// ruleOptions name a rule: a built-in one or a user's.
type ruleOptions struct {
	Rule       string      `json:"rule,omitempty"`
	UserRule   string      `json:"user_rule,omitempty"`
	RuleValues fingerprint `json:"rule_values,omitempty"` // of a user's
}

type jointOptions struct{ mapOptions }

func encodeJoint(c *coder, l nn.Joint) (jointOptions, error) {
	o, err := c.encodeMap(l.Map, l.Rule, func() moment.JointRule { return jointDefault(l) })
	return jointOptions{o}, err
}

func decodeJoint(c *coder, o jointOptions) (l nn.Joint, err error) {
	l.Map, l.Rule, err = c.coupled(o.mapOptions)
	return l, err
}

type conditionalOptions struct {
	nn.Conditional
	mapOptions
}

func encodeConditional(c *coder, l nn.Conditional) (conditionalOptions, error) {
	o, err := c.encodeMap(l.Location, l.Rule, func() moment.JointRule { return conditionalDefault(l) })
	return conditionalOptions{l, o}, err
}

func decodeConditional(c *coder, o conditionalOptions) (_ nn.Conditional, err error) {
	l := o.Conditional
	l.Location, l.Rule, err = c.coupled(o.mapOptions)
	return l, err
}

type stochasticOptions struct {
	nn.Stochastic
	Values fingerprint `json:"values,omitempty"`
	ruleOptions
}

// A stochastic function is always a user's.
func encodeStochastic(c *coder, l nn.Stochastic) (stochasticOptions, error) {
	if l.Name == "" {
		return stochasticOptions{}, errors.New("the function has no name; set nn.Stochastic.Name, because a model file stores functions by name")
	}
	rule, err := c.ruleName(l.Rule, nn.Stochastic{}.RuleOrDefault)
	if err != nil {
		return stochasticOptions{}, err
	}
	o := stochasticOptions{l, printStochastic(&l), rule}
	return o, c.once("stochastic function", l.Name, o.Values)
}

func decodeStochastic(c *coder, o stochasticOptions) (l nn.Stochastic, err error) {
	l = o.Stochastic
	f, ok := c.lib.Stochastics[l.Name]
	if !ok && c.lib.StandIn {
		f, ok = &nn.Stochastic{F: func(x, _ float64) float64 { return x }}, true
	}
	if !ok {
		return l, fmt.Errorf("the model needs the stochastic function %q: load it with model.WithStochastic", l.Name)
	}
	if !c.lib.StandIn {
		if err := o.Values.is("stochastic function", l.Name, printStochastic(f)); err != nil {
			return l, err
		}
	}
	l.F = f.F
	l.FX = f.FX
	l.FTheta = f.FTheta
	l.Rule, err = c.jointRule(o.ruleOptions)
	return l, err
}

// jointDefault is what a Joint without a rule is pushed by. A map of any number of inputs
// does not say here how many there are.
func jointDefault(l nn.Joint) moment.JointRule {
	if l.Map.In == 0 && l.Map.ClosedForm == nil {
		return moment.JointSized()
	}
	return moment.DefaultJoint(l.Map, l.Map.In)
}

// conditionalDefault is nil unless the variances of the given units are carried along.
func conditionalDefault(l nn.Conditional) moment.JointRule {
	if !l.Joint {
		return nil
	}
	return l.RuleOrDefault()
}

// ruleName names a rule, or the default if it is nil.
func (c *coder) ruleName(r moment.JointRule, unless func() moment.JointRule) (o ruleOptions, err error) {
	usual := unless()
	if r == nil {
		r = usual
	}
	if r == nil || c.noDefaults && usual != nil && r.String() == usual.String() {
		return o, nil
	}
	builtin, known := builtinJointRule(r.String())
	return nameRule(c, "joint rule", r, builtin, known, printJointRule)
}

// builtinJointRule returns the rule that ParseJoint knows under a name.
func builtinJointRule(name string) (moment.JointRule, bool) {
	r, err := moment.ParseJoint(name)
	return r, err == nil && r.String() == name
}

func (c *coder) jointRule(o ruleOptions) (moment.JointRule, error) {
	name := o.Rule
	switch {
	case o.UserRule != "" && name != "":
		return nil, errors.New("both \"rule\" and \"user_rule\" are set; a layer has one rule")
	case o.UserRule != "":
		if r, ok := c.lib.JointRules[o.UserRule]; ok {
			return r, o.RuleValues.is("joint rule", o.UserRule, printJointRule(r))
		}
		return nil, fmt.Errorf("the model needs the joint rule %q: load it with model.WithJointRule", o.UserRule)
	case name == "":
		return nil, nil
	}
	r, err := moment.ParseJoint(name)
	if err != nil {
		return nil, err
	}
	if r.String() != name {
		return nil, fmt.Errorf("the rule %.40q must be written %q", name, r)
	}
	if r.Draws() && r.Points(1) > maxPoints { // the others are bounded by Check
		return nil, fmt.Errorf("the rule %s uses more than %d points", r, maxPoints)
	}
	return r, nil
}

// encodeMap returns the name of m. A name counts as built in if the built-in map has
// the same values, or if a family of maps is made from such names.
func (c *coder) encodeMap(m *moment.Map, rule moment.JointRule, unless func() moment.JointRule) (o mapOptions, err error) {
	switch {
	case m == nil || m.F == nil:
		return o, errors.New("no map; set the Map of nn.Joint or the Location of nn.Conditional")
	case m.Name == "":
		return o, errors.New("the map has no name; set moment.Map.Name, because a model file stores maps by name")
	}
	o.ruleOptions, err = c.ruleName(rule, unless)
	if err != nil {
		return o, err
	}
	if m.Family != "" {
		o.Map = m.Name
		return o, checkFamily(m, m.Family)
	}
	builtin, err := fn.NamedMap(m.Name)
	if err != nil {
		o.User, o.Values = m.Name, printMap(m)
		return o, c.once("map", m.Name, o.Values)
	}
	if builtin.In != m.In || builtin.Out != m.Out || !slices.Equal(sampleMap(builtin), sampleMap(m)) {
		return o, fmt.Errorf("the map has the name %q of a different, built-in map; give it another name", m.Name)
	}
	o.Map = m.Name
	return o, nil
}

// sampleMap returns the values of m at one point.
func sampleMap(m *moment.Map) []float64 {
	x := []float64{0.3, -0.2, 0.9}
	if m.In > 0 {
		x = make([]float64, m.In)
		for i := range x {
			x[i] = 0.3 / float64(i+1)
		}
	}
	y := make([]float64, m.Outputs(len(x)))
	m.F(x, y)
	return y
}

func (c *coder) coupled(o mapOptions) (m *moment.Map, r moment.JointRule, err error) {
	switch {
	case o.Map != "" && o.User != "":
		err = errors.New("both \"map\" and \"user_map\" are set; a layer has one map")
	case o.Map != "":
		m, err = c.namedMap(o.Map)
	case o.User == "":
		err = errors.New("no map; set \"map\" or \"user_map\"")
	case c.lib.Maps[o.User] == nil:
		err = fmt.Errorf("the model needs the map %q: load it with model.WithMap", o.User)
	default:
		m = c.lib.Maps[o.User]
		err = o.Values.is("map", o.User, printMap(m))
	}
	if err == nil {
		r, err = c.jointRule(o.ruleOptions)
	}
	return m, r, err
}

// namedMap returns a built-in map, or one of a family that the library makes from its
// numbers.
func (c *coder) namedMap(name string) (*moment.Map, error) {
	family, numbers, err := call.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("the map %.60q: %w", name, err)
	}
	make, ok := c.lib.MapFamilies[family]
	switch {
	case !ok && numbers == nil:
		return fn.NamedMap(name)
	case !ok:
		return nil, fmt.Errorf("the model needs the maps %.40q: load it with model.WithMaps", family)
	}
	m, err := make(numbers)
	if err != nil {
		return nil, err
	}
	if m.Name != name {
		return nil, fmt.Errorf("the map %.60q must be written %q", name, m.Name)
	}
	return m, checkFamily(m, family)
}

// checkFamily reports a map whose name would not find it again.
func checkFamily(m *moment.Map, family string) error {
	word, numbers, err := call.Parse(m.Name)
	if err != nil || m.Family != family || word != family || m.Name != call.Format(family, numbers...) {
		return fmt.Errorf("a map has the name %q and the family %q; its name must be its family with numbers behind, such as %s", m.Name, m.Family, call.Format(family, 2, 0.5))
	}
	return nil
}
