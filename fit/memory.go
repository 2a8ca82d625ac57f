package fit

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"utvi/internal/condense"
	"utvi/internal/delimited"
	"utvi/internal/modelfile"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/rng"
	"utvi/table"
)

// A model keeps made-up rows, so that it can learn on without the rows that it learned from: those of
// package condense, in the columns of the table. They are written as cells, so that an update may
// scale, name and choose all anew.

const (
	memoryRows  = 2000    // that are kept by default
	memoryCells = 100_000 // that are kept at most
	memoryKey   = 0x6d656d6f
)

// older are the first rows of a frame: those that a model remembers.
type older struct {
	rows    int
	weights []float32 // of all rows of the frame
	stand   float64   // how many rows they stand for
}

// weigh adds the weights of remembered rows to data of some rows of the frame.
func (o *older) weigh(d *tabular.Data, rows []int) {
	if o == nil || !slices.ContainsFunc(o.weights, func(w float32) bool { return w != 1 }) {
		return
	}
	d.Weights = make([]float32, len(rows))
	for i, row := range rows {
		d.Weights[i] = o.weights[row]
	}
}

// kept is how many rows a model may keep of a table with so many columns; 0: none.
func (c Config) kept(columns int) int {
	if c.Memory < 0 {
		return 0
	}
	n := memoryRows
	if c.Memory > 0 {
		n = c.Memory
	}
	return min(n, memoryCells/max(1, columns))
}

// remember makes up rows that stand for some rows of the frame. Remembered ones stay as they are
// while there is room.
func (p parted) remember(rows []int, s *schema.Schema, net *tabular.Fitted, c Config) (*modelfile.Memory, error) {
	t := newTelling(p.frame, s, net)
	most := c.kept(len(t.columns))
	if most < condense.Fewest || s.Pictures() {
		return nil, nil
	}
	weights := make([]float64, p.frame.Len())
	for i := range weights {
		weights[i] = 1
		if p.older != nil {
			weights[i] = float64(p.older.weights[i])
		}
	}
	if c.Weight != "" && p.older == nil {
		if at := p.frame.Header().Column(c.Weight); at >= 0 {
			for i := range weights {
				chunk, row := p.frame.At(i)
				_, weights[i] = chunk.Cell(row, at)
			}
		}
	}
	stay, mixed := p.parts(rows, most, t)
	m := &modelfile.Memory{}
	for i := range t.columns {
		m.Columns = append(m.Columns, t.columns[i].Name)
	}
	lines := &delimited.Lines{Digits: 9}
	var all []float64
	for _, row := range stay {
		t.write(lines, row, nil, 0)
		all = append(all, weights[row])
	}
	made := condense.Make(rng.New(c.Seed).Sub(uint64(p.frame.Len()), memoryKey), t.rows(mixed, weights), most-len(stay))
	for i, from := range made.From {
		t.write(lines, mixed[from], made.Numbers, i)
		all = append(all, made.Weights[i])
	}
	var text bytes.Buffer
	if err := lines.Flush(&text); err != nil {
		return nil, err
	}
	m.Cells = text.String()
	equal := true
	for _, w := range all {
		m.Rows += w
		m.Weights = append(m.Weights, float32(w))
		equal = equal && math.Abs(w-1) < 1e-6
	}
	if equal {
		m.Weights = nil
	}
	return m, nil
}

// parts are the rows that stay as they are, and those that are mixed: rows that are new, together with
// the remembered ones nearest to them if they are few, or all if there is not room enough.
func (p parted) parts(rows []int, most int, t *telling) (stay, mixed []int) {
	if p.older == nil || len(rows) > most {
		return nil, rows
	}
	for _, row := range rows {
		if row < p.older.rows {
			stay = append(stay, row)
		} else {
			mixed = append(mixed, row)
		}
	}
	if len(mixed) >= 4*condense.Fewest {
		return stay, mixed
	}
	beside := map[int]bool{}
	for _, row := range mixed {
		near := slices.Clone(stay)
		distance := make(map[int]float64, len(near))
		for _, other := range near {
			distance[other] = t.distance(row, other)
		}
		slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
		for _, other := range near[:min(len(near), condense.Fewest-1)] {
			beside[other] = true
		}
	}
	stay = slices.DeleteFunc(stay, func(row int) bool { return beside[row] })
	for _, row := range rows {
		if beside[row] {
			mixed = append(mixed, row)
		}
	}
	return stay, mixed
}

// fewValues is the most values of a column of numbers that are not mixed: 0 and 1, or grades.
const fewValues = 10

// A telling reads the cells of a frame as a schema does, and writes them.
type telling struct {
	frame   *table.Frame
	columns []*told
	numbers []*told // that are mixed
	tags    []*told // that are not; the class first
	class   bool
}

// A told column is one whose cells are remembered.
type told struct {
	*schema.Column
	at     int
	whole  bool
	value  []float64 // of all rows; NaN: missing
	text   []string  // of all rows of a category
	tag    []int     // of all rows, if it has few values; the number of the value
	scaled []float64 // of all rows, if it has many
	back   func(float64) float64
}

