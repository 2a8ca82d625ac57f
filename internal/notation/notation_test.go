package notation

import (
	"math"
	"testing"
)

func TestStyles(t *testing.T) {
	for _, x := range []struct {
		text         string
		point, comma float64 // NaN: not a number of the style
	}{
		{"7,637", 7637, 7.637}, {"1,234,567.5", 1234567.5, math.NaN()}, {"1.234,56", math.NaN(), 1234.56}, {"1,5", math.NaN(), 1.5},
		{"$0.63", 0.63, math.NaN()}, {"-$1,200", -1200, -1.2}, {"$-3", -3, -3}, {"(1,200.00)", -1200, math.NaN()}, {"12.5 %", 12.5, math.NaN()}, {"12,5%", math.NaN(), 12.5},
		{"1 234 567", 1234567, 1234567}, {"1\u00a0234,5 €", math.NaN(), 1234.5}, {"1'234.50", 1234.5, math.NaN()}, {"CHF 1'234.50", 1234.5, math.NaN()},
		{"1,23,456", 123456, math.NaN()}, {"0,123", math.NaN(), 0.123}, {"1,2345", math.NaN(), 1.2345}, {"12,34", math.NaN(), 12.34}, {"1,234 567", math.NaN(), math.NaN()},
		{"US$5", 5, 5}, {"5 kr", 5, 5}, {"", math.NaN(), math.NaN()}, {"$", math.NaN(), math.NaN()}, {"a", math.NaN(), math.NaN()}, {"1-2", math.NaN(), math.NaN()}, {",5", math.NaN(), 0.5}, {"−4", -4, -4}, {"+4 €", 4, 4},
		{"--4", math.NaN(), math.NaN()}, {"1e5", math.NaN(), math.NaN()}, {"1,,000", math.NaN(), math.NaN()},
	} {
		for style, want := range map[Style]float64{PointStyle: x.point, CommaStyle: x.comma} {
			got, _, ok := style.Parse(x.text)
			if ok != (want == want) || ok && got != want {
				t.Errorf("%q as %s is %v, %v; want %v", x.text, style, got, ok, want)
			}
		}
	}
}

// TestQuote shows the blanks between thousands as blanks.
func TestQuote(t *testing.T) {
	if got := Quote("89\u202f656,57\u00a0€"); got != `"89 656,57 €"` {
		t.Error(got)
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		v    float64
		n    int
		want string
	}{
		{365442, 4, "365400"}, {-1058628, 4, "-1059000"}, {12345, 2, "12000"}, {999960, 4, "1000000"},
		{1.2345e9, 4, "1.234e+09"}, {1234.5, 4, "1234"}, {97.0312, 4, "97.03"}, {0.1, 4, "0.1"},
		{0.00012345, 2, "0.00012"}, {0.000012345, 3, "1.23e-05"}, {0, 4, "0"}, {math.NaN(), 4, "NaN"}, {math.Inf(-1), 4, "-Inf"},
	} {
		if got := Short(c.v, c.n); got != c.want {
			t.Errorf("Short(%v, %d) = %s, want %s", c.v, c.n, got, c.want)
		}
	}
}
