package table

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetRows reads the row groups of a Parquet file one after the other, page by
// page.
type parquetRows struct {
	head   *Header
	convs  []func(parquet.Value, *listed) cell
	groups []parquet.RowGroup
	rows   parquet.Rows
	buf    []parquet.Row
	row    int
}

func (r *Reader) openParquet(src, in io.Reader) (err error) {
	at, size, err := r.seekable(src, in)
	if err != nil {
		return err
	}
	defer r.damaged(&err)
	f, err := parquet.OpenFile(at, size)
	if err != nil {
		return fmt.Errorf("cannot read %s: the Parquet file is damaged: %w", r.head.File, err)
	}
	p := &parquetRows{head: r.head, groups: f.RowGroups()}
	r.head.Named = true
	for _, field := range f.Schema().Fields() {
		conv, err := converter(field)
		if err != nil {
			return fmt.Errorf("%s, column %s: %w", r.head.File, field.Name(), err)
		}
		r.head.Columns = append(r.head.Columns, field.Name())
		p.convs = append(p.convs, conv)
	}
	if len(p.convs) == 0 {
		return fmt.Errorf("%s has no columns", r.head.File)
	}
	p.buf = make([]parquet.Row, min(MaxRows, max(1, maxCells/len(p.convs))))
	r.rows = &guarded{r, p}
	r.done = append(r.done, func() {
		if p.rows != nil {
			p.rows.Close()
		}
	})
	return r.head.check()
}

// damaged turns a panic of the Parquet library, which trusts what is in the file,
// into an error.
func (r *Reader) damaged(err *error) {
	if recover() != nil {
		*err = fmt.Errorf("cannot read %s: the Parquet file is damaged", r.head.File)
	}
}

type guarded struct {
	r *Reader
	p *parquetRows
}

func (g *guarded) next() (c *Chunk, err error) {
	defer g.r.damaged(&err)
	return g.p.next()
}

func (p *parquetRows) next() (*Chunk, error) {
	for {
		if p.rows == nil {
			if len(p.groups) == 0 {
				return nil, io.EOF
			}
			p.rows, p.groups = p.groups[0].Rows(), p.groups[1:]
		}
		n, err := p.rows.ReadRows(p.buf)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("cannot read %s: the Parquet file is damaged: %w", p.head.File, err)
		}
		if n == 0 && err == io.EOF {
			p.rows.Close()
			p.rows = nil
		}
		if n > 0 {
			return p.chunk(p.buf[:n])
		}
	}
}

func (p *parquetRows) chunk(rows []parquet.Row) (*Chunk, error) {
	width := len(p.convs)
	l := &listed{}
	c := &Chunk{head: p.head, rows: len(rows), texts: l, cells: make([]cell, len(rows)*width), where: make([]int, len(rows))}
	for i, row := range rows {
		p.row++
		c.where[i] = p.row
		if len(row) != width {
			return nil, fmt.Errorf("cannot read %s: row %d has %d values where %d are expected", p.head.File, p.row, len(row), width)
		}
		for j, v := range row {
			c.cells[i*width+j] = p.convs[j](v, l)
		}
	}
	for i, v := range c.cells {
		if k, ref := unbox(v); k == Text && !utf8.ValidString(l.list[ref]) {
			return nil, c.errorf(i/width, i%width, "%s is not text in UTF-8", short(l.list[ref]))
		}
	}
	return c, nil
}

// converter returns what makes cells of a column's values.
func converter(field parquet.Field) (func(parquet.Value, *listed) cell, error) {
	if !field.Leaf() || field.Repeated() {
		return nil, fmt.Errorf("it holds lists or groups; plain columns are needed")
	}
	t := field.Type()
	scale, unsigned := -1, false
	if lt := t.LogicalType(); lt != nil {
		switch d := lt.Value.(type) {
		case *format.DecimalType:
			scale = int(d.Scale)
		case *format.IntType:
			unsigned = !d.IsSigned
		}
	}
	var conv func(parquet.Value, *listed) cell
	switch t.Kind() {
	case parquet.Boolean:
		conv = func(v parquet.Value, l *listed) cell { return l.parse(strconv.FormatBool(v.Boolean())) }
	case parquet.Int32:
		conv = func(v parquet.Value, l *listed) cell { return number(float64(v.Int32())) }
	case parquet.Int64:
		conv = func(v parquet.Value, l *listed) cell { return l.integer(v.Int64()) }
	case parquet.Float:
		conv = func(v parquet.Value, l *listed) cell { return number(float64(v.Float())) }
	case parquet.Double:
		conv = func(v parquet.Value, l *listed) cell { return number(v.Double()) }
	case parquet.ByteArray, parquet.FixedLenByteArray:
		conv = func(v parquet.Value, l *listed) cell { return l.parse(string(v.ByteArray())) }
	default:
		return nil, fmt.Errorf("the type %s is not supported; write the column as numbers or text", t)
	}
	if unsigned && t.Kind() == parquet.Int32 {
		conv = func(v parquet.Value, l *listed) cell { return float64(v.Uint32()) }
	}
	if scale >= 0 {
		conv = decimal(t.Kind(), scale)
	}
	return func(v parquet.Value, l *listed) cell {
		if v.IsNull() {
			return missing
		}
		return conv(v, l)
	}, nil
}

// decimal reads integers of 10^−scale; in bytes they are big-endian, two's
// complement.
func decimal(k parquet.Kind, scale int) func(parquet.Value, *listed) cell {
	unit := math.Pow10(scale)
	return func(v parquet.Value, _ *listed) cell {
		switch k {
		case parquet.Int32:
			return float64(v.Int32()) / unit
		case parquet.Int64:
			return float64(v.Int64()) / unit
		}
		b := v.ByteArray()
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		f, _ := new(big.Float).SetInt(n).Float64()
		return f / unit
	}
}

// parse makes a cell of a text: it may be a number, as in a CSV file.
func (l *listed) parse(s string) cell {
	b := []byte(s)
	c := classify(trim(b), '.', len(l.list))
	if k, _ := unbox(c); k == Text {
		l.list = append(l.list, string(trim(b)))
	}
	return c
}

// integer keeps those that float64 cannot hold as text: they are identifiers.
func (l *listed) integer(v int64) cell {
	if f := float64(v); int64(f) == v && f != 1<<63 {
		return f
	}
	l.list = append(l.list, strconv.FormatInt(v, 10))
	return box(Text, len(l.list)-1)
}
