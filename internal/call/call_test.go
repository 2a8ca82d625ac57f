package call

import (
	"slices"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, args := range [][]float64{{2}, {0.1, -3e-300}, {1.0 / 3, 1e21, 5}} {
		s := Format("f-g", args...)
		name, got, err := Parse(s)
		if err != nil || name != "f-g" || !slices.Equal(got, args) {
			t.Errorf("%s is read as %s %v: %v", s, name, got, err)
		}
	}
}

func TestParse(t *testing.T) {
	if name, args, err := Parse("linear"); name != "linear" || args != nil || err != nil {
		t.Errorf("%q %v %v", name, args, err)
	}
	if _, args, err := Parse("genut( 0.5, 3 )"); !slices.Equal(args, []float64{0.5, 3}) {
		t.Errorf("%v %v", args, err)
	}
	for s, want := range map[string]string{
		"ut(2":     "a parenthesis is not closed",
		"ut(2)x":   "a parenthesis is not closed",
		"ut()":     `"" is not a number`,
		"ut(two)":  `"two" is not a number`,
		"ut(1,,2)": `"" is not a number`,
	} {
		if _, _, err := Parse(s); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", s, err, want)
		}
	}
}
