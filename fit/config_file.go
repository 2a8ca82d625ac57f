package fit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"utvi/internal/strictjson"
)

// auto is the task that is found out, as files and flags say it.
const auto = "auto"

// LoadConfig reads a file of YAML, or JSON, which is YAML.
func LoadConfig(path string) (Config, error) {
	var c Config
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("cannot read the settings: %w", err)
	}
	var all map[string]any
	if err = yaml.Unmarshal(text, &all); err == nil {
		if all["task"] == auto {
			all["task"] = ""
		}
		if text, err = json.Marshal(all); err == nil {
			err = strictjson.Unmarshal(text, &c)
		}
	}
	if err != nil {
		return c, fmt.Errorf("cannot read the settings in %s: %.200s", path, strings.Join(strings.Fields(err.Error()), " "))
	}
	return c, nil
}

// WriteYAML writes all settings as LoadConfig reads them.
func (c Config) WriteYAML(w io.Writer) error {
	if c.Task == "" {
		c.Task = auto
	}
	doc, err := settings(reflect.ValueOf(c))
	if err != nil {
		return err
	}
	doc.HeadComment = "A setting that is 0 or empty is found in the table, or is the default."
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return err
	}
	return e.Close()
}

// settings are the fields of a struct by their names in JSON, those left alone too.
func settings(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		if v.Type().Field(i).Anonymous {
			inner, err := settings(v.Field(i))
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, inner.Content...)
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
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
