package widths

import (
	"math"
	"testing"
)

func TestSupport(t *testing.T) {
	var none *Support
	s := &Support{Usual: 2, Var: 8}
	for _, x := range []struct{ got, want float64 }{
		{none.Share(1e9), 1}, {s.Share(0), 1}, {s.Share(2), 1}, {s.Share(10), 0.5}, {s.Share(26), 0.25}, {s.Share(math.Inf(1)), 0}, {s.Share(math.NaN()), 1},
	} {
		if x.got != x.want {
			t.Errorf("the share is %v, want %v", x.got, x.want)
		}
	}
	if none.Check() != nil || s.Check() != nil {
		t.Error(none.Check(), s.Check())
	}
	for _, bad := range []Support{{}, {Usual: 1}, {Var: 1}, {Usual: math.NaN(), Var: 1}, {Usual: 1, Var: math.Inf(1)}, {Usual: -1, Var: 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v passed", bad)
		}
	}
}
