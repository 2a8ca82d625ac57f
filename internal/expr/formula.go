package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"utvi/internal/compute"
	"utvi/internal/compute/bytecode"
)

// A Formula is a function of x and of parameters, with its derivatives and the
// programs that compute them. It is immutable.
type Formula struct {
	Text   string  // the expression as it was written
	Params []Param // in the order in which they were given

	// Expr is the function, Slope and Curvature are its derivatives with respect to x.
	// Parameters that are fixed numbers are numbers there; the others are nodes.
	Expr, Slope, Curvature *Expr

	// Switches are the expressions that change sign at a kink.
	Switches []*Expr

	// Inputs are the parameters that are nodes, in the order of the inputs of the
	// programs. Learned is the number of learned ones, which come first.
	Inputs  []Param
	Learned int

	// Kinks are the points where the slope may jump, for the first or starting values
	// of the Inputs.
	Kinks []float64

	// Value computes f; Pair computes f and f′; Train computes f, f′ and ∂f/∂a of
	// every learned parameter a; Bend computes f″.
	Value, Pair, Train, Bend *bytecode.Program

	// Limit computes, at one number, f, f′ and f″, then ∂f/∂a and ∂f′/∂a of every
	// learned parameter, and then the expressions that change sign at a kink.
	Limit *bytecode.Program
}

// Parse reads a formula. Every parameter must occur in it.
func Parse(text string, params ...Param) (*Formula, error) {
	f, err := parse(text, params)
	if err != nil {
		return nil, fmt.Errorf("formula %.80q: %w", text, err)
	}
	return f, nil
}

func parse(text string, params []Param) (*Formula, error) {
	if err := checkParams(params); err != nil {
		return nil, err
	}
	f := &Formula{Text: strings.Join(strings.Fields(text), " "), Params: slices.Clone(params)}
	b := newBuilder()
	x := b.x()
	e, err := b.parse(text, params)
	if err != nil {
		return nil, err
	}
	if err := f.check(b, e); err != nil {
		return nil, err
	}
	f.Expr = e
	for _, p := range params {
		if p.Learned {
			f.Inputs, f.Learned = append(f.Inputs, p), f.Learned+1
		}
	}
	for _, p := range params {
		if p.varies() && !p.Learned {
			f.Inputs = append(f.Inputs, p)
		}
	}
	f.Slope = b.by(x, e)[0]
	f.Curvature = b.by(x, f.Slope)[0]
	return f, f.derive(b)
}

// derive compiles the programs.
func (f *Formula) derive(b *builder) error {
	var names []string
	var start []float64
	for _, p := range f.Inputs {
		names, start = append(names, p.Name), append(start, p.Start(0))
	}
	var byParam, mixed []*Expr
	for _, name := range names[:f.Learned] {
		d := b.by(b.param(name), f.Expr, f.Slope)
		if d[0].is(0) {
			return fmt.Errorf("the parameter %s cannot be learned: the formula does not change smoothly with it", name)
		}
		byParam, mixed = append(byParam, d[0]), append(mixed, d[1])
	}
	switches := b.switches(f.Expr)
	f.Switches = switches
	both := []*Expr{f.Expr, f.Slope}
	f.Value = compile([]*Expr{f.Expr}, names)
	f.Pair = compile(both, names)
	f.Bend = compile([]*Expr{f.Curvature}, names)
	f.Train = f.Pair
	if f.Learned > 0 {
		f.Train = compile(slices.Concat(both, byParam), names)
	}
	f.Limit = compile(slices.Concat(both, []*Expr{f.Curvature}, byParam, mixed, switches), names)
	if b.full || f.Limit.Slots > bytecode.MaxSlots || f.Train.Slots > bytecode.MaxSlots {
		return errors.New("the formula is too complicated: its derivatives have too many parts")
	}
	f.Kinks = b.kinks(switches, names, start)
	return nil
}

// check refuses formulas that do not depend on x, and parameters without effect.
func (f *Formula) check(b *builder, e *Expr) error {
	if b.full {
		return errors.New("the formula has too many parts")
	}
	used, bad := map[string]bool{}, false
	e.Walk(func(e *Expr) {
		used[e.name] = true
		bad = bad || e.op == Num && !compute.Finite(e.value)
	})
	switch {
	case bad:
		return errors.New("a part of the formula is not a finite number, as in 1/0")
	case !contains(e, X):
		return errors.New("the formula does not depend on x")
	}
	for _, p := range f.Params {
		if p.varies() && !used[p.Name] {
			return fmt.Errorf("the parameter %s does not occur in the formula, or has no effect", p.Name)
		}
	}
	return nil
}

// String writes the formula with its parameters in the form that ParseText reads, as
// in "a*tanh(b*x); a = 1; b = learned 0.5".
func (f *Formula) String() string {
	parts := []string{f.Text}
	for _, p := range f.Params {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, "; ")
}

// maxAll bounds a formula with the values of its parameters, in bytes.
const maxAll = 1 << 25

// ParseText reads a formula followed by its parameters, as String writes it.
func ParseText(text string) (*Formula, error) {
	if len(text) > maxAll {
		return nil, fmt.Errorf("the formula and its parameters have %d characters; at most %d are allowed", len(text), maxAll)
	}
	formula, rest, more := strings.Cut(text, ";")
	var params []Param
	for more {
		var one string
		one, rest, more = strings.Cut(rest, ";")
		p, err := parseParam(one)
		if err != nil {
			return nil, fmt.Errorf("formula %.80q: %w", formula, err)
		}
		params = append(params, p)
		if len(params) > maxParams {
			break
		}
	}
	f, err := Parse(formula, params...)
	if e, ok := errors.AsType[*Error](err); ok && e.undefined != "" {
		at := *e // with the advice for a text
		at.Problem = fmt.Sprintf(`%s is not defined; add "; %[1]s = 1" or "; %[1]s = learned 1"`, e.undefined)
		return nil, fmt.Errorf("formula %.80q: %w", formula, &at)
	}
	return f, err
}
