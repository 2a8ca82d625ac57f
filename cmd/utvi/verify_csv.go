package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"utvi/gauss"
)

// readInputs reads a CSV file of numbers, the given number of rows at most (0:
// all). A first line that holds no number at all is a header.
func readInputs(path string, rows, width int) (gauss.Batch[float32], error) {
	none := gauss.Batch[float32]{}
	f, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("cannot read %s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	r.FieldsPerRecord = -1
	var x []float32
	for line := 1; rows == 0 || len(x) < rows*width; line++ {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return none, fmt.Errorf("cannot read %s: %w", path, err)
		}
		if line == 1 && isHeader(record) {
			continue
		}
		if len(record) != width {
			return none, fmt.Errorf("cannot read %s: line %d has %d numbers; the model has %d inputs", path, line, len(record), width)
		}
		for i, s := range record {
			v, err := strconv.ParseFloat(strings.TrimSpace(s), 32)
			if err != nil || v-v != 0 {
				return none, fmt.Errorf("cannot read %s: line %d, column %d: %.40q is not a finite number", path, line, i+1, s)
			}
			x = append(x, float32(v))
		}
	}
	if len(x) == 0 {
		return none, fmt.Errorf("cannot read %s: it has no rows", path)
	}
	return gauss.Fixed(width, x), nil
}

func isHeader(record []string) bool {
	for _, s := range record {
		if _, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			return false
		}
	}
	return true
}
