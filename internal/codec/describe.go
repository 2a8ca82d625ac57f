package codec

import (
	"bytes"
	"encoding/json"
	"strings"

	"utvi/nn"
)

// Describe returns the options of a layer in one line, as in "f=tanh rule=ut(2)".
func Describe(l nn.Layer) string { return newCoder(Library{}).describe(l) }

// DescribeWithoutDefaults is Describe without joint rules that are the default.
// Checkpoints from before the default was written out contain this text.
func DescribeWithoutDefaults(l nn.Layer) string {
	c := newCoder(Library{})
	c.noDefaults = true
	return c.describe(l)
}

func (c *coder) describe(l nn.Layer) string {
	b, err := c.encode(l)
	if err != nil {
		return err.Error()
	}
	return strings.Join(fields(b), " ")
}

// fields writes an object's fields as key=value, in their order: all but its kind and
// the fingerprints of functions and rules.
func fields(object []byte) []string {
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token()
	var all []string
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return all
		}
		if key != "kind" && key != "values" && key != "rule_values" {
			all = append(all, key.(string)+"="+shorten(brief(value)))
		}
	}
	return all
}

// brief writes a value: a layer as kind(options), text without quotes.
func brief(value []byte) string {
	var layer struct{ Kind string }
	var list []json.RawMessage
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &layer) == nil && layer.Kind != "":
		return layer.Kind + "(" + strings.Join(fields(value), " ") + ")"
	case json.Unmarshal(value, &list) == nil:
		var parts []string
		for _, v := range list {
			parts = append(parts, brief(v))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return string(value)
}

func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
