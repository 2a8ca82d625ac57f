package strictjson

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// wrongType says what a value is and what it must be.
func wrongType(e *json.UnmarshalTypeError) error {
	what := e.Field
	if what == "" {
		what = "it"
	}
	must := kind(e.Type)
	is, ok := strings.CutPrefix(e.Value, "number ") // followed by the number
	if ok && must == "a number" {
		must = "a finite number" // for it is one, but too large
	}
	if !ok {
		is = map[string]string{"string": "text", "number": "a number", "array": "a list", "object": "an object", "bool": "true or false"}[e.Value]
	}
	if is == "" {
		is = e.Value
	}
	return errors.New(what + " is " + is + "; it must be " + must)
}

// kind is a type in plain words.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number ≥ 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return kind(t.Elem())
	}
	return "an object"
}

// others lists the fields there are, if the unknown one stands at the top.
func others(text string, data []byte, v any) string {
	name, ok := strings.CutPrefix(text, `unknown field "`)
	t := reflect.TypeOf(v).Elem()
	var top map[string]json.RawMessage
	if !ok || t.Kind() != reflect.Struct || json.Unmarshal(data, &top) != nil {
		return ""
	}
	name = strings.TrimSuffix(name, `"`)
	names := fields(t)
	for _, n := range names {
		ok = ok && !strings.EqualFold(n, name)
	}
	if _, here := top[name]; !here || !ok || len(names) == 0 {
		return ""
	}
	return "; the fields are " + strings.Join(names, ", ")
}

// fields are the names of a struct's fields as JSON has them.
func fields(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" || !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		names = append(names, name)
	}
	return names
}
