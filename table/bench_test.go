package table

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"utvi/gauss"
	"utvi/internal/compute"
)

// numbersCSV returns rows of numbers in the given format.
func numbersCSV(rows, cols int, format string) []byte {
	var b bytes.Buffer
	for j := range cols {
		fmt.Fprintf(&b, "x%d,", j)
	}
	b.WriteString("y\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range rows {
		for range cols {
			fmt.Fprintf(&b, format+",", r.NormFloat64()*10)
		}
		b.WriteString("1\n")
	}
	return b.Bytes()
}

// again yields the rows of a table over and over, until it has given size bytes.
type again struct {
	head, rows []byte
	at, left   int
}

func newAgain(csv []byte, size int) *again {
	i := bytes.IndexByte(csv, '\n') + 1
	return &again{head: csv[:i], rows: csv[i:], left: size}
}

func (a *again) Read(p []byte) (int, error) {
	if len(a.head) > 0 {
		n := copy(p, a.head)
		a.head = a.head[n:]
		return n, nil
	}
	if a.left <= 0 && a.at == 0 {
		return 0, io.EOF
	}
	n := copy(p, a.rows[a.at:])
	a.at = (a.at + n) % len(a.rows)
	a.left -= n
	return n, nil
}

// BenchmarkCSV parses and encodes 50 columns of numbers: what prediction does
// beside the network.
func BenchmarkCSV(b *testing.B) {
	for _, format := range []string{"%.6f", "%.17g"} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/cores=%d", format[1:], workers), func(b *testing.B) {
				pool := compute.NewPool(workers)
				defer pool.Close()
				csv := numbersCSV(4000, 50, format)
				x := gauss.Fixed(50, make([]float32, MaxRows*50))
				rows := 0
				for b.Loop() {
					r, err := NewReader(newAgain(csv, 40<<20), "b.csv", Options{Pool: pool})
					if err != nil {
						b.Fatal(err)
					}
					s := &Schema{Task: Regression, Named: true}
					for i, name := range r.Header().Columns {
						s.Columns = append(s.Columns, Column{Name: name, Role: Input, Type: Numeric, SD: 1})
						if i == 50 {
							s.Columns[i].Role = Target
						}
					}
					e, err := s.Bind(r.Header())
					if err != nil {
						b.Fatal(err)
					}
					err = each(r, func(c *Chunk) error {
						rows += c.Rows()
						return e.Inputs(c, x.Slice(0, c.Rows()))
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
