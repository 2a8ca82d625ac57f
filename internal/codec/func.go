package codec

import (
	"errors"
	"fmt"

	"utvi/fn"
	"utvi/internal/compute/kernel"
	"utvi/moment"
	"utvi/nn"
)

type applyOptions struct {
	funcOptions
	ruleOptions
}

func encodeApply(c *coder, l nn.Apply) (o applyOptions, err error) {
	o.funcOptions, err = c.encodeFunc(l.F)
	if err != nil {
		return o, err
	}
	o.ruleOptions, err = c.encodeRule(l.Rule, l.F)
	return o, err
}

// encodeRule names a rule; nil is the default for f, written out: the file outlives the default.
func (c *coder) encodeRule(rule moment.Rule, f *moment.Func) (ruleOptions, error) {
	if rule == nil {
		rule = moment.Default(f)
	}
	builtin, known := builtinRule(rule.String())
	return nameRule(c, "rule", rule, builtin, known, printRule)
}

func (c *coder) decodeRule(o ruleOptions) (moment.Rule, error) {
	if o.UserRule == "" {
		return c.rule(o.Rule)
	}
	rule, ok := c.lib.Rules[o.UserRule]
	switch {
	case o.Rule != "":
		return nil, errors.New("both \"rule\" and \"user_rule\" are set; a layer has one rule")
	case !ok:
		return nil, fmt.Errorf("the model needs the rule %q: load it with model.WithRule", o.UserRule)
	}
	return rule, o.RuleValues.is("rule", o.UserRule, printRule(rule))
}

// nameRule names a rule: a built-in one by its name alone, another one with its fingerprint. builtin is the one that
// is known under its name.
func nameRule[R fmt.Stringer](c *coder, what string, r, builtin R, known bool, sample func(R) fingerprint) (o ruleOptions, err error) {
	name, p := r.String(), sample(r)
	switch {
	case !known:
		o.UserRule, o.RuleValues = name, p
		err = c.once(what, name, p)
	case !p.same(sample(builtin)):
		err = fmt.Errorf("the %s has the name %q of a different, built-in %[1]s; give it another name", what, name)
	default:
		o.Rule = name
	}
	return o, err
}

func decodeApply(c *coder, o applyOptions) (nn.Apply, error) {
	f, err := c.function(o.funcOptions)
	if err != nil {
		return nn.Apply{}, err
	}
	rule, err := c.decodeRule(o.ruleOptions)
	return nn.Apply{F: f, Rule: rule}, err
}

// builtinRule returns the rule that Parse knows under a name.
func builtinRule(name string) (moment.Rule, bool) {
	r, err := moment.Parse(name)
	return r, err == nil && r.String() == name
}

// maxPoints bounds the scratch that a rule in a file can ask for.
const maxPoints = 1 << 20

func (c *coder) rule(name string) (moment.Rule, error) {
	if r, ok := c.rules[name]; ok {
		return r, nil
	}
	r, err := moment.Parse(name)
	if err != nil {
		return nil, err
	}
	if r.String() != name {
		return nil, fmt.Errorf("the rule %.40q must be written %q", name, r)
	}
	if r.Nodes().Samples > maxPoints {
		return nil, fmt.Errorf("the rule %s uses more than %d points", r, maxPoints)
	}
	c.rules[name] = r
	return r, nil
}

// funcOptions name a function: a built-in one or a user's.
type funcOptions struct {
	F      string      `json:"f,omitempty"`
	User   string      `json:"user_f,omitempty"`
	Values fingerprint `json:"values,omitempty"` // of a user's
}

// encodeFunc names f. A name is built in if it yields f's own kernel or formula; a
// formula under another name is written out. A user's function may be named like
// a formula.
func (c *coder) encodeFunc(f *moment.Func) (funcOptions, error) {
	switch {
	case f == nil:
		return funcOptions{}, errors.New("no function F; set nn.Apply.F")
	case f.Name == "":
		return funcOptions{}, errors.New("the function has no name; set moment.Func.Name, because a model file stores functions by name")
	}
	builtin, err := fn.Named(f.Name)
	switch {
	case f.Formula != nil && (err != nil || builtin.Formula == nil || builtin.Formula.String() != f.Formula.String()):
		return funcOptions{F: f.Formula.String()}, nil
	case err != nil, f.Op == kernel.OpUser && f.Formula == nil && builtin.Formula != nil:
		p := printFunc(f)
		o := funcOptions{User: f.Name, Values: p}
		if f.DF == nil { // slopes by differences depend on rounding
			o.Values = p.values()
		}
		return o, c.once("function", f.Name, p)
	}
	if builtin.Op != f.Op || builtin.A != f.A {
		return funcOptions{}, fmt.Errorf("the function has the name %q of a different, built-in function; give it another name", f.Name)
	}
	return funcOptions{F: f.Name}, nil
}

func (c *coder) function(o funcOptions) (*moment.Func, error) {
	switch {
	case o.F != "" && o.User != "":
		return nil, errors.New("both \"f\" and \"user_f\" are set; a layer has one function")
	case o.F != "":
		return c.builtin(o.F)
	case o.User == "":
		return nil, errors.New("no function; set \"f\" or \"user_f\"")
	}
	f, ok := c.lib.Funcs[o.User]
	if !ok && c.lib.StandIn {
		f, ok = &moment.Func{Name: o.User, F: fn.Identity().F, Exact: fn.Identity().Exact}, true
	}
	if !ok {
		return nil, fmt.Errorf("the model needs the function %q: load it with model.WithFunc", o.User)
	}
	if c.lib.StandIn {
		return f, nil
	}
	brought := printFunc(f)
	if len(o.Values) == len(places) { // an old file, or a function that had no DF
		brought = brought.values()
	}
	return f, o.Values.is("function", o.User, brought)
}

// maxFormulas bounds the formulas of a file: each takes some milliseconds to read.
const maxFormulas = 256

// builtin returns a function by its name or its formula. A formula is read once.
func (c *coder) builtin(name string) (*moment.Func, error) {
	if f, ok := c.formulas[name]; ok {
		again := *f
		return &again, nil
	}
	f, err := fn.Named(name)
	if err != nil || f.Formula == nil {
		return f, err
	}
	if len(c.formulas) == maxFormulas {
		return nil, fmt.Errorf("more than %d formulas", maxFormulas)
	}
	c.formulas[name] = f
	return f, nil
}
