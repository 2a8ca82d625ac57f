package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"utvi/internal/strictjson"
	"utvi/likelihood"
)

// Likelihoods are stored as JSON objects that begin with their kind:
//
//	{"kind":"heteroscedastic","floor":1e-8}
//	{"kind":"weighted","of":{"kind":"normal"}}
//
// Every likelihood is its own options: the fields that JSON sees. What a likelihood.Wrapper
// wraps is stored under "of", and the list of what a likelihood.Composite is made of as well.

// scores are the likelihoods of package likelihood, by kind.
var scores = func() map[string]likelihood.Likelihood {
	all := map[string]likelihood.Likelihood{}
	for _, l := range []likelihood.Likelihood{likelihood.Normal{}, likelihood.ExpectedNormal{}, likelihood.Heteroscedastic{}, likelihood.Poisson{}, likelihood.Count{}, likelihood.Categorical{}, likelihood.Bernoulli{}, likelihood.Weighted{}, likelihood.PerPlace{}, likelihood.Several{}} {
		all[l.Kind()] = l
	}
	return all
}()

// Likelihoods holds likelihoods from outside package likelihood, by kind. Decoding starts
// from a copy: fields that JSON does not see keep their values.
type Likelihoods map[string]likelihood.Likelihood

// Add adds a likelihood.
func (lib Likelihoods) Add(l likelihood.Likelihood) error {
	kind := l.Kind()
	switch _, ours := scores[kind]; {
	case kind == "":
		return fmt.Errorf("a likelihood of type %T has no kind; a model file stores the kind", l)
	case ours:
		return fmt.Errorf("a likelihood of type %T has the kind %q of a built-in likelihood; choose another kind", l, kind)
	}
	if _, twice := lib[kind]; twice {
		return fmt.Errorf("two likelihoods have the kind %q", kind)
	}
	lib[kind] = l
	return nil
}

// MarshalLikelihood writes a likelihood as JSON.
func MarshalLikelihood(l likelihood.Likelihood) ([]byte, error) {
	kind := l.Kind()
	if o, ours := scores[kind]; ours && indirect(l) != reflect.TypeOf(o) || kind == "" {
		return nil, fmt.Errorf("a likelihood of type %T has the kind %q of a built-in one; choose another kind", l, kind)
	}
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("likelihood %s: %w", kind, err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("the JSON of likelihood %s must be an object", kind)
	}
	if w, ok := l.(likelihood.Wrapper); ok {
		if w.Unwrap() == nil {
			return nil, fmt.Errorf("likelihood %s wraps nothing", kind)
		}
		fields["of"], err = MarshalLikelihood(w.Unwrap())
		if err != nil {
			return nil, err
		}
	}
	if c, ok := l.(likelihood.Composite); ok {
		fields["of"], err = marshalLikelihoods(kind, c.Children())
		if err != nil {
			return nil, err
		}
	}
	name, _ := json.Marshal(kind) // a string never fails
	out := append([]byte(`{"kind":`), name...)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		field, _ := json.Marshal(key)
		out = append(append(append(append(out, ','), field...), ':'), fields[key]...)
	}
	return append(out, '}'), nil
}

// marshalLikelihoods writes the parts of a composite as a list.
func marshalLikelihoods(kind string, all []likelihood.Likelihood) ([]byte, error) {
	list := make([]json.RawMessage, len(all))
	for i, l := range all {
		if l == nil {
			return nil, fmt.Errorf("likelihood %s: its part %d is missing", kind, i)
		}
		text, err := MarshalLikelihood(l)
		if err != nil {
			return nil, err
		}
		list[i] = text
	}
	return json.Marshal(list)
}

