package table

import (
	"fmt"
	"strings"
	"testing"
)

// Every class has its share of the rows held out, and of every fold.
func TestSplitOfClasses(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,class\n")
	for i := range 400 {
		class := "common"
		if i%20 == 0 {
			class = "rare"
		}
		fmt.Fprintf(&b, "%d,%s\n", i, class)
	}
	f := load(t, b.String())
	rare := func(rows []int) (n int) {
		for _, row := range rows {
			n += map[bool]int{true: 1}[row%20 == 0]
		}
		return n
	}
	for seed := uint64(1); seed < 20; seed++ {
		s := Split{Seed: seed, Fraction: 0.1, Class: "class"}
		train, held, err := f.Split(nil, s)
		if err != nil || len(held) != 40 || rare(held) != 2 || rare(train) != 18 {
			t.Fatalf("seed %d: %d rows held out, %d of them of the rare class, %v", seed, len(held), rare(held), err)
		}
		parts, err := f.Folds(nil, 5, s)
		for _, p := range parts {
			if err != nil || len(p) != 80 || rare(p) != 4 {
				t.Fatalf("seed %d: a fold of %d rows, %d of them of the rare class, %v", seed, len(p), rare(p), err)
			}
		}
	}
}
