package pagestyle

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// luminance is the relative luminance of a colour such as #0072B2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil || len(colour) != 7 {
		t.Fatalf("%q is no colour of six digits", colour)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(v>>(16-8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x := luminance(t, a)
	y := luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

var (
	schemes  = regexp.MustCompile(`:root \{([^}]*)\}`)
	variable = regexp.MustCompile(`--([a-z-]+): (#[0-9a-fA-F]{6}\b)`)
)

// Texts of all pages have a contrast of 4.5, and lines and marks of 3, in the light and in the dark.
func TestContrast(t *testing.T) {
	found := schemes.FindAllStringSubmatch(CSS, -1)
	if len(found) != 3 {
		t.Fatalf("%d sets of colours; want those of light, dark and print", len(found))
	}
	for i, name := range []string{"light", "dark"} {
		colours := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(found[i][1], -1) {
			colours[m[1]] = m[2]
		}
		check := func(over, on string, least float64) {
			if colours[over] == "" || colours[on] == "" {
				t.Errorf("%s: no colour %s or %s", name, over, on)
				return
			}
			if c := contrast(t, colours[over], colours[on]); c < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, below %g", name, over, on, c, least)
			}
		}
		for _, ground := range []string{"paper", "wash"} {
			for _, text := range []string{"ink", "soft", "link"} {
				check(text, ground, 4.5)
			}
		}
		for _, state := range []string{"good", "bad", "plain", "warn"} {
			check(state, state+"-wash", 4.5)
		}
		for _, line := range []string{"blue", "orange", "green", "purple", "sky", "vermilion", "mid"} {
			check(line, "paper", 3)
		}
	}
	for _, line := range []string{"blue", "orange", "green", "purple", "sky", "vermilion"} {
		if !regexp.MustCompile("--" + line + ": ").MatchString(found[2][1]) {
			t.Errorf("print has no colour %s", line)
		}
	}
}