func indirect(l likelihood.Likelihood) reflect.Type {
	t := reflect.TypeOf(l)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// UnknownLikelihood says that neither package likelihood nor the library has one of this Kind.
type UnknownLikelihood struct{ Kind string }

// Error implements error.
func (e *UnknownLikelihood) Error() string { return fmt.Sprintf("unknown likelihood %.60q", e.Kind) }

// UnmarshalLikelihood reads JSON that MarshalLikelihood wrote.
func UnmarshalLikelihood(data []byte, lib Likelihoods) (likelihood.Likelihood, error) {
	return unmarshalLikelihood(data, lib, 0)
}

func unmarshalLikelihood(data []byte, lib Likelihoods, depth int) (likelihood.Likelihood, error) {
	const deepest = 8
	if depth > deepest {
		return nil, errors.New("likelihoods are nested too deep")
	}
	fields := map[string]json.RawMessage{}
	kind, err := kindOf(data, fields)
	if err != nil {
		return nil, err
	}
	proto, ok := scores[kind]
	if !ok {
		proto, ok = lib[kind]
	}
	if !ok {
		return nil, &UnknownLikelihood{kind}
	}
	var inner likelihood.Likelihood
	if _, wraps := proto.(likelihood.Wrapper); wraps {
		inner, err = unmarshalLikelihood(fields["of"], lib, depth+1)
		if err != nil {
			return nil, err
		}
		delete(fields, "of")
	}
	var parts []likelihood.Likelihood
	composite, _ := proto.(likelihood.Composite)
	if composite != nil {
		parts, err = unmarshalLikelihoods(fields["of"], lib, depth+1)
		if err != nil {
			return nil, err
		}
		delete(fields, "of")
	}
	l, err := filled(proto, kind, fields)
	if err != nil {
		return nil, err
	}
	if inner != nil {
		l = l.(likelihood.Wrapper).Wrap(inner)
	}
	if composite != nil {
		c := l.(likelihood.Composite)
		if want := len(c.Children()); want != len(parts) {
			return nil, fmt.Errorf("likelihood %s: %d parts have %d likelihoods", kind, want, len(parts))
		}
		l = c.WithChildren(parts)
	}
	return l, nil
}

// kindOf reads the fields of a likelihood, and takes its kind out of them.
func kindOf(data []byte, fields map[string]json.RawMessage) (kind string, err error) {
	if err := json.Unmarshal(data, &fields); err != nil {
		return "", errors.New("a likelihood must be an object with a kind")
	}
	if err := json.Unmarshal(fields["kind"], &kind); err != nil {
		return "", errors.New("a likelihood must be an object with a kind")
	}
	delete(fields, "kind")
	return kind, nil
}

// filled is a copy of a likelihood with the values of fields.
func filled(proto likelihood.Likelihood, kind string, fields map[string]json.RawMessage) (likelihood.Likelihood, error) {
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	v := reflect.New(indirect(proto))
	v.Elem().Set(reflect.Indirect(reflect.ValueOf(proto)))
	if err := strictjson.Unmarshal(rest, v.Interface()); err != nil {
		return nil, fmt.Errorf("likelihood %s: %w", kind, err)
	}
	if reflect.TypeOf(proto).Kind() != reflect.Pointer {
		v = v.Elem()
	}
	return v.Interface().(likelihood.Likelihood), nil
}

// unmarshalLikelihoods reads the parts of a composite.
func unmarshalLikelihoods(data []byte, lib Likelihoods, depth int) ([]likelihood.Likelihood, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, errors.New(`the parts of a likelihood, its "of", must be a list`)
	}
	const most = 1000
	if len(list) > most {
		return nil, fmt.Errorf("a likelihood has %d parts; at most %d are read", len(list), most)
	}
	var all []likelihood.Likelihood
	for _, text := range list {
		l, err := unmarshalLikelihood(text, lib, depth)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// ParseLikelihood returns the likelihood of package likelihood whose String is s, or nil. Old model
// files hold only this text.
func ParseLikelihood(s string) likelihood.Likelihood {
	if inner, ok := strings.CutPrefix(s, "weighted "); ok {
		if l := ParseLikelihood(inner); l != nil {
			return likelihood.Weighted{Of: l}
		}
		return nil
	}
	var std, floor float64
	if _, err := fmt.Sscanf(s, "expected normal, noise %g", &std); err == nil {
		return same(likelihood.ExpectedNormal{Std: std}, s)
	}
	name, rest, _ := strings.Cut(s, ", floor ")
	fmt.Sscan(rest, &floor) // which stays 0 without one
	switch name {
	case "normal":
		return same(likelihood.Normal{Floor: floor}, s)
	case "heteroscedastic":
		return same(likelihood.Heteroscedastic{Floor: floor}, s)
	case "categorical":
		return same(likelihood.Categorical{Floor: floor}, s)
	case "bernoulli":
		return same(likelihood.Bernoulli{Floor: floor}, s)
	case "poisson":
		return same(likelihood.Poisson{}, s)
	}
	return nil
}

func same(l likelihood.Likelihood, s string) likelihood.Likelihood {
	if l.String() != s {
		return nil
	}
	return l
}
