package notation

import (
	"slices"
	"strings"
)

// IsMissing reports whether a trimmed text stands for a missing value in every column.
func IsMissing(s []byte) bool {
	switch len(s) {
	case 0:
		return true
	case 1:
		return s[0] == '?'
	case 2:
		return equalFold(s, "na")
	case 3:
		return equalFold(s, "n/a") || equalFold(s, "nan")
	case 4:
		return equalFold(s, "null") || equalFold(s, "none")
	}
	return false
}

// IsNA recognises NA, which may be a name: Namibia, North America.
func IsNA(s string) bool { return s == "NA" }

// IsNone recognises None, which may be a name: a severity, a habit.
func IsNone(s string) bool { return equalFold([]byte(s), "none") }

// placeholders stand for a missing value in a column of numbers or times. Among names they are
// names: "-" may be a class.
var placeholders = []string{"-", "--", "—", "–", ".", "..", "...", "n.a.", "n. a.", "#n/a", "#na", "<na>", "nat", "nil", "missing", `\n`,
	"(null)", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#calc!", "#spill!", "n/d", "unknown", "not available"}

// IsPlaceholder reports whether a text stands for a missing value among numbers or times, such
// as a dash. Among names it is a name.
func IsPlaceholder(s string) bool {
	const longest = 13
	return len(s) <= longest && slices.Contains(placeholders, strings.ToLower(s))
}

// equalFold compares with a text in lower case.
func equalFold(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
