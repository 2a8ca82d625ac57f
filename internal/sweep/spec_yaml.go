package sweep

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A reader turns YAML into values that JSON can hold. It keeps the order of settings.
type reader struct{ nodes int }

// maxNodes bounds the values that nested aliases can expand to.
const maxNodes = 200_000

// value turns a node into JSON's types: maps, slices, text, numbers, booleans, nil.
func (r *reader) value(n *yaml.Node) (any, error) {
	if r.nodes++; r.nodes > maxNodes {
		return nil, fmt.Errorf("it holds more than %d values", maxNodes)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias)
	case yaml.SequenceNode:
		return r.values(n)
	case yaml.MappingNode:
		m := map[string]any{}
		err := r.pairs(n, func(key string, v *yaml.Node) (err error) {
			m[key], err = r.value(v)
			return err
		})
		return m, err
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := r.decode(n, &b)
		return b, err
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i, nil
		}
		var u uint64
		err := r.decode(n, &u)
		return u, err
	case "!!float":
		var f float64
		err := r.decode(n, &f)
		if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
			err = fmt.Errorf("line %d: %s cannot be stored in a plan as a number", n.Line, n.Value)
		}
		return f, err
	}
	return n.Value, nil
}

func (r *reader) decode(n *yaml.Node, v any) error {
	if n.Decode(v) != nil {
		return fmt.Errorf("line %d: %.50q cannot be read", n.Line, n.Value)
	}
	return nil
}

func (r *reader) values(n *yaml.Node) ([]any, error) {
	if n.Kind == yaml.AliasNode {
		return r.values(n.Alias)
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, fmt.Errorf("line %d: expected a list with at least one value, such as [1, 2]", n.Line)
	}
	all := make([]any, len(n.Content))
	for i, c := range n.Content {
		var err error
		all[i], err = r.value(c)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pairs visits names and values in their order in the file.
func (r *reader) pairs(n *yaml.Node, visit func(key string, v *yaml.Node) error) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: expected names with values, such as kind: fc", n.Line)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Value == "" || key.Value == "<<" {
			return fmt.Errorf("line %d: a name must be plain text", key.Line)
		}
		if seen[key.Value] {
			return fmt.Errorf("line %d: %s is given twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if err := visit(key.Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Value == "" || n.ShortTag() == "!!null" {
		return "", fmt.Errorf("line %d: a name is missing", n.Line)
	}
	return n.Value, nil
}

func (r *reader) count(n *yaml.Node, most int) (int, error) {
	var v float64 // decoding into a whole number would cut 3.5 to 3
	if n.Kind != yaml.ScalarNode || n.Decode(&v) != nil || v != math.Trunc(v) || v < 1 || v > float64(most) {
		return 0, fmt.Errorf("line %d: %q must be a whole number from 1 to %d", n.Line, n.Value, most)
	}
	return int(v), nil
}

// seeds are a list, or a number n for 1 to n.
func (r *reader) seeds(n *yaml.Node) ([]any, error) {
	if n.Kind == yaml.ScalarNode {
		count, err := r.count(n, maxTrials)
		if err != nil {
			return nil, err
		}
		all := make([]any, count)
		for i := range all {
			all[i] = int64(i + 1)
		}
		return all, nil
	}
	all, err := r.values(n)
	for _, v := range all {
		switch v := v.(type) {
		case uint64:
			continue
		case int64:
			if v >= 0 {
				continue
			}
		}
		return nil, fmt.Errorf("line %d: a seed must be a whole number ≥ 0", n.Line)
	}
	return all, err
}

func (r *reader) grid(n *yaml.Node) (grid []axis, err error) {
	err = r.pairs(n, func(key string, v *yaml.Node) error {
		values, err := r.values(v)
		grid = append(grid, axis{key, values})
		return err
	})
	return grid, err
}

func (r *reader) list(n *yaml.Node) (list [][]setting, err error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, fmt.Errorf("line %d: list must hold settings, such as [{steps: 400}, {steps: 800}]", n.Line)
	}
	for _, item := range n.Content {
		var settings []setting
		err := r.pairs(item, func(key string, v *yaml.Node) error {
			x, err := r.value(v)
			settings = append(settings, setting{key, x})
			return err
		})
		if err != nil {
			return nil, err
		}
		list = append(list, settings)
	}
	return list, nil
}

// put sets a setting. Dots in its name lead into other settings.
func put(m map[string]any, name string, value any) error {
	outer, inner, dotted := strings.Cut(name, ".")
	if !dotted {
		m[name] = value
		return nil
	}
	if m[outer] == nil {
		m[outer] = map[string]any{}
	}
	sub, ok := m[outer].(map[string]any)
	if !ok {
		return fmt.Errorf("%s cannot be set: %s is a value and has no settings inside", name, outer)
	}
	return put(sub, inner, value)
}