func newTelling(f *table.Frame, s *schema.Schema, net *tabular.Fitted) *telling {
	t := &telling{frame: f, class: s.Task == schema.Classification}
	target := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		x := &told{Column: c, at: f.Header().Column(c.Name), back: c.Decode}
		if x.at < 0 {
			x.at = i
		}
		forth := c.Encode
		switch {
		case c.Role == schema.Target && c.Type == schema.Numeric:
			forth, x.back = warped(c, net, target)
			target++
		case c.Role == schema.Input && c.Type == schema.Numeric:
		case c.Role == schema.Input || c.Role == schema.Target || c.Role == schema.Std:
			forth, x.back = nil, nil
		default:
			x.at = -1 // not used
		}
		t.columns = append(t.columns, x)
		if x.at >= 0 {
			t.read(x, forth)
		}
	}
	return t
}

// warped are the scale of a numeric target and its inverse.
func warped(c *schema.Column, net *tabular.Fitted, target int) (forth, back func(float64) float64) {
	w := net.Warp(target)
	within := func(y float64) float64 { return min(max(y, c.Min), c.Max) }
	if w == nil {
		return func(y float64) float64 { return (y - c.Mean) / c.SD }, func(z float64) float64 { return within(z*c.SD + c.Mean) }
	}
	return func(y float64) float64 {
			z, _ := w.Forward((y - c.Mean) / c.SD)
			return z
		}, func(z float64) float64 {
			return within(w.Back(z)*c.SD + c.Mean)
		}
}

// read reads a column and decides whether its numbers are mixed.
func (t *telling) read(x *told, forth func(float64) float64) {
	n := t.frame.Len()
	known := map[string]int{}
	x.whole = true
	values := map[float64]int{}
	for i := range n {
		chunk, row := t.frame.At(i)
		if x.Type == schema.Categorical {
			text := ""
			if k, _ := chunk.Cell(row, x.at); k != table.Missing {
				text = x.Level(chunk, row, x.at)
			}
			x.text = append(x.text, text)
			if _, ok := known[text]; !ok {
				known[text] = len(known)
			}
			x.tag = append(x.tag, known[text])
			continue
		}
		v, ok := x.Number(chunk, row, x.at)
		if !ok {
			v = math.NaN()
		} else {
			x.whole = x.whole && v == math.Trunc(v)
		}
		if _, seen := values[v]; ok && !seen && len(values) <= fewValues {
			values[v] = len(values)
		}
		x.value = append(x.value, v)
	}
	switch {
	case x.Type == schema.Categorical:
		t.addTag(x)
	case forth != nil && len(values) > fewValues || x.Type == schema.Times:
		if forth == nil {
			forth = func(v float64) float64 { return (v - x.Mean) / x.SD }
			x.back = func(z float64) float64 { return min(max(z*x.SD+x.Mean, x.Min), x.Max) }
		}
		for _, v := range x.value {
			x.scaled = append(x.scaled, forth(v))
		}
		t.numbers = append(t.numbers, x)
	default:
		for _, v := range x.value {
			k, ok := values[v]
			if !ok {
				k = -1
			}
			x.tag = append(x.tag, k)
		}
		t.addTag(x)
	}
}

// addTag adds a column that is not mixed; classes come first.
func (t *telling) addTag(x *told) {
	if x.Role == schema.Target && t.class {
		t.tags = slices.Insert(t.tags, 0, x)
		return
	}
	t.tags = append(t.tags, x)
}

// rows are some rows as they are mixed.
func (t *telling) rows(some []int, weights []float64) condense.Rows {
	r := condense.Rows{Weights: pick(weights, some)}
	for _, x := range t.numbers {
		r.Numbers = append(r.Numbers, pick(x.scaled, some))
	}
	for _, x := range t.tags {
		r.Tags = append(r.Tags, pick(x.tag, some))
	}
	if t.class && len(t.tags) > 0 {
		r.First = 1
	}
	return r
}

func pick[T any](from []T, rows []int) []T {
	to := make([]T, 0, len(rows))
	for _, row := range rows {
		to = append(to, from[row])
	}
	return to
}

// distance is how far two rows are from each other.
func (t *telling) distance(a, b int) (sum float64) {
	for _, x := range t.numbers {
		if d := x.scaled[a] - x.scaled[b]; d == d {
			sum += d * d
		}
	}
	for _, x := range t.tags {
		if x.tag[a] != x.tag[b] {
			sum += 2
		}
	}
	return sum
}

// write writes a row of the frame; mixed, if not nil, are its numbers at i.
func (t *telling) write(lines *delimited.Lines, row int, mixed [][]float64, i int) {
	for _, x := range t.columns {
		switch {
		case x.at < 0:
			lines.Text("")
			continue
		case x.Type == schema.Categorical:
			lines.Text(x.text[row])
			continue
		}
		v := x.value[row]
		if j := slices.Index(t.numbers, x); j >= 0 && mixed != nil {
			v = mixed[j][i]
			if v == v {
				v = x.back(v)
			}
			if x.whole {
				v = math.Round(v)
			}
		}
		switch {
		case v != v:
			lines.Text("")
		case x.Type == schema.Times:
			lines.Text(x.WriteTime(v))
		default:
			lines.Float(v)
		}
	}
	lines.End()
}
