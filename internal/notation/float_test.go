package notation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// Every number has the bits that strconv gives it, wherever it ends.
func TestScanFloat(t *testing.T) {
	check := func(s string) {
		t.Helper()
		want, err := strconv.ParseFloat(s, 64)
		for _, after := range []string{"", ",", ",12345678901234567890", "\n", " x"} {
			got, n := ScanFloat([]byte(s+after), '.')
			if n != len(s) || math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%q gives %v of %d bytes, want %v (%v)", s+after, got, n, want, err)
			}
		}
	}
	for _, s := range []string{"0", "-0", "+1", "1.", ".5", "-.25e-1", "1e5", "1E+05", "1e-400", "1e400", "-1e400", "9007199254740993",
		"9007199254740992.5", "123456789012345678901234567890", "0.1", "1e22", "1e23", "8.5e-23", "12345678", "123456789", "1234567.8",
		"0.000000000000000000000000000000001", "18446744073709551615e-20", "9999999999999999999e-27", "5e-324", "1.7976931348623157e308", "1e99999999999999999999"} {
		check(s)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 30_000 {
		x := r.NormFloat64() * math.Pow(10, float64(r.IntN(30)-15))
		check(strconv.FormatFloat(x, "gfe"[r.IntN(3)], r.IntN(20)-1, 64))
		check(fmt.Sprintf("%d.%0*d", r.Uint64()>>r.IntN(64), 1+r.IntN(8), r.IntN(10)))
		// Halfway between two numbers, and just beside: where rounding is decided.
		half := (r.Uint64()>>11|1<<52)<<1 | 1
		check(fmt.Sprintf("%d", half))
		check(fmt.Sprintf("%de-%d", r.Uint64()>>r.IntN(60), r.IntN(30)))
	}
}

func TestScanFloatRefuses(t *testing.T) {
	for s, want := range map[string]int{"": 0, "-": 0, ".": 0, "+.": 0, "e5": 0, "x1": 0, "--1": 0, "1e": 1, "1e+": 1, "1x": 1, "0x10": 1, "1_000": 1, "1.2.3": 3, "1,5": 1} {
		if _, n := ScanFloat([]byte(s), '.'); n != want {
			t.Errorf("%q: %d bytes are a number, want %d", s, n, want)
		}
	}
}
