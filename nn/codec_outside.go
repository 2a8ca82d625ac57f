package nn

import (
	"encoding/json"
	"fmt"
	"reflect"

	"utvi/internal/strictjson"
)

// A layer from outside this module is written as the JSON of its value. If it is a
// Composite, its children are written beside that, and its own JSON must leave them
// out (`json:"-"`):
//
//	{"kind":"mine","size":3,"children":[…]}

const childrenKey = "children"

func (c *coder) encodeOutside(l Layer) (any, error) {
	fields, err := jsonFields(l)
	if err != nil {
		return nil, err
	}
	if err := c.survives(l, fields); err != nil {
		return nil, err
	}
	for _, key := range []string{"kind", childrenKey} {
		if _, ok := fields[key]; ok {
			return nil, fmt.Errorf("a layer of kind %q cannot be saved: the name of its option %q is reserved; choose another name", l.Kind(), key)
		}
	}
	if held, ok := l.(Composite); ok {
		children, err := c.encodeAll(held.Children())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Kind(), err)
		}
		if fields[childrenKey], err = json.Marshal(children); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func jsonFields(l Layer) (map[string]json.RawMessage, error) {
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
func (c *coder) survives(l Layer, fields map[string]json.RawMessage) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	again, err := fromJSON(l, body)
	if err != nil {
		return fmt.Errorf("a layer of kind %q cannot be saved: %w", l.Kind(), err)
	}
	if held, ok := again.(Composite); ok {
		again = held.WithChildren(l.(Composite).Children())
	}
	if !reflect.DeepEqual(again, l) {
		return fmt.Errorf("a layer of kind %q (%T) cannot be saved: some of its fields are not in its JSON; export them, with options that JSON can hold", l.Kind(), l)
	}
	return nil
}

func (c *coder) decodeOutside(like Layer, options []byte) (Layer, error) {
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
	held, ok := l.(Composite)
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
	if have, want := len(layers), len(held.Children()); want > 0 && have != want {
		return nil, fmt.Errorf("%d children; the layer needs %d", have, want)
	}
	return held.WithChildren(layers), nil
}

// fromJSON returns a layer of the type of like with the options of body.
func fromJSON(like Layer, body []byte) (Layer, error) {
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
		return v.Interface().(Layer), nil
	}
	return v.Elem().Interface().(Layer), nil
}
