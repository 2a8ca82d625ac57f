package likelihood

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"utvi/internal/strictjson"
)

// Likelihoods are stored as JSON objects that begin with their kind:
//
//	{"kind":"heteroscedastic","floor":1e-8}
//	{"kind":"weighted","of":{"kind":"normal"}}
//
// Every likelihood is its own options: the fields that JSON sees. What a Wrapper
// wraps is stored under "of".

// own are the likelihoods of this package by kind.
var own = func() map[string]Likelihood {
	all := map[string]Likelihood{}
	for _, l := range []Likelihood{Normal{}, ExpectedNormal{}, Heteroscedastic{}, Poisson{}, Count{}, Categorical{}, Bernoulli{}, Weighted{}} {
		all[l.Kind()] = l
	}
	return all
}()

// A Library holds likelihoods from outside this package, by kind. Decoding starts from
// a copy: fields that JSON does not see keep their values.
type Library map[string]Likelihood

// Add adds a likelihood.
func (lib Library) Add(l Likelihood) error {
	kind := l.Kind()
	switch _, ours := own[kind]; {
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

// Marshal writes a likelihood as JSON.
func Marshal(l Likelihood) ([]byte, error) {
	kind := l.Kind()
	if o, ours := own[kind]; ours && indirect(l) != reflect.TypeOf(o) || kind == "" {
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
	if w, ok := l.(Wrapper); ok {
		if w.Unwrap() == nil {
			return nil, fmt.Errorf("likelihood %s wraps nothing", kind)
		}
		fields["of"], err = Marshal(w.Unwrap())
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

func indirect(l Likelihood) reflect.Type {
	t := reflect.TypeOf(l)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// UnknownError says that neither this package nor the Library has a likelihood of this
// Kind.
type UnknownError struct{ Kind string }

// Error implements error.
func (e *UnknownError) Error() string { return fmt.Sprintf("unknown likelihood %.60q", e.Kind) }

// Unmarshal reads JSON that Marshal wrote.
func Unmarshal(data []byte, lib Library) (Likelihood, error) { return unmarshal(data, lib, 0) }

func unmarshal(data []byte, lib Library, depth int) (Likelihood, error) {
	const deepest = 8
	if depth > deepest {
		return nil, errors.New("likelihoods are nested too deep")
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, errors.New("a likelihood must be an object with a kind")
	}
	var kind string
	if err := json.Unmarshal(fields["kind"], &kind); err != nil {
		return nil, errors.New("a likelihood must be an object with a kind")
	}
	delete(fields, "kind")
	proto, ok := own[kind]
	if !ok {
		proto, ok = lib[kind]
	}
	if !ok {
		return nil, &UnknownError{kind}
	}
	var inner Likelihood
	if _, wraps := proto.(Wrapper); wraps {
		var err error
		inner, err = unmarshal(fields["of"], lib, depth+1)
		if err != nil {
			return nil, err
		}
		delete(fields, "of")
	}
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
	l := v.Interface().(Likelihood)
	if inner != nil {
		l = l.(Wrapper).Wrap(inner)
	}
	return l, nil
}

// Parse returns the likelihood of this package whose String is s, or nil. Old model
// files hold only this text.
func Parse(s string) Likelihood {
	if inner, ok := strings.CutPrefix(s, "weighted "); ok {
		if l := Parse(inner); l != nil {
			return Weighted{Of: l}
		}
		return nil
	}
	var std, floor float64
	if _, err := fmt.Sscanf(s, "expected normal, noise %g", &std); err == nil {
		return same(ExpectedNormal{Std: std}, s)
	}
	name, rest, _ := strings.Cut(s, ", floor ")
	fmt.Sscan(rest, &floor) // which stays 0 without one
	switch name {
	case "normal":
		return same(Normal{Floor: floor}, s)
	case "heteroscedastic":
		return same(Heteroscedastic{Floor: floor}, s)
	case "categorical":
		return same(Categorical{Floor: floor}, s)
	case "bernoulli":
		return same(Bernoulli{Floor: floor}, s)
	case "poisson":
		return same(Poisson{}, s)
	}
	return nil
}

func same(l Likelihood, s string) Likelihood {
	if l.String() != s {
		return nil
	}
	return l
}
