package fit

import (
	"io"
	"strconv"

	"utvi/table"
	"utvi/tabular"
)

// data encodes rows to train with. Those that the network's own trials hold out are
// kept apart in the same way as those held out here: by groups, or the latest.
func data(f *table.Frame, rows []int, s *table.Schema, c Config) (tabular.Data, error) {
	if c.Time != "" {
		rows = byTime(f, rows, c.Time)
	}
	set, err := s.Encode(f.Rows(rows))
	if err != nil {
		return tabular.Data{}, err
	}
	d := tabular.Data{X: set.X, Y: set.Y, Weights: set.Weight, Targets: len(s.Targets()), Classes: len(s.Classes()), Ordered: c.Time != ""}
	if c.Group != "" {
		d.Groups, err = groups(f.Rows(rows), c.Group)
	}
	return d, err
}

// byTime sorts rows by a column: each half of them comes before the other. Rows of
// one time stay in order.
func byTime(f *table.Frame, rows []int, column string) []int {
	early, late, err := f.Split(rows, table.Split{Time: column, Fraction: 0.5})
	if err != nil { // one row, or one time
		return rows
	}
	return append(byTime(f, early, column), byTime(f, late, column)...)
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
			name := c.Text(row, col)
			if kind, v := c.Cell(row, col); kind == table.Number {
				name = strconv.FormatFloat(v, 'g', -1, 64) // 1 and 1.0 are one group
			}
			if _, ok := number[name]; !ok {
				number[name] = int32(len(number))
			}
			all = append(all, number[name])
		}
	}
}
