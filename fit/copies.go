package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"utvi/internal/advice"
	"utvi/internal/schema"
	"utvi/internal/tabular"
)

// copies finds inputs that hold the target: a linear function of it, a rising or falling
// one, or, for classes, values that each belong to one class. A table with one input has
// none: the input may explain the target.
func (s survey) copies() (all []Warning) {
	const fewest = 10
	spans := s.schema.Spans()
	if len(spans) < 2 || s.data.X.Rows < fewest {
		return nil
	}
	for _, span := range spans {
		for _, what := range s.copyOf(span) {
			all = append(all, advice.New("%s; %v if it is not known when predictions are made", what, advice.Set("Ignore", span.Column.Name)))
		}
	}
	return few(all, "%d more columns seem to be copies of the target")
}

// copyOf says of which targets an input is a copy.
func (s survey) copyOf(span schema.Span) (all []string) {
	d := s.data
	name := span.Column.Name
	targets := s.schema.Targets()
	if d.Classes > 0 {
		if determines(d, span) {
			all = append(all, fmt.Sprintf("column %s determines the class: each of its values belongs to one %s", name, targets[0].Name))
		}
		return all
	}
	if span.Column.Type == schema.Categorical {
		return nil
	}
	for t, target := range targets {
		switch {
		case correlation(d, span.From, t) > 1-1e-6:
			all = append(all, fmt.Sprintf("column %s is a copy of the target %s, or a linear function of it", name, target.Name))
		case monotone(d, span.From, t):
			all = append(all, fmt.Sprintf("column %s holds the target %s in another form: one rises or falls with the other in every row", name, target.Name))
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
// 2,000 rows. A target of few values is not enough to tels.
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
func determines(d *tabular.Data, span schema.Span) bool {
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
