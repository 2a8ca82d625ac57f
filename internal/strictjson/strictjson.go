// Package strictjson reads JSON and rejects unknown fields: an option that a later
// version added must not be ignored.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Unmarshal is json.Unmarshal that rejects unknown fields. Its errors are short and
// name the text, not Go types.
func Unmarshal(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("there is text after the value")
		}
	}
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return wrongType(e)
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	return fmt.Errorf("%.200s%s", text, others(text, data, v))
}
