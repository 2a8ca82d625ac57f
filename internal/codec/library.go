package codec

import (
	"fmt"

	"utvi/moment"
	"utvi/nn"
)

// A Library holds what a model refers to by name: a user's functions, maps, rules and
// layers.
type Library struct {
	Funcs       map[string]*moment.Func
	Maps        map[string]*moment.Map
	MapFamilies map[string]MapMaker
	Stochastics map[string]*nn.Stochastic // only the functions are used
	Rules       map[string]moment.Rule
	JointRules  map[string]moment.JointRule
	Layers      map[string]nn.Layer // one of each kind; the options come from the file

	// StandIn replaces missing functions by the identity: such a layer can be
	// described, but its results are meaningless. Maps and layers have shapes, so
	// nothing can replace them.
	StandIn bool
}

// A MapMaker makes the map of a family from the numbers behind its name: that of
// "gain(2,0.5)" gets 2 and 0.5.
type MapMaker func(numbers []float64) (*moment.Map, error)

// AddMaps adds a family of maps, whose Family is that word; files hold their names alone.
func (lib *Library) AddMaps(family string, make MapMaker) error {
	return add(&lib.MapFamilies, family, make, "map maker")
}

// AddLayer adds a kind of layer. A layer is saved as JSON, so its options must be
// exported fields that JSON can hold. The children of a Composite are saved
// separately.
func (lib *Library) AddLayer(l nn.Layer) error {
	if _, ok := kinds[l.Kind()]; ok {
		return fmt.Errorf("layers of kind %q are built in; give yours another kind", l.Kind())
	}
	return add(&lib.Layers, l.Kind(), l, "layer kind")
}

// AddRule adds a rule under its name.
func (lib *Library) AddRule(r moment.Rule) error {
	if _, ok := builtinRule(r.String()); ok {
		return fmt.Errorf("the rule %q is built in; give yours another name", r)
	}
	return add(&lib.Rules, r.String(), r, "rule")
}

// AddJointRule adds a joint rule under its name.
func (lib *Library) AddJointRule(r moment.JointRule) error {
	if _, ok := builtinJointRule(r.String()); ok {
		return fmt.Errorf("the joint rule %q is built in; give yours another name", r)
	}
	return add(&lib.JointRules, r.String(), r, "joint rule")
}

// AddFunc adds a function under its Name.
func (lib *Library) AddFunc(f *moment.Func) error {
	if lib.Funcs[f.Name] == f && f.Name != "" {
		return nil
	}
	return add(&lib.Funcs, f.Name, f, "function")
}

// AddMap adds a coupled map under its Name.
func (lib *Library) AddMap(m *moment.Map) error {
	if lib.Maps[m.Name] == m && m.Name != "" {
		return nil
	}
	return add(&lib.Maps, m.Name, m, "map")
}

// AddStochastic adds the functions of a stochastic layer under its Name.
func (lib *Library) AddStochastic(s *nn.Stochastic) error {
	return add(&lib.Stochastics, s.Name, s, "stochastic function")
}

func add[V any](to *map[string]V, name string, v V, what string) error {
	if name == "" {
		return fmt.Errorf("a %s needs a name, by which model files refer to it", what)
	}
	if _, ok := (*to)[name]; ok {
		return fmt.Errorf("two %ss have the name %q", what, name)
	}
	if *to == nil {
		*to = map[string]V{}
	}
	(*to)[name] = v
	return nil
}
