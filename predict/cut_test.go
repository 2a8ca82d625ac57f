package predict

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"utvi/model"
	"utvi/table"
)

// Chunks are cut into parts of at most so many rows, in order, and the source hears how many of its
// rows are done.
func TestCut(t *testing.T) {
	for rows, want := range map[int]string{1: "[1]", 3: "[3]", 4: "[3 1]", 6: "[3 3]", 7: "[3 3 1]"} {
		r, err := table.NewReader(strings.NewReader("x\n"+strings.Repeat("1\n", rows)), "a.csv", table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := table.Load(r)
		if err != nil {
			t.Fatal(err)
		}
		var done atomic.Int64
		c := &cut{Source: watched{f.Rows(nil), &done}, most: 3}
		var sizes []int
		line := 1
		for {
			part, err := c.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, part.Rows())
			for row := range part.Rows() {
				line++
				if part.Line(row) != line {
					t.Errorf("of %d rows, line %d comes instead of %d", rows, part.Line(row), line)
				}
			}
			c.Done(part.Rows())
		}
		if got := fmt.Sprint(sizes); got != want || done.Load() != int64(rows) {
			t.Errorf("%d rows are cut into %s, want %s; %d are done", rows, got, want, done.Load())
		}
	}
	(&cut{Source: nil}).Done(1) // nobody wants to know
}

// Effects are kept by their size, the most of them, equal ones in the order of the table.
func TestInsert(t *testing.T) {
	var all []Effect
	for i, size := range []float64{1, 3, 3, 2, 0.5, 3} {
		all = insert(all, Effect{Mean: size, Std: float64(i)}, 3, func(e Effect) float64 { return e.Mean })
	}
	if got := fmt.Sprint(all); got != "[{3 1} {3 2} {3 5}]" && len(all) != 3 || all[0].Std != 1 || all[1].Std != 2 || all[2].Std != 5 {
		t.Errorf("kept are %v", all)
	}
}

// Many names are cut short.
func TestList(t *testing.T) {
	names := strings.Split(strings.Repeat("a ", 20)+"b", " ")
	if got := list(names[:20]); got != strings.TrimSuffix(strings.Repeat("a, ", 20), ", ") {
		t.Errorf("20 names are %s", got)
	}
	if got := list(names); got != strings.TrimSuffix(strings.Repeat("a, ", 20), ", ")+" … (21 in all)" {
		t.Errorf("21 names are %s", got)
	}
}

// A prediction is finite if its means are and, for numbers, if its variances are no less than 0.
func TestFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		mean, variance  float32
		number, classes bool
	}{{1, 1, true, true}, {1, 0, true, true}, {nan, 1, false, false}, {inf, 1, false, false}, {1, nan, false, true}, {1, inf, false, true}, {1, -1, false, true}} {
		for _, classes := range []bool{false, true} {
			m := &Model{}
			if classes {
				m.classes = []string{"a", "b"}
			}
			out := &model.Predictions{Rows: 2, Width: 2, Mean: []float32{0, 0, 0, c.mean}, Var: []float32{1, 1, 1, c.variance}}
			b := &Batch{s: &session{m: m, out: out}, judged: -1}
			want := c.number
			if classes {
				want = c.classes
			}
			if b.Finite(1) != want || !b.Finite(0) || b.Finite(1) != want {
				t.Errorf("mean %v with variance %v, classes %v: finite %v", c.mean, c.variance, classes, b.Finite(1))
			}
		}
	}
}
