package serve

import (
	"math"
	"strconv"
	"strings"
)

// ignored are parameters that clients send for servers of other kinds.
var ignored = map[string]bool{"sequence_id": true, "sequence_start": true, "sequence_end": true, "priority": true, "timeout": true, "content_type": true, "headers": true}

// parameters reads the parameters of a request: its options, and whether outputs are
// wanted as bytes.
func (q *inference) parameters(all map[string]any, binary *bool) error {
	for name, v := range all {
		number, isNumber := v.(float64)
		switch name {
		case "interval", "max_std", "max_unfamiliar", "min_probability":
			if text, ok := v.(string); ok {
				var err error
				number, err = strconv.ParseFloat(text, 64)
				isNumber = err == nil
			}
			if !isNumber {
				return failf(invalid, "the parameter %s must be a number", name)
			}
			switch name {
			case "interval":
				q.Interval = &number
			case "max_std":
				q.MaxStd = number
			case "max_unfamiliar":
				q.MaxUnfamiliar = number
			case "min_probability":
				q.MinProbability = number
			}
		case "quantiles":
			if isNumber {
				q.Quantiles = []float64{number}
				continue
			}
			text, _ := v.(string)
			for _, s := range strings.Split(text, ",") {
				level, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
				if err != nil {
					return failf(invalid, "the parameter quantiles is %.60q; it must be levels with commas between them, as in 0.1,0.9", text)
				}
				q.Quantiles = append(q.Quantiles, level)
			}
		case "binary_data_output":
			var ok bool
			*binary, ok = v.(bool)
			if !ok {
				return failf(invalid, "the parameter binary_data_output must be true or false")
			}
		default:
			if !ignored[name] {
				return failf(invalid, "the parameter %.60q is unknown; the parameters are interval, quantiles, max_std, max_unfamiliar, min_probability and binary_data_output", name)
			}
		}
	}
	return nil
}

// readJSON reads n elements from a list, which may be nested.
func (t *tensor) readJSON(data []byte, n int) error {
	s := &scanner{s: data}
	switch t.datatype {
	case "BYTES":
		t.texts = [][]byte{}
	case "BOOL":
		t.bools = []bool{}
	default:
		t.floats = []float64{}
		if t.integers() {
			t.floats, t.ints = nil, []int64{}
		}
	}
	if err := t.readNested(s, n, 0); err != nil {
		return err
	}
	if got := max(len(t.floats), len(t.ints), len(t.texts), len(t.bools)); got != n {
		return failf(invalid, "tensor %.60q has %d elements; its shape %v needs %d", t.name, got, t.shape, n)
	}
	return t.ranged()
}

func (t *tensor) readNested(s *scanner, most, depth int) error {
	if s.next() != '[' {
		return failf(invalid, "the data of tensor %.60q must be a list", t.name)
	}
	s.i++
	for n := 0; ; n++ {
		ok, err := s.more(n, ']')
		if err != nil || !ok {
			return err
		}
		if max(len(t.floats), len(t.ints), len(t.texts), len(t.bools)) > most {
			return nil // which is reported above
		}
		c := s.next()
		switch {
		case c == '[' && depth < len(t.shape)-1:
			err = t.readNested(s, most, depth+1)
		case c == '"' && t.texts != nil:
			var text []byte
			text, err = s.text()
			t.texts = append(t.texts, text)
		case c == 't' && t.bools != nil:
			err = s.word("true")
			t.bools = append(t.bools, true)
		case c == 'f' && t.bools != nil:
			err = s.word("false")
			t.bools = append(t.bools, false)
		case (c == '-' || c-'0' <= 9) && t.ints != nil:
			var v int64
			v, err = t.integer(s)
			t.ints = append(t.ints, v)
		case (c == '-' || c-'0' <= 9 || c == 'n') && t.floats != nil:
			var v float64
			v, ok, err = s.float()
			if !ok {
				v = math.NaN()
			}
			t.floats = append(t.floats, v)
		default:
			err = failf(invalid, "an element of tensor %.60q is not of its datatype %s", t.name, t.datatype)
		}
		if err != nil {
			return err
		}
	}
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
