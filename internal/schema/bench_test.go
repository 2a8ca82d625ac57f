package schema

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/table"
)

// BenchmarkCSV parses and encodes 50 columns of numbers: what prediction does
// beside the network.
func BenchmarkCSV(b *testing.B) {
	for _, format := range []string{"%.6f", "%.17g"} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/cores=%d", format[1:], workers), func(b *testing.B) {
				pool := compute.NewPool(workers)
				defer pool.Close()
				csv := numbersCSV(60_000, 50, format)
				x := gauss.Fixed(50, make([]float32, table.MaxRows*50))
				rows := 0
				for b.Loop() {
					r, err := table.NewReader(bytes.NewReader(csv), "b.csv", table.Options{Pool: pool})
					if err != nil {
						b.Fatal(err)
					}
					s := &Schema{Task: Regression, Named: true}
					for i, name := range r.Header().Columns {
						s.Columns = append(s.Columns, Column{Name: name, Role: Input, Type: Numeric, Stats: Stats{SD: 1}})
						if i == 50 {
							s.Columns[i].Role = Target
						}
					}
					e, err := s.Bind(r.Header())
					if err != nil {
						b.Fatal(err)
					}
					err = table.Each(r, func(c *table.Chunk) error {
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
