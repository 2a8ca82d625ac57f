package table

import (
	"fmt"
	"io"
	"strings"
)

// A Format is a kind of file that another package reads, such as utvi/table/parquet.
type Format struct {
	Magic string // the first bytes of such a file

	// Open reads the columns of a file and returns its rows. Errors begin with what
	// is wrong; the name of the file is put in front.
	Open func(r io.ReaderAt, size int64) (Rows, error)
}

// Rows are the rows of a file of a Format. Next returns io.EOF after the last chunk;
// other errors name the file.
type Rows interface {
	Columns() []string
	Next(h *Header) (*Chunk, error)
	Close() error
}

var formats []Format

// Register makes Open and NewReader read a format. It is called by the package of the
// format when a program starts.
func Register(f Format) {
	if f.Magic == "" || f.Open == nil {
		panic("table: a format needs its first bytes and a function Open")
	}
	formats = append(formats, f)
}

// known are formats that need an import.
var known = map[string]string{"PAR1": "this is a Parquet file; the program must import utvi/table/parquet to read it"}

func findFormat(start []byte) (Format, error) {
	for _, f := range formats {
		if strings.HasPrefix(string(start[:min(len(start), len(f.Magic))]), f.Magic) {
			return f, nil
		}
	}
	for magic, hint := range known {
		if len(start) >= len(magic) && string(start[:len(magic)]) == magic {
			return Format{}, fmt.Errorf("%s", hint)
		}
	}
	return Format{}, nil
}

// openFormat reads a file of a format.
func (r *Reader) openFormat(f Format, src, in io.Reader) error {
	at, size, err := r.seekable(src, in)
	if err != nil {
		return err
	}
	rows, err := f.Open(at, size)
	if err != nil {
		return readError(r.head.File, err)
	}
	r.done = append(r.done, func() { rows.Close() })
	r.head.Named, r.head.Columns = true, rows.Columns()
	if len(r.head.Columns) == 0 {
		return fmt.Errorf("%s has no columns", r.head.File)
	}
	r.rows = formatRows{r.head, rows}
	return r.head.Check()
}

type formatRows struct {
	head *Header
	rows Rows
}

func (f formatRows) next() (*Chunk, error) { return f.rows.Next(f.head) }
