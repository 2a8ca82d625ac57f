package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ranges writes ascending numbers as schedulers do: 0,2-5,9.
func Ranges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(numbers[i]))
		switch {
		case j == i+1:
			fmt.Fprintf(&b, ",%d", numbers[j])
		case j > i:
			fmt.Fprintf(&b, "-%d", numbers[j])
		}
		i = j + 1
	}
	return b.String()
}

// ParseRanges reads what Ranges writes: numbers below n, returned ascending and
// each once.
func ParseRanges(s string, n int) ([]int, error) {
	wrong := fmt.Errorf("%q is not a set of trials; write numbers from 0 to %[2]d such as 0,2-5,9", s, n-1)
	var all []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		i, err1 := strconv.Atoi(from)
		j, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || i < 0 || j < i || j >= n {
			return nil, wrong
		}
		for ; i <= j; i++ {
			all = append(all, i)
		}
		if len(all) > 2*n {
			return nil, wrong // the same numbers repeatedly
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
