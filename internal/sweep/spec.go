package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"utvi/internal/inputfile"

	"go.yaml.in/yaml/v3"
)

// A Spec describes the trials of a plan: settings of a kind, varied over grids,
// lists and seeds.
//
//	kind: fc
//	base: {steps: 800, seed: 1}
//	grid: {rule: [ut(2), mc(3)]}   # every combination
//	list: [{steps: 400}, {}]       # one after another, each with all of the grid
//	replicates: 10                 # replicate: 0 to 9
//	seeds: 3                       # seed: 1 to 3; or a list
//
// A setting within a setting is written with a dot: optimizer.rate.
type Spec struct {
	Name string // of the plan
	Kind string

	// Instead of a kind: a named experiment, whose plan the caller makes.
	Experiment, Preset string
	Seed               uint64
	Steps              int
	Replicates         int // with a kind, too

	base   map[string]any
	list   [][]setting
	grid   []axis
	seeds  []any
	cost   string // the setting that the cost of a trial grows with
	folder string // of the spec's file
}

// A setting is a name, perhaps with dots, and its value.
type setting struct {
	name  string
	value any
}

// An axis is a setting of a grid with its values.
type axis struct {
	name   string
	values []any
}

// LoadSpec reads a file of YAML, or JSON, which is YAML.
func LoadSpec(path string) (*Spec, error) {
	b, err := inputfile.Read(path, 10)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	s := &Spec{folder: folder, Seed: 1, Preset: "quick", cost: "steps"}
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if err := s.read(b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *Spec) read(b []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("it is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) != 1 {
		return errors.New("it is empty; it must name a kind or an experiment")
	}
	r := reader{}
	given := map[string]bool{}
	err := r.pairs(doc.Content[0], func(key string, n *yaml.Node) error {
		given[key] = true
		return s.set(&r, key, n)
	})
	if err != nil {
		return err
	}
	switch {
	case (s.Kind == "") == (s.Experiment == ""):
		return errors.New("it must name either a kind or an experiment")
	case s.Experiment != "":
		for _, key := range []string{"base", "grid", "list", "seeds", "cost"} {
			if given[key] {
				return fmt.Errorf("%s belongs to a kind; an experiment has preset, seed, steps and replicates", key)
			}
		}
	default:
		for _, key := range []string{"preset", "seed", "steps"} {
			if given[key] {
				return fmt.Errorf("%s belongs to an experiment; put settings of a kind under base, grid or list", key)
			}
		}
	}
	return s.checkSize()
}

// A specField reads a field of a spec.
type specField struct {
	name string
	read func(s *Spec, r *reader, n *yaml.Node) error
}

// specFields are the fields of a spec.
var specFields = []specField{
	{"name", into(func(s *Spec) *string { return &s.Name }, (*reader).text)},
	{"kind", into(func(s *Spec) *string { return &s.Kind }, (*reader).text)},
	{"base", into(func(s *Spec) *map[string]any { return &s.base }, (*reader).settings)},
	{"grid", into(func(s *Spec) *[]axis { return &s.grid }, (*reader).grid)},
	{"list", into(func(s *Spec) *[][]setting { return &s.list }, (*reader).list)},
	{"seeds", into(func(s *Spec) *[]any { return &s.seeds }, (*reader).seeds)},
	{"replicates", into(func(s *Spec) *int { return &s.Replicates }, counting(maxTrials))},
	{"cost", into(func(s *Spec) *string { return &s.cost }, (*reader).text)},
	{"experiment", into(func(s *Spec) *string { return &s.Experiment }, (*reader).text)},
	{"preset", into(func(s *Spec) *string { return &s.Preset }, (*reader).text)},
	{"seed", into(func(s *Spec) *uint64 { return &s.Seed }, (*reader).seed)},
	{"steps", into(func(s *Spec) *int { return &s.Steps }, counting(10_000_000))},
}

// into reads a value into a field.
func into[T any](field func(s *Spec) *T, read func(r *reader, n *yaml.Node) (T, error)) func(s *Spec, r *reader, n *yaml.Node) error {
	return func(s *Spec, r *reader, n *yaml.Node) error {
		v, err := read(r, n)
		if err != nil {
			return err
		}
		*field(s) = v
		return nil
	}
}

// counting reads a number from 1 to most.
func counting(most int) func(r *reader, n *yaml.Node) (int, error) {
	return func(r *reader, n *yaml.Node) (int, error) { return r.count(n, most) }
}

func (r *reader) seed(n *yaml.Node) (seed uint64, err error) {
	if n.ShortTag() != "!!int" || n.Decode(&seed) != nil {
		return 0, fmt.Errorf("line %d: %q must be a whole number ≥ 0", n.Line, n.Value)
	}
	return seed, nil
}

func (r *reader) settings(n *yaml.Node) (map[string]any, error) {
	v, err := r.value(n)
	if err != nil {
		return nil, err
	}
	base, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("line %d: base must hold settings with their values", n.Line)
	}
	return base, nil
}

