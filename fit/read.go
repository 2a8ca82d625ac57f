package fit

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"

	"utvi/table"
)

// ReadTable reads all rows of a table, as many as there is memory for.
func ReadTable(path string, o table.Options) (*table.Frame, error) {
	r, err := table.Open(path, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return table.Load(&bounded{Source: r, left: cellsFor(available())})
}

// A bounded source ends with a sentence before the system would end the program.
type bounded struct {
	table.Source
	left float64 // cells
	rows int
}

func (b *bounded) Next() (*table.Chunk, error) {
	c, err := b.Source.Next()
	if err != nil {
		return nil, err
	}
	b.rows += c.Rows()
	if b.left -= float64(c.Rows() * len(b.Header().Columns)); b.left < 0 {
		return nil, fmt.Errorf("%s does not fit into memory: there is room to train with about %d of its rows; take a sample of them", b.Header().File, b.rows/10*9)
	}
	return c, nil
}

// cellsFor is how many cells may be read: a cell takes eight bytes, its encoding for
// all trainings up to twice that, and some room is left to others.
func cellsFor(memory float64) float64 { return 0.8 * memory / 24 }

// available is the memory that is free for use, in bytes, infinite where the system
// does not tell.
func available() float64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return math.Inf(1)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kib float64
		if name, rest, ok := strings.Cut(s.Text(), ":"); ok && name == "MemAvailable" {
			if _, err := fmt.Sscan(rest, &kib); err == nil {
				return 1024 * kib
			}
		}
	}
	return math.Inf(1)
}
