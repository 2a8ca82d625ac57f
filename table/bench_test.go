package table

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
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