// set reads the field of the given name.
func (s *Spec) set(r *reader, name string, n *yaml.Node) error {
	var known []string
	for _, f := range specFields {
		if f.name == name {
			return f.read(s, r, n)
		}
		known = append(known, f.name)
	}
	return fmt.Errorf("line %d: unknown field %q; a spec has %s", n.Line, name, strings.Join(known, ", "))
}

// checkSize returns an error for a plan with too many trials.
func (s *Spec) checkSize() error {
	n := max(1, len(s.list)) * max(1, len(s.seeds)) * max(1, s.Replicates)
	for _, a := range s.grid {
		n *= len(a.values)
		if n > maxTrials {
			break
		}
	}
	if n > maxTrials {
		return fmt.Errorf("it describes more than %d trials", maxTrials)
	}
	return nil
}

// Trials returns all combinations. Seeds and replicates vary fastest, then the last
// setting of the grid. kinds say which settings are files.
func (s *Spec) Trials(kinds []Kind) ([]Trial, error) {
	if s.Kind == "" {
		panic("sweep: the trials of an experiment come from the experiment")
	}
	k := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == s.Kind })
	if k < 0 {
		var known []string
		for _, k := range kinds {
			known = append(known, k.Name)
		}
		return nil, fmt.Errorf("there is no kind %q; the kinds are %s", s.Kind, strings.Join(known, ", "))
	}
	var trials []Trial
	names, same := map[string]bool{}, map[string]int{}
	for _, vary := range s.variations() {
		for _, again := range s.repeats() {
			t, err := s.trial(kinds[k], vary, again)
			if err != nil {
				return nil, err
			}
			// A copy would count as a trial of its own in the mean and the error of its group.
			if i, ok := same[string(t.Spec)]; ok {
				return nil, fmt.Errorf("trials %d and %d, %s, have the same settings: %s; list each value once, and each setting in one place", i, len(trials), t.Name, t.Spec)
			}
			same[string(t.Spec)] = len(trials)
			if names[t.Name] { // what differs was lost in the name
				t.Name = shorten(t.Name+"_"+hashOf(t), t)
			}
			names[t.Name] = true
			trials = append(trials, t)
		}
	}
	return trials, nil
}

// variations are the settings of every group.
func (s *Spec) variations() [][]setting {
	all := slices.Clone(s.list)
	if len(all) == 0 {
		all = [][]setting{nil}
	}
	for _, a := range s.grid {
		var next [][]setting
		for _, have := range all {
			for _, v := range a.values {
				next = append(next, append(slices.Clone(have), setting{a.name, v}))
			}
		}
		all = next
	}
	return all
}

// repeats are the settings in which trials of a group differ.
func (s *Spec) repeats() [][]setting {
	all := [][]setting{nil}
	if len(s.seeds) > 0 {
		all = nil
		for _, seed := range s.seeds {
			all = append(all, []setting{{"seed", seed}})
		}
	}
	if s.Replicates == 0 {
		return all
	}
	var next [][]setting
	for _, have := range all {
		for r := range s.Replicates {
			next = append(next, append(slices.Clone(have), setting{"replicate", r}))
		}
	}
	return next
}

func (s *Spec) trial(k Kind, vary, again []setting) (Trial, error) {
	settings := copyOf(s.base).(map[string]any)
	name, group := plain(s.Kind), ""
	for i, x := range slices.Concat(vary, again) {
		if err := put(settings, x.name, copyOf(x.value)); err != nil {
			return Trial{}, err
		}
		name += "_" + label(x)
		if i < len(vary) {
			group += ", " + x.name + "=" + text(x.value)
		}
	}
	for _, path := range k.Paths {
		resolve(settings, path, s.folder)
	}
	group = strings.TrimPrefix(group, ", ")
	if group == "" {
		group = s.Name
	}
	spec, err := json.Marshal(settings)
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Name: name, Kind: s.Kind, Group: group, Cost: costOf(settings, s.cost), Spec: spec}
	t.Name = shorten(name, t)
	return t, nil
}
