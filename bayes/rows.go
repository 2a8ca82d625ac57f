package bayes

import (
	"errors"
	"fmt"
	"io"
	"math"

	"utvi/data"
	"utvi/gauss"
	"utvi/table"
)

// FromTable reads rows for a network: the targets are columns by name, all other columns
// are inputs, in the order of the file. All cells must be numbers.
func FromTable(rows table.Source, targets []string) (data.Set, error) {
	h := rows.Header()
	isTarget := make([]bool, len(h.Columns))
	var at []int
	for _, name := range targets {
		i := h.Column(name)
		if i < 0 {
			return data.Set{}, fmt.Errorf("the table has no column %.60q; its columns are %.200q", name, h.Columns)
		}
		if isTarget[i] {
			return data.Set{}, fmt.Errorf("the target column %.60q is named twice", name)
		}
		isTarget[i] = true
		at = append(at, i)
	}
	if len(at) == 0 {
		return data.Set{}, errors.New("no target column is named")
	}
	s := data.Set{Targets: len(at), X: gauss.Batch[float32]{Width: len(h.Columns) - len(at)}}
	err := read(rows, func(row []float32) {
		s.X.Rows++
		for i, v := range row {
			if !isTarget[i] {
				s.X.Mean = append(s.X.Mean, v)
			}
		}
		for _, i := range at {
			s.Y = append(s.Y, row[i])
		}
	})
	return s, err
}

// FromArrays reads rows for a network from two files, inputs and targets.
func FromArrays(x, y table.Source) (data.Set, error) {
	s := data.Set{Targets: len(y.Header().Columns), X: gauss.Batch[float32]{Width: len(x.Header().Columns)}}
	err := read(x, func(row []float32) {
		s.X.Rows++
		s.X.Mean = append(s.X.Mean, row...)
	})
	if err == nil {
		err = read(y, func(row []float32) { s.Y = append(s.Y, row...) })
	}
	if err == nil && len(s.Y) != s.X.Rows*s.Targets {
		err = fmt.Errorf("%d rows of inputs and %d of targets; their numbers must be equal", s.X.Rows, len(s.Y)/s.Targets)
	}
	return s, err
}

// read calls add with every row.
func read(rows table.Source, add func(row []float32)) error {
	h := rows.Header()
	row := make([]float32, len(h.Columns))
	for {
		c, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for r := range c.Rows() {
			for i := range row {
				kind, v := c.Cell(r, i)
				if kind != table.Number {
					return fmt.Errorf("%s: the column %.60q does not hold a number; a network takes numbers only", c.Where(r), h.Columns[i])
				}
				row[i] = float32(v)
				if math.IsInf(float64(row[i]), 0) {
					return fmt.Errorf("%s: the column %.60q holds %v; a network takes numbers up to 3.4e38", c.Where(r), h.Columns[i], v)
				}
			}
			add(row)
		}
	}
}
