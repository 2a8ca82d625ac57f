package fit

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"utvi/internal/inputfile"
	"utvi/internal/strictjson"
	"utvi/internal/tabular"
)

// auto is the task that is found out, as files and flags say it.
const auto = "auto"

// LoadConfig reads a file of YAML, or JSON, which is YAML.
func LoadConfig(path string) (Config, error) {
	var c Config
	text, err := inputfile.Read(path, 10)
	if err != nil {
		return c, err
	}
	var all map[string]any
	err = yaml.Unmarshal(text, &all)
	if err == nil {
		for _, name := range []string{"task", "refit"} {
			if all[name] == auto {
				all[name] = ""
			}
		}
		text, err = json.Marshal(all)
		if err == nil {
			err = strictjson.Unmarshal(text, &c)
		}
	}
	if err != nil {
		return c, fmt.Errorf("cannot read the settings in %s: %.200s", path, strings.Join(strings.Fields(err.Error()), " "))
	}
	return c, nil
}

// WriteYAML writes all settings as LoadConfig reads them. Where a setting was left open,
// a comment says what was chosen; chosen may be nil.
func (c Config) WriteYAML(w io.Writer, chosen *Model) error {
	if c.Task == "" {
		c.Task = auto
	}
	if c.Refit == "" {
		c.Refit = auto
	}
	doc, err := settings(reflect.ValueOf(c))
	if err != nil {
		return err
	}
	doc.HeadComment = "A setting that is 0 or empty is found in the table, or is the default."
	if chosen != nil {
		doc.HeadComment += "\nThe comment after it says what was chosen."
		comment(doc, "", chosen.choices())
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return err
	}
	return e.Close()
}

// comment writes what was chosen behind settings that are open.
func comment(n *yaml.Node, path string, chosen map[string]string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := path + key.Value
		if value.Kind == yaml.MappingNode {
			comment(value, name+".", chosen)
			continue
		}
		open := value.Value == "" || value.Value == "0" || value.Value == auto || value.Value == "[]"
		if text := chosen[name]; text != "" && open && len(value.Content) == 0 {
			value.LineComment = text
		}
	}
}

// choices say what was chosen for settings that were left open, by their names.
func (m *Model) choices() map[string]string {
	all := map[string]string{"task": string(m.Schema.Task), "refit": refitNever}
	if m.Facts.Refitted > 0 {
		all["refit"] = refitAlways
	}
	n := m.Net.Report.Config
	for name, v := range map[string]any{"ensemble": n.Ensemble, "steps": n.Steps, "batch": n.Batch, "rate": n.Rate} {
		all["network."+name] = fmt.Sprint(v)
	}
	choice := func(name string, of func(c tabular.Candidate) string) {
		var seen []string
		for _, x := range m.Net.Report.Members {
			if s := of(x.Candidate); s != "" && !slices.Contains(seen, s) {
				seen = append(seen, s)
			}
		}
		all["network."+name] = strings.Join(seen, ", ")
	}
	choice("noise", func(c tabular.Candidate) string { return c.Noise })
	choice("kl", func(c tabular.Candidate) string { return fmt.Sprint(c.KL) })
	choice("activation", func(c tabular.Candidate) string { return c.Activation })
	choice("width", func(c tabular.Candidate) string { return fmt.Sprint(c.Width) })
	choice("depth", func(c tabular.Candidate) string { return fmt.Sprint(c.Depth) })
	count := func(n int) string {
		if n == 0 {
			return "none"
		}
		return fmt.Sprint(n)
	}
	choice("bins", func(c tabular.Candidate) string { return count(c.Bins) })
	choice("waves", func(c tabular.Candidate) string { return count(c.Waves) })
	var inputs []string
	for _, s := range m.Schema.Spans() {
		inputs = append(inputs, s.Column.Name)
	}
	if len(inputs) <= 50 {
		all["inputs"] = strings.Join(inputs, ", ")
	}
	return all
}

// settings are the fields of a struct by their names in JSON, those left alone too.
func settings(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if options == "omitzero" && v.Field(i).IsZero() {
			continue // settings of images, of a fit without any
		}
		if name == "-" || name == "seed" && v.Type() != reflect.TypeFor[Config]() {
			continue // one seed is enough
		}
		value := &yaml.Node{}
		var err error
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			value, err = settings(f)
		case reflect.Slice, reflect.Map:
			err = value.Encode(f.Interface())
			value.Style = yaml.FlowStyle
			if f.Len() == 0 {
				value = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
				if f.Kind() == reflect.Map {
					value.Kind = yaml.MappingNode
				}
			}
		default:
			err = value.Encode(f.Interface())
		}
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	return n, nil
}
