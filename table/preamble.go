package table

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"utvi/internal/notation"
)

// preamble finds what stands before a table: a line such as sep=; that spreadsheets write,
// which names the delimiter, and lines that begin with # and a blank. The last of those is the header if
// the line below it has as many fields, and numbers among them. It returns the bytes to pass
// over.
func preamble(start []byte) (size int, delim byte) {
	first, _, _ := bytes.Cut(start, []byte{'\n'})
	if s := strings.TrimSpace(string(first)); len(s) == 5 && strings.EqualFold(s[:4], "sep=") {
		return len(first) + 1, s[4]
	}
	last := 0 // where the last line with # begins
	for bytes.HasPrefix(start[size:], []byte("# ")) {
		end := bytes.IndexByte(start[size:], '\n')
		if end < 0 {
			return 0, 0
		}
		last, size = size, size+end+1
	}
	if size > 0 {
		next, _, _ := bytes.Cut(start[size:], []byte{'\n'})
		for _, d := range candidates(".csv") {
			fields := strings.Split(string(next), string(d))
			some := slices.ContainsFunc(fields, func(s string) bool { return notation.IsNumber(strings.TrimSpace(s), '.') })
			if n := bytes.Count(start[last:size], []byte{d}); n > 0 && n+1 == len(fields) && some {
				return last, 0
			}
		}
	}
	return size, 0
}

// lineEnds refuses a text whose lines end as on old Macintoshes.
func lineEnds(start []byte) error {
	if body := bytes.TrimRight(start, "\r"); bytes.IndexByte(start, '\n') < 0 && bytes.IndexByte(body, '\r') >= 0 {
		return errors.New("lines end with carriage returns only; save the file with line feeds")
	}
	return nil
}
