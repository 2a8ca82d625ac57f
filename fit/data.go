package fit

import (
	"strconv"

	"utvi/internal/counts"
	"utvi/internal/notation"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/table"
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
	describeInputs(&d, s)
	describeTargets(&d, s)
	if c.Group != "" {
		d.Groups = groups(f, rows, c.Group)
	}
	return d, nil
}

// trainingData encodes rows to train with, with the weights of those that are remembered.
func (p parted) trainingData(rows []int, s *schema.Schema, c Config) (tabular.Data, error) {
	d, err := trainingData(p.frame, rows, s, c)
	if err == nil {
		p.older.weigh(&d, rows)
	}
	return d, err
}

// describeInputs says which inputs belong to categories, and which to columns without gaps.
func describeInputs(d *tabular.Data, s *schema.Schema) {
	for _, span := range s.Spans() {
		inputs := tabular.Span{From: span.From, To: span.To}
		switch c := span.Column; {
		case c.Numbers() > 0:
			if d.Levels == nil {
				d.Levels = make([]int, d.X.Width)
			}
			d.Levels[span.From] = c.Numbers()
		case c.Type == schema.Categorical:
			d.Choices = append(d.Choices, inputs)
		case c.Apart && c.Missing == 0:
			d.Gaps = append(d.Gaps, inputs)
		}
	}
}

// describeTargets says how numbers are encoded: what 0 is, and, if all are counts, what 1 is.
func describeTargets(d *tabular.Data, s *schema.Schema) {
	d.Ranks = ranks(s.Classes())
	whole := true
	for _, t := range s.Targets() {
		if t.Type != schema.Numeric {
			continue
		}
		d.Zero = append(d.Zero, -t.Mean/t.SD)
		d.Step = append(d.Step, 1/t.SD)
		whole = whole && t.Whole && t.Max <= counts.Most
	}
	if !whole {
		d.Step = nil
	}
}

// ranks are those of classes whose names are numbers.
func ranks(classes []string) []float64 {
	var values []float64
	for _, name := range classes {
		v, n := notation.ScanFloat([]byte(name), '.')
		if n != len(name) || len(values) > 0 && v <= values[len(values)-1] {
			return nil
		}
		values = append(values, v)
	}
	return tabular.RanksOf(values)
}

// groups numbers the groups of rows.
func groups(f *table.Frame, rows []int, column string) []int32 {
	col := f.Header().Column(column)
	number := map[string]int32{}
	all := make([]int32, len(rows))
	for i, row := range rows {
		c, at := f.At(row)
		name := level(c, at, col)
		if _, ok := number[name]; !ok {
			number[name] = int32(len(number))
		}
		all[i] = number[name]
	}
	return all
}

// level is a cell as a category: 1 and 1.0 are one.
func level(c *table.Chunk, row, col int) string {
	if kind, v := c.Cell(row, col); kind == table.Number {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return c.Text(row, col)
}
