package fit

import (
	"io"
	"slices"
	"strconv"

	"utvi/table"
	"utvi/table/schema"
	"utvi/tabular"
)

// trainingData encodes rows to train with. Those that the network's own trials hold out are
// kept apart in the same way as those held out here: by groups, or the latest.
func trainingData(f *table.Frame, rows []int, s *schema.Schema, c Config) (tabular.Data, error) {
	if c.Time != "" {
		var err error
		rows, err = f.ByTime(rows, c.Time)
		if err != nil {
			return tabular.Data{}, err
		}
	}
	set, err := s.Encode(f.Rows(rows))
	if err != nil {
		return tabular.Data{}, err
	}
	d := tabular.Data{Set: *set, Classes: len(s.Classes()), Ordered: c.Time != ""}
	for _, span := range s.Spans() {
		if n := span.Column.Numbers(); n > 0 {
			if d.Levels == nil {
				d.Levels = make([]int, set.X.Width)
			}
			d.Levels[span.From] = n
		} else if span.Column.Type == schema.Categorical {
			d.Choices = append(d.Choices, tabular.Span{From: span.From, To: span.To})
		} else if span.Column.Apart && span.Column.Missing == 0 {
			d.Gaps = append(d.Gaps, tabular.Span{From: span.From, To: span.To})
		}
	}
	counts := true
	for _, t := range s.Targets() {
		if t.Type == schema.Numeric {
			d.Zero = append(d.Zero, -t.Mean/t.SD)
			d.Step = append(d.Step, 1/t.SD)
			if !t.Whole || t.Max > tabular.MostCount {
				counts = false
			}
		}
	}
	if !counts {
		d.Step = nil
	}
	if c.Group != "" {
		d.Groups, err = groups(f.Rows(rows), c.Group)
	}
	return d, err
}

// groups numbers the groups of rows.
func groups(rows table.Source, column string) ([]int32, error) {
	number := map[string]int32{}
	var all []int32
	col := rows.Header().Column(column)
	for {
		c, err := rows.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for row := range c.Rows() {
			name := level(c, row, col)
			if _, ok := number[name]; !ok {
				number[name] = int32(len(number))
			}
			all = append(all, number[name])
		}
	}
}

// level is a cell as a category: 1 and 1.0 are one.
func level(c *table.Chunk, row, col int) string {
	if kind, v := c.Cell(row, col); kind == table.Number {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return c.Text(row, col)
}

// differing moves a held-out row to the training rows for each target that is the same in
// all of these; nil if no held-out row differs.
func differing(f *table.Frame, train, held []int, targets []string) (more, fewer []int) {
	for _, name := range targets {
		col := f.Header().Column(name)
		cell := func(row int) string {
			c, err := f.Rows([]int{row}).Next()
			if err != nil {
				return ""
			}
			return level(c, 0, col)
		}
		of := cell(train[0])
		if !slices.ContainsFunc(train, func(row int) bool { return cell(row) != of }) {
			if at := slices.IndexFunc(held, func(row int) bool { return cell(row) != of }); at >= 0 && len(held) > 1 {
				return ascending(append(slices.Clone(train), held[at])), slices.Delete(slices.Clone(held), at, at+1)
			}
		}
	}
	return nil, nil
}

func ascending(rows []int) []int {
	slices.Sort(rows)
	return rows
}

// seeAllClasses takes rows of classes that occur only among those held out to the
// rows to train with, if single rows are held out.
func seeAllClasses(f *table.Frame, train, held []int, s *schema.Schema, c Config) ([]int, []int, *schema.Schema, error) {
	if s.Task != schema.Classification || c.Group != "" || c.Time != "" {
		return train, held, s, nil
	}
	target := s.Targets()[0]
	col := f.Header().Column(target.Name)
	known := map[string]bool{}
	for _, l := range s.Classes() {
		known[l] = true
	}
	var kept, moved []int
	at := 0
	for rows := f.Rows(held); ; {
		chunk, err := rows.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, nil, err
		}
		for row := range chunk.Rows() {
			if kind, _ := chunk.Cell(row, col); kind == table.Missing || known[target.Level(chunk, row, col)] {
				kept = append(kept, held[at])
			} else {
				moved = append(moved, held[at])
			}
			at++
		}
	}
	if len(moved) == 0 || len(kept) == 0 {
		return train, held, s, nil
	}
	train = slices.Sorted(slices.Values(slices.Concat(train, moved)))
	s, err := schema.Infer(f.Rows(train), c.Spec)
	return train, kept, s, err
}
