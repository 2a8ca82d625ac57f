package serve

import (
	"math"
	"strconv"
	"strings"
)

// ignored are parameters that clients send for servers of other kinds.
var ignored = map[string]bool{"sequence_id": true, "sequence_start": true, "sequence_end": true, "priority": true, "timeout": true, "content_type": true, "headers": true}

// parameter reads a parameter of a request: one of its options, or whether outputs are
// wanted as bytes.
func (q *inference) parameter(name string, v any, binary *bool) error {
	switch name {
	case "interval", "max_std", "max_ood", "max_unfamiliar", "min_probability":
		number, ok := numeric(v)
		if !ok {
			return failf(invalid, "the parameter %s must be a number", name)
		}
		q.set(name, number)
		return nil
	case "quantiles":
		return q.levels(v)
	case "binary_data_output":
		on, ok := v.(bool)
		if !ok {
			return failf(invalid, "the parameter binary_data_output must be true or false")
		}
		*binary = *binary || on
		return nil
	}
	if !ignored[name] {
		return failf(invalid, "the parameter %.60q is unknown; the parameters are interval, quantiles, max_std, max_ood, min_probability and binary_data_output", name)
	}
	return nil
}

// numeric is a number, or a text that is one.
func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		number, err := strconv.ParseFloat(v, 64)
		return number, err == nil
	}
	return 0, false
}

// levels reads levels of quantiles: a number, or a text with commas.
func (q *inference) levels(v any) error {
	if number, ok := v.(float64); ok {
		q.Quantiles = []float64{number}
		return nil
	}
	text, _ := v.(string)
	q.Quantiles = nil
	for s := range strings.SplitSeq(text, ",") {
		level, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return failf(invalid, "the parameter quantiles is %.60q; it must be levels with commas between them, as in 0.1,0.9", text)
		}
		if len(q.Quantiles) == maxQuantiles {
			return tooManyQuantiles()
		}
		q.Quantiles = append(q.Quantiles, level)
	}
	return nil
}

// readJSON reads n elements from a list, which may be nested.
func (t *tensor) readJSON(data []byte, n int) error {
	s := &scanner{s: data}
	room := min(n, len(data)/2+1) // an element and a comma
	switch t.datatype {
	case "BYTES":
		t.texts = make([][]byte, 0, room)
	case "BOOL":
		t.bools = make([]bool, 0, room)
	case "UINT64":
		return t.readUnsigned(s, n, room)
	default:
		if t.integers() {
			t.ints = make([]int64, 0, room)
		} else {
			t.floats = make([]float64, 0, room)
		}
	}
	err := t.nested(s, 0, func() error {
		if t.len() == n {
			return t.miscounted(n+1, n)
		}
		return t.element(s)
	})
	if err != nil {
		return err
	}
	if got := t.len(); got != n {
		return t.miscounted(got, n)
	}
	return t.ranged()
}

// len is the number of elements.
func (t *tensor) len() int { return max(len(t.floats), len(t.ints), len(t.texts), len(t.bools)) }

func (t *tensor) miscounted(got, n int) error {
	return failf(invalid, "tensor %.60q has %d elements; its shape %s needs %d", t.name, got, t.shape, n)
}

// readUnsigned reads whole numbers of which some may be beyond int64.
func (t *tensor) readUnsigned(s *scanner, n, room int) error {
	all := make([]uint64, 0, room)
	err := t.nested(s, 0, func() error {
		if len(all) == n {
			return t.miscounted(n+1, n)
		}
		text, err := s.number()
		if err != nil {
			return err
		}
		v, err := strconv.ParseUint(string(text), 10, 64)
		if err != nil {
			f, bad := strconv.ParseFloat(string(text), 64) // 1e3 is whole, too
			if bad != nil || f != math.Trunc(f) || f < 0 || f >= 1<<64 {
				return t.wrong(len(all), string(text))
			}
			v = uint64(f)
		}
		all = append(all, v)
		return nil
	})
	if err != nil {
		return err
	}
	if len(all) != n {
		return t.miscounted(len(all), n)
	}
	t.unsigned(n, func(i int) uint64 { return all[i] })
	return nil
}

// nested calls element for every element of a list, which may be nested as the shape is.
func (t *tensor) nested(s *scanner, depth int, element func() error) error {
	if s.next() != '[' {
		return failf(invalid, "the data of tensor %.60q must be a list", t.name)
	}
	return s.list(func(int) error {
		if s.next() == '[' && depth < len(t.shape)-1 {
			return t.nested(s, depth+1, element)
		}
		return element()
	})
}

// element reads an element of the tensor's type.
func (t *tensor) element(s *scanner) error {
	c := s.next()
	digit := c == '-' || c-'0' <= 9
	switch {
	case c == '"' && t.texts != nil:
		text, err := s.text()
		t.texts = append(t.texts, text)
		return err
	case c == 't' && t.bools != nil:
		t.bools = append(t.bools, true)
		return s.word("true")
	case c == 'f' && t.bools != nil:
		t.bools = append(t.bools, false)
		return s.word("false")
	case digit && t.ints != nil:
		v, err := t.integer(s)
		t.ints = append(t.ints, v)
		return err
	case (digit || c == 'n') && t.floats != nil:
		v, ok, err := s.float()
		if !ok {
			v = math.NaN()
		}
		t.floats = append(t.floats, v)
		return err
	}
	return failf(invalid, "an element of tensor %.60q is not of its datatype %s", t.name, t.datatype)
}

// integers reports whether the datatype is one of whole numbers.
func (t *tensor) integers() bool {
	return strings.HasPrefix(t.datatype, "INT") || strings.HasPrefix(t.datatype, "UINT")
}

// integer reads a whole number with all its digits, which may be those of an identifier.
func (t *tensor) integer(s *scanner) (int64, error) {
	text, err := s.number()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil {
		return v, nil
	}
	f, err := strconv.ParseFloat(string(text), 64) // 1e3 is whole, too
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, t.wrong(len(t.ints), string(text))
	}
	return int64(f), nil
}

func (t *tensor) wrong(at int, v string) error {
	return failf(invalid, "element %d of tensor %.60q is %.40s; its datatype is %s", at+1, t.name, v, t.datatype)
}

// ranged reports whole numbers that the datatype cannot hold. Bytes cannot write them, but JSON
// and messages can.
func (t *tensor) ranged() error {
	bits := 8 * widths[t.datatype]
	if !t.integers() || bits == 64 && t.datatype[0] == 'I' {
		return nil
	}
	least, most := int64(0), int64(math.MaxInt64)
	if t.datatype[0] == 'I' {
		least, most = -1<<(bits-1), 1<<(bits-1)-1
	} else if bits < 64 {
		most = 1<<bits - 1
	}
	for i, v := range t.ints {
		if v < least || v > most {
			return t.wrong(i, strconv.FormatInt(v, 10))
		}
	}
	return nil
}
