package answer

import (
	"encoding/json"
	"math"
	"testing"

	"utvi/dist"
)

// TestNotFinite answers a prediction that is not finite with null, not with a class that
// seems certain.
func TestNotFinite(t *testing.T) {
	nan := math.NaN()
	a := &Answerer{Words: Words{Classes: []string{`"a"`, `"b"`}, Fields: []string{`"a":`, `"b":`}}}
	for _, x := range []struct {
		p     dist.Categorical
		class any
	}{{dist.Categorical{nan, nan}, nil}, {dist.Categorical{0.25, 0.75}, "b"}} {
		out := a.class(nil, x.p)
		var got struct {
			Class         any
			Entropy       *float64
			Probabilities map[string]*float64
		}
		if err := json.Unmarshal(out, &got); err != nil || got.Class != x.class || (got.Entropy == nil) != (x.class == nil) || (got.Probabilities["a"] == nil) != (x.class == nil) {
			t.Errorf("%s, %v", out, err)
		}
	}
}
