// Package strictjson reads JSON and refuses what it does not know: an option that
// a later version added must not be passed over.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Unmarshal is json.Unmarshal that refuses unknown fields. Its errors are short and
// speak of the text, not of Go.
func Unmarshal(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("something follows the value")
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
