// Package uci runs the regression benchmark of Hernández-Lobato & Adams (2015) on
// folders of its layout:
//
//	<set>/data.txt              numbers, a case a line
//	<set>/index_features.txt    columns of the inputs, counted from 0
//	<set>/index_target.txt      column of the target
//	<set>/index_train_<k>.txt   rows of split k; index_test_<k>.txt likewise
//	<set>/n_splits.txt          and n_hidden.txt, the literature's hidden units
package uci

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Set is one data set of the benchmark.
type Set struct {
	Name   string
	Splits int
	Hidden int // units of the literature's one hidden layer; 0 if unknown

	dir      string
	bytes    int64 // of data.txt
	columns  int
	rows     []float64 // row-major
	features []int
	target   int
	gaps     []int // columns of gaps, instead of the splits of the files; nil: those
}

// Names lists the sets in a folder, sorted.
func Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		return nil, fmt.Errorf("cannot read %s: %w; it must be a folder with one folder for each set of the benchmark, holding its data.txt", dir, err)
	}
	var names []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "data.txt")); err == nil {
			names = append(names, e.Name())
		}
	}
	if names == nil {
		return nil, fmt.Errorf("%s holds no set of the benchmark: none of its folders has a data.txt", dir)
	}
	return names, nil
}

// Cost is what a fit of a split costs, relative to other sets: its steps grow with the root
// of the size.
func (s *Set) Cost() float64 { return math.Sqrt(float64(s.bytes)) }

// Open reads a set.
func Open(dir, name string) (*Set, error) {
	s := &Set{Name: name, dir: filepath.Join(dir, name)}
	info, err := os.Stat(s.path("data.txt"))
	if err != nil {
		return nil, err
	}
	s.bytes = info.Size()
	err = s.lines("data.txt", func(row []float64) error {
		if s.columns == 0 {
			s.columns = len(row)
		}
		if len(row) != s.columns {
			return fmt.Errorf("the line has %d numbers; the lines before it have %d", len(row), s.columns)
		}
		s.rows = append(s.rows, row...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.rows == nil {
		return nil, fmt.Errorf("%s holds no rows", s.path("data.txt"))
	}
	s.features, err = s.indices("index_features.txt", s.columns)
	if err != nil {
		return nil, err
	}
	target, err := s.indices("index_target.txt", s.columns)
	if err != nil {
		return nil, err
	}
	if len(target) != 1 || slices.Contains(s.features, target[0]) {
		return nil, fmt.Errorf("%s must name one column that is not a feature, not %v", s.path("index_target.txt"), target)
	}
	s.target = target[0]
	s.Splits, err = s.count("n_splits.txt")
	if err != nil {
		return nil, err
	}
	s.Hidden, err = s.count("n_hidden.txt")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s, err
}

func (s *Set) path(file string) string { return filepath.Join(s.dir, file) }

// lines reads the numbers of each line that has any.
func (s *Set) lines(file string, line func(row []float64) error) error {
	f, err := os.Open(s.path(file))
	if err != nil {
		return err
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<24)
	var row []float64
	n := 0
	for scan.Scan() {
		n++
		row = row[:0]
		for _, word := range strings.Fields(scan.Text()) {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%s, line %d: %.40q is not a finite number", s.path(file), n, word)
			}
			row = append(row, x)
		}
		if len(row) > 0 {
			if err := line(row); err != nil {
				return fmt.Errorf("%s, line %d: %w", s.path(file), n, err)
			}
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.path(file), err)
	}
	return nil
}

// indices reads whole numbers below most, sometimes written 3.0000e+00.
func (s *Set) indices(file string, most int) (index []int, err error) {
	err = s.lines(file, func(row []float64) error {
		for _, x := range row {
			if x < 0 || x >= float64(most) || x != math.Trunc(x) {
				return fmt.Errorf("%v is not an index below %d", x, most)
			}
			index = append(index, int(x))
		}
		return nil
	})
	if err == nil && index == nil {
		err = fmt.Errorf("%s holds no index", s.path(file))
	}
	return index, err
}

// count reads the one number of a file.
func (s *Set) count(file string) (int, error) {
	n, err := s.indices(file, 1<<20)
	if err != nil {
		return 0, err
	}
	if len(n) != 1 || n[0] < 1 {
		return 0, fmt.Errorf("%s must hold one number above 0, not %v", s.path(file), n)
	}
	return n[0], nil
}
