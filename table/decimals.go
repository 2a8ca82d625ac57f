package table

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/fractions"
	"utvi/internal/notation"
)

// decimalLines is how many lines decide how columns write fractions.
const decimalLines = 1000

// decimals are what stands before fractions in the columns of a text file. A column may write
// decimal points or commas; where its cells leave that open (1,234), other columns, the user,
// the model and the delimiter are asked.
type decimals struct {
	evidence []evidence // by column
	points   []byte     // by column: what is read before fractions
	guessed  []bool     // by column: which no cell and no user says
	user     byte       // what the user says of columns that leave it open, 0: nothing
	delim    byte
	begun    bool // rows have been read
}

// newDecimals gathers what the first rows say, for so many columns.
func newDecimals(rows [][]string, width int, delim, user byte) *decimals {
	d := &decimals{evidence: make([]evidence, width), delim: delim, user: user}
	for i, row := range rows {
		for col, s := range row[:min(width, len(row))] {
			if i > 0 || strings.ContainsAny(s, ",.") { // the first row may name columns, such as 2020
				d.evidence[col].add(s)
			}
		}
	}
	return d
}

// decide settles all columns. Only those in use are asked about others. The user decides on those
// whose cells leave a choice.
func (d *decimals) decide(used func(col int) bool) {
	d.points, d.guessed = decidePoints(d.evidence, d.delim, true, used)
	for col := range d.points {
		if d.user != 0 && d.evidence[col].sure() == 0 {
			d.points[col] = d.user
			d.guessed[col] = false
		}
	}
}

// point is what stands before fractions in a column.
func (h *Header) point(col int) byte {
	if h.decimals == nil {
		return '.'
	}
	return h.decimals.points[col]
}

// Decimal says how a column writes fractions; ok is false for files that hold no text.
func (h *Header) Decimal(col int) (decimal fractions.Column, ok bool) {
	if h.decimals == nil {
		return fractions.Column{Point: '.'}, false
	}
	e := &h.decimals.evidence[col]
	decimal.Point = h.decimals.points[col]
	if h.decimals.guessed[col] {
		decimal.Guess = e.either()
	}
	if decimal.Point == ',' {
		for _, cell := range []string{e.comma, e.eitherComma} {
			if _, n := notation.ScanFloat([]byte(cell), ','); n > 0 && n == len(cell) {
				decimal.Comma = cell
				break
			}
		}
	}
	return decimal, true
}

// ReadAs makes a text file of which no row was read be read as a training table was, whose columns
// are given in the order of the file. A column whose cells can only be read in another way is read
// so, and returned; columns that may be read in both ways follow, if no other column contradicts.
// Without guess, what remains open beside semicolons has decimal commas.
func (h *Header) ReadAs(trained []fractions.Trained, guess bool) ([]fractions.Reread, error) {
	d := h.decimals
	if d == nil {
		return nil, nil
	}
	points, _ := decidePoints(d.evidence, d.delim, guess, func(col int) bool { return trained[col].Used })
	opposite := d.allDiffer(trained)
	var changed []fractions.Reread
	for col, t := range trained {
		if !t.Shown() {
			continue
		}
		points[col] = d.pointFor(col, t, opposite)
		// A column of whole numbers, of which the user speaks, has no such cell.
		if cell := d.evidence[col].example(points[col]); points[col] != t.Point && cell != "" {
			changed = append(changed, fractions.Reread{Column: col, Point: points[col], Cell: cell})
		}
	}
	if !d.begun || slices.Equal(d.points, points) {
		d.points = points
		return changed, nil
	}
	for col, t := range trained {
		if cell := d.evidence[col].eitherComma + d.evidence[col].eitherDot; t.Shown() && points[col] != d.points[col] && cell != "" {
			return nil, fmt.Errorf("%s, column %s: rows were read before the model could say what %s means; bind it to the table first", h.File, h.Columns[col], notation.Quote(cell))
		}
	}
	return changed, nil
}

// allDiffer reports whether every column of the file that says how it writes fractions, at least
// one, contradicts the training table.
func (d *decimals) allDiffer(trained []fractions.Trained) bool {
	differs := false
	for col, t := range trained {
		if !t.Shown() {
			continue
		}
		switch d.evidence[col].against(t) {
		case 0:
		case t.Point:
			return false
		default:
			differs = true
		}
	}
	return differs
}

// pointFor decides how a column is read that the training table shows: as its cells say, else as
// the user says, else as training wrote it, unless all others differ from that.
func (d *decimals) pointFor(col int, t fractions.Trained, opposite bool) byte {
	e := &d.evidence[col]
	if says := e.against(t); says != 0 {
		return says
	}
	switch {
	case d.user != 0:
		return d.user
	case opposite && e.either() != "":
		return t.Point ^ '.' ^ ','
	}
	return t.Point
}
