package table

import (
	"fmt"
	"io"
	"math"

	"utvi/internal/npy"
)

const npyMagic = npy.Magic

// An array is the header of a .npy file: a matrix, or a vector, which is one column.
type array struct{ *npy.Header }

func (a *array) rows() int { return a.Shape[0] }
func (a *array) cols() int {
	if len(a.Shape) == 1 {
		return 1
	}
	return a.Shape[1]
}

// columns names the columns: the vector's own name, the matrix's with numbers.
func (a *array) columns(name string) []string {
	if len(a.Shape) == 1 {
		return []string{name}
	}
	return numbered(name, a.cols())
}

// readArray reads the header of a .npy file and leaves r at the numbers.
func readArray(r io.Reader) (*array, error) {
	h, err := npy.Read(r)
	if err != nil {
		return nil, err
	}
	a := &array{h}
	if len(a.Shape) != 1 && len(a.Shape) != 2 {
		return nil, fmt.Errorf("the array has the shape (%.60s); two dimensions are needed, rows and columns", a.Written)
	}
	if a.cols() < 1 || a.cols() > 1<<20 || a.rows() > math.MaxInt/2/(8*a.cols()) {
		return nil, fmt.Errorf("the array has the shape (%.60s); a table has from 1 to %d columns, and no more rows than a file can hold", a.Written, 1<<20)
	}
	return a, nil
}
