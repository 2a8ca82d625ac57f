package table

import "strings"

// writtenLines is how many lines decide how columns write numbers.
const writtenLines = 1000

// A written column is what its first cells say about how it writes numbers: a cell that can
// be read in one way only decides, 1,234 and 1.234 can be read in two.
type written struct {
	comma, point           string // the first cell that needs a comma, or a point, before fractions
	groups                 bool   // a comma groups thousands in some cell that needs a point
	eitherComma, eitherDot string // the first cell such as 1,234, and such as 1.234
	small, large           bool   // whole numbers of up to three digits, and of more
}

// look takes in a cell.
func (w *written) look(s string) {
	comma, dot := strings.Contains(s, ","), strings.Contains(s, ".")
	switch {
	case len(s) > 40 || len(s) == 0:
	case !comma && !dot:
		if digits := strings.TrimLeft(s, "+-"); strings.Trim(digits, "0123456789") == "" {
			w.small, w.large = w.small || len(digits) <= 3, w.large || len(digits) > 3
		}
	case !comma && w.point != "", !dot && w.comma != "" && strings.Count(s, ",") == 1:
		// It says what is known.
	default:
		byComma, byPoint := reads(s, CommaStyle), reads(s, PointStyle)
		switch {
		case byComma && byPoint && comma:
			keep(&w.eitherComma, s)
		case byComma && byPoint:
			keep(&w.eitherDot, s)
		case byComma:
			keep(&w.comma, s)
		case byPoint:
			keep(&w.point, s)
			w.groups = w.groups || comma
		}
	}
}

func keep(first *string, s string) {
	if *first == "" {
		*first = s
	}
}

// reads reports whether a text is a number of the style, or one with an exponent.
func reads(s string, style Style) bool {
	if isNumber(s, style.point()) {
		return true
	}
	_, _, ok := style.parse(s)
	return ok
}

// sure is what stands before fractions if the cells of the column leave no choice, 0 if they do.
func (w *written) sure() byte {
	switch {
	case w.point != "":
		return '.' // beside commas, too: such a column is wrong, and its cells will be named
	case w.comma != "":
		return ','
	}
	return 0
}

// thousands reports whether commas probably group thousands: smaller numbers have none, and
// larger numbers all have some.
func (w *written) thousands() bool { return w.eitherComma != "" && w.small && !w.large }

// writing gathers what the first rows say, for so many columns.
func writing(rows [][]string, width int) []written {
	all := make([]written, width)
	for i, row := range rows {
		for col, s := range row[:min(width, len(row))] {
			if i > 0 || strings.ContainsAny(s, ",.") { // the first row may name columns, such as 2020
				all[col].look(s)
			}
		}
	}
	return all
}

// points decides what stands before fractions in each column: what its cells say, else what
// those of the columns in use say. Without that, a comma in a file with semicolons is a decimal
// comma unless it probably groups thousands; doubt is set for a column that was decided so.
// Without guess, it is a decimal comma.
func points(all []written, delim byte, guess bool, used func(col int) bool) (points []byte, doubt []bool) {
	commas := false
	dots := false
	groups := false
	thousands := false
	for col := range all {
		if w := &all[col]; used(col) {
			commas, dots = commas || w.sure() == ',', dots || w.sure() == '.'
			groups, thousands = groups || w.groups, thousands || guess && w.thousands()
		}
	}
	points, doubt = make([]byte, len(all)), make([]bool, len(all))
	rest := byte('.') // of columns without fractions
	if commas && !dots {
		rest = ','
	}
	for col := range all {
		w := &all[col]
		switch sure := w.sure(); {
		case sure != 0:
			points[col] = sure
		case w.eitherComma != "" && commas:
			points[col], doubt[col] = ',', groups // a guess if commas also group thousands elsewhere
		case w.eitherComma != "" && (delim != ';' || groups):
			points[col] = '.'
		case w.eitherComma != "":
			points[col], doubt[col] = ',', true
			if dots || thousands {
				points[col] = '.'
			} else if used(col) {
				rest = ','
			}
		case w.eitherDot != "" && !(rest == ',' && w.small && !w.large):
			points[col], doubt[col] = '.', commas && !dots // a guess if all others have decimal commas
		}
	}
	for col := range points {
		if points[col] == 0 {
			points[col] = rest
		}
	}
	return points, doubt
}

// settleWriting decides how the columns of a text file write numbers. The user decides on those
// whose cells leave a choice.
func (h *Header) settleWriting(delim, decimal byte, used func(name string) bool) {
	h.points, h.doubt = points(h.written, delim, true, func(col int) bool {
		return used == nil || col >= len(h.Columns) || used(h.Columns[col])
	})
	h.decimal = decimal
	for col := range h.points {
		if decimal != 0 && h.written[col].sure() == 0 {
			h.points[col], h.doubt[col] = decimal, false
		}
	}
}

// point is what stands before fractions in a column.
func (h *Header) point(col int) byte {
	if h.points == nil {
		return '.'
	}
	return h.points[col]
}
