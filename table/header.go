package table

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/advice"
	"utvi/internal/notation"
)

// A Header names a table and its columns.
type Header struct {
	File    string   // as the user named it; "standard input" for -; "" without a file
	Columns []string // c1, c2 … where the file has no names
	Named   bool     // the file names its columns
	Lines   bool     // rows stand on lines, as in text files

	// Folder is where the names of files begin that cells hold; "": in that of File.
	Folder string

	first    []string  // the first row, if the file does not name its columns
	decimals *decimals // how a text file writes fractions; nil for other files
}

// Column returns the position of the column of that name, or −1.
func (h *Header) Column(name string) int { return slices.Index(h.Columns, name) }

// Find returns the position of the column names[i]. If there is none, its error says what the
// column is named as, and lists the columns. A name with a comma may have been taken apart by
// who passed the names on.
func (h *Header) Find(names []string, i int, as string) (int, error) {
	if at := h.Column(names[i]); at >= 0 {
		return at, nil
	}
	var hint advice.Sentence
	for end := i + 2; end <= len(names); end++ {
		for _, comma := range []string{",", ", "} {
			if whole := strings.Join(names[i:end], comma); h.Column(whole) >= 0 {
				hint = advice.New(`; put a name with a comma in double quotes: '"%s"'`, whole)
			}
		}
	}
	switch {
	case slices.Contains(h.first, names[i]):
		hint = advice.New("%v; its first row has that name, but also a number, and was read as data: %v", hint, advice.Set("Header", "yes"))
	case !h.Named:
		hint = advice.New("%v; the file has no column names, so the columns are called c1, c2 …", hint)
	}
	return 0, advice.Errorf("%s has no column %s, which is named as %s; its columns are %s%v", h.File, names[i], as, notation.List(h.Columns), hint)
}

// At says where a line or a row of the file stands, for a message.
func (h *Header) At(line int) string {
	unit := "row"
	if h.Lines {
		unit = "line"
	}
	if h.File == "" { // rows that no file holds
		return fmt.Sprintf("%s %d", unit, line)
	}
	return fmt.Sprintf("%s %s %d", h.File, unit, line)
}

// Check returns an error for columns of the same name.
func (h *Header) Check() error {
	seen := map[string]int{}
	for i, name := range h.Columns {
		if j, twice := seen[name]; twice {
			return fmt.Errorf("%s: columns %d and %d are both named %s; names must differ", h.File, j+1, i+1, name)
		}
		seen[name] = i
	}
	return nil
}
