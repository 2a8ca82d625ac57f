package serve

import (
	"math"
	"strconv"
)

// A restRequest is the JSON of an inference request, read value by value: what the model
// has no use for takes no memory.
type restRequest struct {
	q      *inference
	s      *scanner
	raw    []byte // binary tensors that belong to no input yet
	id     string
	binary bool            // outputs are wanted as bytes
	forms  map[string]bool // of outputs that say so themselves
	seen   map[string]bool // fields
}

// mostID is the most bytes of the identifier that comes back with the answer.
const mostID = 1000

// asBytes reports whether an output is wanted as bytes.
func (r *restRequest) asBytes(name string) bool {
	if v, ok := r.forms[name]; ok {
		return v
	}
	return r.binary
}

// read reads the request.
func (r *restRequest) read() error {
	if r.s.next() != '{' {
		return failf(malformed, "the JSON is not an inference request: it must be an object with the field inputs")
	}
	r.seen = map[string]bool{}
	r.forms = map[string]bool{}
	err := r.s.object(r.field)
	if err == nil {
		err = r.s.end()
	}
	if err != nil {
		return err
	}
	if len(r.raw) > 0 {
		return failf(invalid, "%d bytes behind the JSON belong to no tensor", len(r.raw))
	}
	return nil
}

// field reads a field of the request; others than those of the protocol are skipped.
func (r *restRequest) field(name string) error {
	switch name {
	case "id", "parameters", "inputs", "outputs":
	default:
		_, err := r.s.skip(0)
		return err
	}
	if r.seen[name] {
		return failf(malformed, "the field %q occurs twice", name)
	}
	r.seen[name] = true
	if r.s.null() {
		return nil
	}
	switch name {
	case "id":
		text, err := r.text("id", mostID)
		r.id = text
		return err
	case "parameters":
		return r.parameters(func(name string, v any) error { return r.q.parameter(name, v, &r.binary) })
	case "inputs":
		return r.each("inputs", r.input)
	}
	return r.each("outputs", r.output)
}

// each reads a list of objects.
func (r *restRequest) each(what string, read func() error) error {
	if r.s.next() != '[' {
		return failf(malformed, "the JSON is not an inference request: %s must be a list", what)
	}
	return r.s.list(func(int) error {
		if r.s.next() != '{' {
			return failf(malformed, "the JSON is not an inference request: %s must be a list of objects", what)
		}
		return read()
	})
}

// text reads a text of at most so many bytes.
func (r *restRequest) text(what string, most int) (string, error) {
	if r.s.next() != '"' {
		return "", failf(malformed, "the JSON is not an inference request: %s must be a text", what)
	}
	text, err := r.s.text()
	if len(text) > most {
		return "", failf(invalid, "%s has %d bytes; at most %d are allowed", what, len(text), most)
	}
	return string(text), err
}

// parameters reads an object of parameters. Lists and objects, which none of ours is, are
// nil.
func (r *restRequest) parameters(set func(name string, v any) error) error {
	if r.s.null() {
		return nil
	}
	if r.s.next() != '{' {
		return failf(malformed, "the JSON is not an inference request: parameters must be an object")
	}
	return r.s.object(func(name string) error {
		v, err := r.value()
		if err != nil {
			return err
		}
		return set(name, v)
	})
}

// value reads a number, a text, true or false; anything else is nil.
func (r *restRequest) value() (any, error) {
	switch c := r.s.next(); {
	case c == '"':
		return r.text("a parameter", mostParameter)
	case c == 't':
		return true, r.s.word("true")
	case c == 'f':
		return false, r.s.word("false")
	case c == '-' || c-'0' <= 9:
		v, _, err := r.s.float()
		return v, err
	}
	_, err := r.s.skip(0)
	return nil, err
}

// mostParameter has room for as many levels of quantiles as there may be.
const mostParameter = 32 << 10

// output reads what is asked for.
func (r *restRequest) output() error {
	name := ""
	form, hasForm := false, false
	err := r.s.object(func(field string) error {
		switch field {
		case "name":
			text, err := r.text("the name of an output", mostName)
			name = text
			return err
		case "parameters":
			return r.parameters(func(key string, v any) error {
				switch key {
				case "classification":
					return failf(invalid, "the classification extension is not supported; ask for the outputs class and probabilities")
				case "binary_data":
					form, hasForm = v.(bool)
					if !hasForm {
						return failf(invalid, "the parameter binary_data of output %.60q must be true or false", name)
					}
				}
				return nil
			})
		}
		_, err := r.s.skip(0)
		return err
	})
	if err != nil {
		return err
	}
	if hasForm {
		r.forms[name] = form
	}
	return r.q.want(name)
}

// mostName is the most bytes of a name of a tensor.
const mostName = 10_000

// A restInput is a tensor as the JSON has it.
type restInput struct {
	tensor
	data []byte  // as it is written; nil: none
	size float64 // of its bytes behind the JSON; NaN: none
}

// input reads a tensor.
func (r *restRequest) input() error {
	in := restInput{size: math.NaN()}
	err := r.s.object(func(field string) error { return r.inputField(&in, field) })
	if err != nil {
		return err
	}
	n, err := in.elements(r.q.limits)
	if err != nil {
		return err
	}
	isRaw := !math.IsNaN(in.size)
	switch {
	case isRaw && in.data != nil:
		return failf(invalid, "tensor %.60q has both data and binary data", in.name)
	case !isRaw && in.data == nil:
		return failf(invalid, "tensor %.60q has no data", in.name)
	case isRaw && !(in.size >= 0 && in.size <= float64(len(r.raw)) && in.size == math.Trunc(in.size)):
		return failf(invalid, "tensor %.60q has the binary_data_size %v; %d bytes are left behind the JSON", in.name, in.size, len(r.raw))
	}
	size := len(in.data)
	if isRaw {
		size = int(in.size)
	}
	if err := r.q.mem.take(in.memory(min(n, size))); err != nil {
		return err
	}
	if isRaw {
		err = in.readRaw(r.raw[:size], n)
		r.raw = r.raw[size:]
	} else {
		err = in.readJSON(in.data, n)
	}
	if err != nil {
		return err
	}
	return r.q.input(in.tensor)
}

// inputField reads a field of a tensor.
func (r *restRequest) inputField(in *restInput, field string) error {
	var err error
	switch field {
	case "name":
		in.name, err = r.text("the name of a tensor", mostName)
	case "datatype":
		in.datatype, err = r.text("a datatype", mostName)
	case "shape":
		in.shape, err = r.shape()
	case "parameters":
		err = r.parameters(func(key string, v any) error {
			if key != "binary_data_size" {
				return nil
			}
			size, ok := v.(float64)
			if !ok {
				size = -1 // which is reported with the number of bytes
			}
			in.size = size
			return nil
		})
	case "data":
		in.data, err = r.s.skip(0)
		if string(in.data) == "null" {
			in.data = nil
		}
	default:
		_, err = r.s.skip(0)
	}
	return err
}

// shape reads a shape.
func (r *restRequest) shape() (dims, error) {
	if r.s.next() != '[' {
		return nil, failf(malformed, "the JSON is not an inference request: a shape must be a list of whole numbers")
	}
	var out dims
	err := r.s.list(func(n int) error {
		if n == mostDims {
			return failf(invalid, "a shape has more than %d dimensions, which is the most that the server allows", mostDims)
		}
		text, err := r.s.number()
		if err != nil {
			return err
		}
		v, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return failf(malformed, "the JSON is not an inference request: a dimension is %.40s; it must be a whole number", text)
		}
		out = append(out, v)
		return nil
	})
	return out, err
}
