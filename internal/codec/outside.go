package codec

import (
	"encoding/json"
	"fmt"
	"reflect"

	"utvi/internal/strictjson"
	"utvi/nn"
)

// A layer from outside this module is written as the JSON of its value. If it is a
// Composite, its children are written beside that, and its own JSON must leave them
// out (`json:"-"`):
//
//	{"kind":"mine","size":3,"children":[…]}

const childrenKey = "children"

func (c *coder) encodeOutside(l nn.Layer) (any, error) {
	if err := c.oneType(l); err != nil {
		return nil, err
	}
	fields, err := jsonFields(l)
	if err == nil {
		err = c.survives(l, fields)
	}
	if name := layerField(l); err != nil && name != "" {
		err = fmt.Errorf("a layer of kind %q (%T) cannot be saved: its field %s holds layers: tag it `json:\"-\"` and implement nn.Composite (Children, WithChildren)", l.Kind(), l, name)
	}
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"kind", childrenKey} {
		if _, ok := fields[key]; ok {
			return nil, fmt.Errorf("a layer of kind %q cannot be saved: the name of its option %q is reserved; choose another name", l.Kind(), key)
		}
	}
	if held, ok := l.(nn.Composite); ok {
		children, err := c.encodeAll(held.Children())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Kind(), err)
		}
		fields[childrenKey], err = json.Marshal(children)
		if err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// oneType reports a second type of one kind: a file holds the kind alone.
func (c *coder) oneType(l nn.Layer) error {
	t := reflect.TypeOf(l)
	if first, ok := c.types[l.Kind()]; ok && first != t {
		return fmt.Errorf("the network has layers of kind %q of two types, %v and %v: give one of them another kind", l.Kind(), first, t)
	}
	c.types[l.Kind()] = t
	return nil
}

// layerField names a field that holds layers and that JSON sees, if there is one.
func layerField(l nn.Layer) string {
	t := reflect.TypeOf(l)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	for _, f := range reflect.VisibleFields(t) {
		of := f.Type
		if of.Kind() == reflect.Slice || of.Kind() == reflect.Array || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of == reflect.TypeFor[nn.Layer]() && f.Tag.Get("json") != "-" {
			return f.Name
		}
	}
	return ""
}

func jsonFields(l nn.Layer) (map[string]json.RawMessage, error) {
	body, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("a layer of kind %q cannot be saved: %w", l.Kind(), err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("a layer of kind %q (%T) cannot be saved: its JSON must be an object", l.Kind(), l)
	}
	return fields, nil
}

// survives reports options that would be lost on the way through a file.
func (c *coder) survives(l nn.Layer, fields map[string]json.RawMessage) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	again, err := fromJSON(l, body)
	if err != nil {
		return fmt.Errorf("a layer of kind %q cannot be saved: %w", l.Kind(), err)
	}
	if held, ok := again.(nn.Composite); ok { // children are saved by themselves, and may hold functions
		none := make([]nn.Layer, len(l.(nn.Composite).Children()))
		again, l = held.WithChildren(none), l.(nn.Composite).WithChildren(none)
	}
	if !reflect.DeepEqual(again, l) {
		return fmt.Errorf("a layer of kind %q (%T) cannot be saved: some of its fields are not in its JSON; export them, with options that JSON can hold", l.Kind(), l)
	}
	return nil
}

func (c *coder) decodeOutside(like nn.Layer, options []byte) (nn.Layer, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(options, &fields); err != nil {
		return nil, err
	}
	var children []json.RawMessage
	if text, ok := fields[childrenKey]; ok {
		if err := json.Unmarshal(text, &children); err != nil {
			return nil, fmt.Errorf("\"children\" must be a list of layers")
		}
		delete(fields, childrenKey)
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	l, err := fromJSON(like, body)
	if err != nil {
		return nil, err
	}
	held, ok := l.(nn.Composite)
	if !ok {
		if children != nil {
			return nil, fmt.Errorf("the file has children, but a layer of type %T has none", l)
		}
		return l, nil
	}
	layers, err := c.decodeAll(children)
	if err != nil {
		return nil, err
	}
	if have, want := len(layers), len(held.Children()); have != want && (want > 0 || have == 0) {
		return nil, fmt.Errorf("%d children; the layer needs %d", have, want)
	}
	return held.WithChildren(layers), nil
}

// fromJSON returns a layer of the type of like with the options of body.
func fromJSON(like nn.Layer, body []byte) (nn.Layer, error) {
	t := reflect.TypeOf(like)
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	v := reflect.New(t)
	if err := strictjson.Unmarshal(body, v.Interface()); err != nil {
		return nil, err
	}
	if pointer {
		return v.Interface().(nn.Layer), nil
	}
	return v.Elem().Interface().(nn.Layer), nil
}
