package schema

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// rowsOfTarget is a table whose target runs from a number in steps of one.
func rowsOfTarget(rows int, from float64) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%g\n", i*7%11, from+float64(i))
	}
	return b.String()
}

// A target that is never negative and comes near 0 ends there, unless the user says otherwise.
func TestTargetBounds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		rows      int
		from      float64
		given     string
		low, high float64
		use       string
	}{
		{60, 2.5, "", 0, inf, "target, never below 0"},
		{60, -2.5, "", -inf, inf, "target"},
		{60, 200.5, "", -inf, inf, "target"},
		{20, 2.5, "", -inf, inf, "target"},
		{60, 2.5, ":", -inf, inf, "target"},
		{60, 2.5, "1:100", 1, 100, "target, from 1 to 100"},
		{60, -70, ":0", -inf, 0, "target, never above 0"},
	} {
		s, err := Infer(load(t, rowsOfTarget(c.rows, c.from)).Rows(nil), Spec{Targets: []string{"y"}, TargetRange: c.given})
		if err != nil {
			t.Fatal(err)
		}
		y := s.Targets()[0]
		if low, high, _ := y.Bounds(); low != c.low || high != c.high || s.use(&y) != c.use {
			t.Errorf("%+v: from %v to %v, %s", c, low, high, s.use(&y))
		}
	}
	for given, want := range map[string]string{
		"5:":    "a.csv: the target y has values from 2.5 to 61.5, beyond its range 5:",
		"5":     `the range of the target is "5"; it must be two numbers with a colon between`,
		"a:":    `the range of the target is "a:"; it must be`,
		"9:1":   `the range of the target is "9:1"; it must be`,
		"0:inf": `the range of the target is "0:inf"; it must be`,
	} {
		_, err := Infer(load(t, rowsOfTarget(60, 2.5)).Rows(nil), Spec{Targets: []string{"y"}, TargetRange: given})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", given, err)
		}
	}
}
