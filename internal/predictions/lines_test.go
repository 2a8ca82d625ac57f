package predictions

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestObjects(t *testing.T) {
	o := newObjects([]column{{`a "b"`, true}, {"x", false}, {"n", false}}, 0)
	for range 2 {
		o.Text("ü\n")
		o.Float(0.1)
		o.Int(3)
		o.End()
	}
	var b bytes.Buffer
	o.Flush(&b)
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil || v[`a "b"`] != "ü\n" || v["x"] != 0.1 || v["n"] != 3.0 {
			t.Errorf("%s: %v, %v", line, v, err)
		}
	}
}
