package main

import (
	"encoding/json"
	"io"
)

// writeJSON writes a result for a script, and for the eye.
func writeJSON(w io.Writer, result any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(result)
}
