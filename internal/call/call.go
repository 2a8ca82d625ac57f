// Package call reads and writes names with numbers behind them, such as "ut(2)"
// or "genut(0,3)": how rules and functions are named in files and on the command
// line.
package call

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Format writes a call that Parse reads back to the same bits.
func Format(name string, args ...float64) string {
	parts := make([]string, len(args))
	for i, x := range args {
		parts[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return name + "(" + strings.Join(parts, ",") + ")"
}

// Parse splits a call into its name and its numbers. A name without parentheses
// has none.
func Parse(s string) (name string, args []float64, err error) {
	name, rest, ok := strings.Cut(s, "(")
	if !ok {
		return name, nil, nil
	}
	inner, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return "", nil, errors.New("a parenthesis is not closed")
	}
	for a := range strings.SplitSeq(inner, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
		if err != nil {
			return "", nil, fmt.Errorf("%.40q is not a number", a)
		}
		args = append(args, x)
	}
	return name, args, nil
}
