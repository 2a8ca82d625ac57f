package expr

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Param is a parameter of a formula: one number for all units of a layer, or one for
// each unit; fixed, or learned from that start.
type Param struct {
	Name    string
	Value   float64
	Values  []float64 // one for each unit, instead of Value
	Learned bool
	PerUnit bool // learned for each unit separately; all start from Value
}

// varies reports whether the parameter is anything but one fixed number.
func (p Param) varies() bool { return p.Learned || p.Values != nil }

// OnePerUnit reports whether each unit has its own value.
func (p Param) OnePerUnit() bool { return p.PerUnit || p.Values != nil }

// Start returns the value of a unit, or the value from which learning starts.
func (p Param) Start(unit int) float64 {
	if p.Values != nil {
		return p.Values[unit]
	}
	return p.Value
}

// maxParams bounds the parameters of a formula.
const maxParams = 16

func checkParams(params []Param) error {
	if len(params) > maxParams {
		return fmt.Errorf("the formula has %d parameters; at most %d are allowed", len(params), maxParams)
	}
	for i, p := range params {
		_, taken := functions[p.Name]
		switch {
		case !isName(p.Name):
			return fmt.Errorf("%.40q cannot be the name of a parameter; use letters, digits and _", p.Name)
		case taken || p.Name == "x" || p.Name == "e" || p.Name == "pi":
			return fmt.Errorf("a parameter is called %s, which already has a meaning; choose another name", p.Name)
		case slices.ContainsFunc(params[:i], func(q Param) bool { return q.Name == p.Name }):
			return fmt.Errorf("the parameter %s is given twice", p.Name)
		case p.Values != nil && len(p.Values) == 0:
			return fmt.Errorf("the parameter %s has an empty list of values; it needs one for each unit", p.Name)
		case p.PerUnit && !p.Learned:
			return fmt.Errorf("the parameter %s is fixed and has one value for all units; list one value for each unit, or make it learned", p.Name)
		}
		for _, v := range slices.Concat(p.Values, []float64{p.Value}) {
			if v-v != 0 {
				return fmt.Errorf("the parameter %s is %v; it must be a finite number", p.Name, v)
			}
		}
	}
	return nil
}

func isName(s string) bool {
	for i := range len(s) {
		if !letter(s[i]) && (i == 0 || !digit(s[i])) {
			return false
		}
	}
	return s != "" && len(s) <= 40
}

// String writes a parameter in the form that parseParam reads: "a = 1", "a = learned
// 0.5", "a = learned per unit 0.5" or "a = [1, 2]".
func (p Param) String() string {
	s := p.Name + " = "
	if p.Learned {
		s += "learned "
	}
	if p.PerUnit && p.Values == nil {
		s += "per unit "
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	if p.Values == nil {
		return s + number(p.Value)
	}
	var all []string
	for _, v := range p.Values {
		all = append(all, number(v))
	}
	return s + "[" + strings.Join(all, ", ") + "]"
}

var errParam = errors.New("expected name = 0.5, name = learned 0.5, name = learned per unit 0.5 or name = [0.5, 1]")

// parseParam reads what Param.String writes.
func parseParam(text string) (Param, error) {
	name, rest, ok := strings.Cut(text, "=")
	p := Param{Name: strings.TrimSpace(name)}
	wrong := func() (Param, error) { return p, fmt.Errorf("parameter %.60q: %w", strings.TrimSpace(text), errParam) }
	if !ok || !isName(p.Name) {
		return wrong()
	}
	rest = strings.TrimSpace(rest)
	rest, p.Learned = cutWord(rest, "learned")
	rest, ok = cutWord(rest, "per")
	if ok {
		rest, p.PerUnit = cutWord(rest, "unit")
		if !p.PerUnit {
			return wrong()
		}
	}
	number := func(s string) (float64, bool) {
		v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	inner, list := strings.CutPrefix(rest, "[")
	if list {
		inner, ok = strings.CutSuffix(inner, "]")
		for s := range strings.SplitSeq(inner, ",") {
			v, good := number(s)
			ok = ok && good
			p.Values = append(p.Values, v)
		}
	} else {
		p.Value, ok = number(rest)
	}
	if !ok {
		return wrong()
	}
	return p, nil
}

// cutWord removes a word and the space after it from the front.
func cutWord(s, word string) (string, bool) {
	rest, ok := strings.CutPrefix(s, word)
	if !ok || rest == strings.TrimLeft(rest, " \t") {
		return s, false
	}
	return strings.TrimLeft(rest, " \t"), true
}
