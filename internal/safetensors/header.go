package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// An entry is what the header says of one tensor.
type entry struct {
	Dtype   string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets [2]uint64 `json:"data_offsets"`
}

type namedEntry struct {
	name string
	entry
}

// parseHeader reads the header strictly: package json alone would pass over
// doubled and unknown keys.
func parseHeader(b []byte) (meta map[string]string, entries []namedEntry, err error) {
	if !utf8.Valid(b) {
		return nil, nil, errors.New("the header is not valid UTF-8")
	}
	if b[0] != '{' || !json.Valid(b) {
		return nil, nil, errors.New("the header is not a JSON object")
	}
	if end := bytes.TrimRight(b, " "); end[len(end)-1] != '}' {
		return nil, nil, errors.New("the header is padded with other characters than spaces")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	meta = map[string]string{}
	err = object(d, func(name string) error {
		if name == metadataKey {
			return within(metadataKey, object(d, func(key string) (err error) {
				meta[key], err = text(d)
				return within(key, err)
			}))
		}
		e, err := parseEntry(d)
		if err != nil {
			return within(name, err)
		}
		entries = append(entries, namedEntry{name, e})
		return nil
	})
	return meta, entries, err
}

// An otherType is one that the format has, or may have, and this reader has not.
type otherType string

func (t otherType) Error() string {
	return fmt.Sprintf("%.20q is not one of F32, F64, I64, U64 and U8", string(t))
}

func parseEntry(d *json.Decoder) (e entry, err error) {
	fields := 0
	err = object(d, func(key string) (err error) {
		fields++
		switch key {
		case "dtype":
			e.Dtype, err = text(d)
			if err == nil && dtypeSize[e.Dtype] == 0 {
				err = otherType(e.Dtype)
			}
		case "shape":
			e.Shape = []int{}
			err = array(d, func(n int) { e.Shape = append(e.Shape, n) })
		case "data_offsets":
			i := 0
			err = array(d, func(n int) {
				if i < 2 {
					e.Offsets[i] = uint64(n)
				}
				i++
			})
			if err == nil && i != 2 {
				err = fmt.Errorf("there are %d numbers, not 2", i)
			}
		default:
			err = errors.New("this key is unknown")
		}
		return within(key, err)
	})
	if err == nil && fields != 3 {
		err = errors.New("dtype, shape or data_offsets is missing")
	}
	return e, err
}

// object reads an object and calls visit at each value.
func object(d *json.Decoder, visit func(key string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return cmp.Or(err, errors.New("this is not an object"))
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := text(d)
		if err != nil {
			return err
		}
		if seen[key] {
			return within(key, errors.New("this key occurs twice"))
		}
		seen[key] = true
		if err := visit(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// array reads an array of whole numbers that are not negative.
func array(d *json.Decoder, add func(n int)) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(err, errors.New("this is not an array"))
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		s, _ := t.(json.Number)
		n, err := strconv.ParseUint(s.String(), 10, strconv.IntSize-1)
		if err != nil {
			return fmt.Errorf("%.20q is not a whole number from 0 to %d", fmt.Sprint(t), uint64(1)<<(strconv.IntSize-1)-1)
		}
		add(int(n))
	}
	_, err := d.Token()
	return err
}

func text(d *json.Decoder) (string, error) {
	t, err := d.Token()
	s, ok := t.(string)
	if err == nil && !ok {
		err = errors.New("this is not a string")
	}
	return s, err
}

// within says where in the header an error is.
func within(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%.60q: %w", key, err)
}

// layout brings the entries into the order of their data and returns its size.
// The tensors must cover the data from its beginning, each byte once.
func layout(entries []namedEntry) (total uint64, err error) {
	slices.SortStableFunc(entries, func(a, b namedEntry) int {
		return slices.Compare(a.Offsets[:], b.Offsets[:]) // empty ones first
	})
	for _, e := range entries {
		size, err := byteSize(e.Dtype, e.Shape)
		if err != nil {
			return 0, fmt.Errorf("tensor %.60q %w", e.name, err)
		}
		begin, end := e.Offsets[0], e.Offsets[1]
		switch {
		case begin > end || end-begin != size:
			err = fmt.Errorf("goes from byte %d to %d, but its shape %v of %s takes %d", begin, end, e.Shape, e.Dtype, size)
		case begin < total:
			err = fmt.Errorf("begins at byte %d, within the tensor before it, which ends at %d", begin, total)
		case begin > total:
			err = fmt.Errorf("begins at byte %d and leaves a hole after byte %d", begin, total)
		}
		if err != nil {
			return 0, fmt.Errorf("tensor %.60q %w", e.name, err)
		}
		total = end
	}
	return total, nil
}
