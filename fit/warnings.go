package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"utvi/table"
	"utvi/tabular"
)

// The sizes below which scores and error bars deserve a warning.
const (
	fewRows = 50
	fewHeld = 30
)

// warnings says what is odd about a table, in sentences without a full stop.
func warnings(s *table.Schema, d *tabular.Data, file string, held, missing, repeated int, mark string) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if missing > 0 {
		more := ""
		if mark != "" {
			more = "; " + mark + " stands for a missing target"
		}
		add("%s: %s no target and %s set aside%s", file, have(missing), isAre(missing), more)
	}
	var empty []string
	for _, c := range s.Columns {
		if c.Role == table.Dropped && c.Missing > 0 && c.Missing == s.Rows {
			empty = append(empty, c.Name)
		}
	}
	switch n := len(empty); {
	case n == 1:
		add("column %s has no values and is left out", empty[0])
	case n > 1:
		add("%d columns have no values and are left out: %s", n, some(empty))
	}
	const most = 5
	var odd []string
	for _, c := range s.Columns {
		if c.Odd != "" {
			odd = append(odd, fmt.Sprintf("column %s: %s", c.Name, c.Odd))
		}
	}
	all = append(all, odd[:min(most, len(odd))]...)
	if more := len(odd) - most; more > 0 {
		add("%d more columns hold odd values", more)
	}
	for t, c := range s.Targets() {
		if c.Type != table.Numeric {
			continue
		}
		if n, worst := outliers(d, t, c); n == 1 {
			add("target %s: the value %s is far from all others; check it", c.Name, c.Digits(worst))
		} else if n > 1 {
			add("target %s: %d of %d values are far from all others, such as %s; check them", c.Name, n, d.X.Rows, c.Digits(worst))
		}
	}
	if o := inOrder(s, d); o != "" {
		all = append(all, o)
	}
	for _, c := range s.Columns {
		for _, t := range s.Targets() {
			if c.Role == table.Input && c.Name == t.Name+"_std" {
				add("column %s looks like the error of the target %s, but is used as an input; leave it out (--ignore %s) if it is not known when predictions are made", c.Name, t.Name, c.Name)
			}
		}
	}
	copies := copies(s, d)
	for _, c := range copies[:min(most, len(copies))] {
		add("%s; ignore the column if it is not known when predictions are made", c)
	}
	if more := len(copies) - most; more > 0 {
		add("%d more columns seem to be copies of the target", more)
	}
	same := twins(s, d)
	all = append(all, same[:min(most, len(same))]...)
	if more := len(same) - most; more > 0 {
		add("%d more columns are the same as others", more)
	}
	if repeated >= 3 && float64(repeated) > 0.01*float64(held) && !coarse(d) {
		add("%d of %d held-out rows also occur among the training rows, with the same target; the scores may be too good (remove repeated rows, or keep them together as a group)", repeated, held)
	}
	if n := d.X.Rows; n+held < fewRows {
		add("%d rows are few: intervals may cover far more or less than they say", n+held)
	}
	if held > 0 && held < fewHeld {
		add("only %s held out: the scores are rough", rows(held))
	}
	return all
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func rows(n int) string {
	if n == 1 {
		return "1 row is"
	}
	return fmt.Sprintf("%d rows are", n)
}

func some(names []string) string {
	const most = 10
	s := ""
	for i, n := range names[:min(most, len(names))] {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	if len(names) > most {
		s += " …"
	}
	return s
}

// copies finds inputs that hold the target: a linear function of it, a rising or falling
// one, or, for classes, values that each belong to one class. A table with one input has
// none: the input may explain the target.
func copies(s *table.Schema, d *tabular.Data) (all []string) {
	spans := s.Spans()
	const fewest = 10
	if len(spans) < 2 || d.X.Rows < fewest {
		return nil
	}
	targets := s.Targets()
	for _, span := range spans {
		if d.Classes > 0 {
			if determines(d, span) {
				all = append(all, fmt.Sprintf("column %s determines the class: each of its values belongs to one %s", span.Column.Name, targets[0].Name))
			}
			continue
		}
		if span.Column.Type == table.Categorical {
			continue
		}
		for t := range targets {
			switch {
			case correlation(d, span.From, t) > 1-1e-6:
				all = append(all, fmt.Sprintf("column %s is a copy of the target %s, or a linear function of it", span.Column.Name, targets[t].Name))
			case monotone(d, span.From, t):
				all = append(all, fmt.Sprintf("column %s holds the target %s in another form: one rises or falls with the other in every row", span.Column.Name, targets[t].Name))
			}
		}
	}
	return all
}

// correlation is |r| of an input and a target.
func correlation(d *tabular.Data, input, target int) float64 {
	n := d.X.Rows
	w := d.X.Width
	k := d.Targets
	var mx, my float64
	for i := range n {
		mx += float64(d.X.Mean[i*w+input])
		my += float64(d.Y[i*k+target])
	}
	mx, my = mx/float64(n), my/float64(n)
	var xx, xy, yy float64
	for i := range n {
		x, y := float64(d.X.Mean[i*w+input])-mx, float64(d.Y[i*k+target])-my
		xx += x * x
		xy += x * y
		yy += y * y
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return math.Abs(xy) / math.Sqrt(xx*yy)
}

// monotone reports whether a target only rises, or only falls, with an input, in up to
// 2,000 rows. A target of few values is not enough to tell.
func monotone(d *tabular.Data, input, target int) bool {
	const most, fewest = 2000, 30
	n := d.X.Rows
	w := d.X.Width
	k := d.Targets
	step := (n + most - 1) / most
	type pair struct{ x, y float32 }
	var all []pair
	for i := 0; i < n; i += step {
		all = append(all, pair{d.X.Mean[i*w+input], d.Y[i*k+target]})
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	up := true
	down := true
	distinct := 1
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.x == b.x && a.y != b.y {
			return false
		}
		up, down = up && b.y >= a.y && (b.x == a.x || b.y > a.y), down && b.y <= a.y && (b.x == a.x || b.y < a.y)
		distinct += one(a.y != b.y)
	}
	return (up || down) && distinct >= fewest
}

// determines reports whether each value of a column belongs to one class, and the column
// has about as many values as there are classes.
func determines(d *tabular.Data, span table.Span) bool {
	n, w := d.X.Rows, d.X.Width
	class := map[string]float32{}
	var key []byte
	for i := range n {
		key = key[:0]
		for _, v := range d.X.Mean[i*w+span.From : i*w+span.To] {
			b := math.Float32bits(v)
			key = append(key, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
		}
		y := d.Y[i]
		if c, known := class[string(key)]; known && c != y {
			return false
		}
		class[string(key)] = y
		if len(class) > 2*d.Classes {
			return false
		}
	}
	return len(class) >= d.Classes && n >= 5*len(class)
}
