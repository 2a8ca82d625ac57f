// Package parquet reads and writes Parquet files. A program that imports it reads them
// with table.Open as well.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"utvi/table"
)

func init() { table.Register(table.Format{Magic: "PAR1", Open: open}) }

// rows reads the row groups of a file one after the other, page by page.
type rows struct {
	columns []string
	convs   []func(parquet.Value, *table.Builder)
	groups  []parquet.RowGroup
	rows    parquet.Rows
	buf     []parquet.Row
	row     int
	build   *table.Builder
}

// maxCells bounds the memory of a chunk that is very wide.
const maxCells = 1 << 22

func open(r io.ReaderAt, size int64) (_ table.Rows, err error) {
	defer damaged(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(r, size)
	if err != nil {
		return nil, because(err)
	}
	p := &rows{groups: f.RowGroups()}
	for _, field := range f.Schema().Fields() {
		conv, err := converter(field)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", field.Name(), err)
		}
		p.columns, p.convs = append(p.columns, field.Name()), append(p.convs, conv)
	}
	p.buf = make([]parquet.Row, min(table.MaxRows, max(1, maxCells/max(1, len(p.convs)))))
	return p, nil
}

// checkFooter compares the length of the footer, for which the Parquet library takes memory
// before it looks, with the file: "PAR1", columns, footer, its length in four bytes, "PAR1".
func checkFooter(r io.ReaderAt, size int64) error {
	const around = 4 + 4 + 4
	var end [8]byte
	if size < around {
		return errDamaged
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return err
	}
	if string(end[4:]) != "PAR1" || int64(binary.LittleEndian.Uint32(end[:])) > size-around {
		return errDamaged
	}
	return nil
}

// damaged turns a panic of the Parquet library, which trusts what is in the file,
// into an error.
func damaged(err *error) {
	if recover() != nil {
		*err = errDamaged
	}
}

var errDamaged = errors.New("the Parquet file is damaged")

// because adds a reason to errDamaged, unless it is longer than a sentence: the library tells its
// way into what is nested, however deep.
func because(reason error) error {
	if len(reason.Error()) > 300 {
		return errDamaged
	}
	return fmt.Errorf("%w: %w", errDamaged, reason)
}

func (p *rows) Columns() []string { return p.columns }

func (p *rows) Close() error {
	if p.rows == nil {
		return nil
	}
	return p.rows.Close()
}

func (p *rows) Next(h *table.Header) (c *table.Chunk, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("cannot read %s: %w", h.File, errDamaged)
		}
	}()
	if p.build == nil {
		p.build = table.NewBuilder(h)
	}
	for {
		if p.rows == nil {
			if len(p.groups) == 0 {
				return nil, io.EOF
			}
			p.rows, p.groups = p.groups[0].Rows(), p.groups[1:]
		}
		n, err := p.rows.ReadRows(p.buf)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("cannot read %s: %w", h.File, because(err))
		}
		if n == 0 && err == io.EOF {
			p.rows.Close()
			p.rows = nil
		}
		if n > 0 {
			return p.chunk(h, p.buf[:n])
		}
	}
}

func (p *rows) chunk(h *table.Header, rows []parquet.Row) (*table.Chunk, error) {
	for _, row := range rows {
		p.row++
		if len(row) != len(p.convs) {
			return nil, fmt.Errorf("cannot read %s: row %d has %d values; %d are expected", h.File, p.row, len(row), len(p.convs))
		}
		for j, v := range row {
			p.convs[j](v, p.build)
		}
	}
	return p.build.Chunk()
}

// A conversion adds a value to a row.
type conversion func(parquet.Value, *table.Builder)

// conversions are those of the plain types.
var conversions = map[parquet.Kind]conversion{
	parquet.Boolean:           func(v parquet.Value, b *table.Builder) { b.Parse(strconv.FormatBool(v.Boolean())) },
	parquet.Int32:             func(v parquet.Value, b *table.Builder) { b.Number(float64(v.Int32())) },
	parquet.Int64:             func(v parquet.Value, b *table.Builder) { b.Integer(v.Int64()) },
	parquet.Float:             func(v parquet.Value, b *table.Builder) { b.Number(float64(v.Float())) },
	parquet.Double:            func(v parquet.Value, b *table.Builder) { b.Number(v.Double()) },
	parquet.ByteArray:         addBytes,
	parquet.FixedLenByteArray: addBytes,
}

func addBytes(v parquet.Value, b *table.Builder) { b.Parse(string(v.ByteArray())) }

func addUnsigned(v parquet.Value, b *table.Builder) { b.Number(float64(v.Uint32())) }

// converter returns what adds a column's values to a row.
func converter(field parquet.Field) (func(parquet.Value, *table.Builder), error) {
	if !field.Leaf() || field.Repeated() {
		return nil, errors.New("the file holds lists or groups; plain columns are needed")
	}
	t := field.Type()
	convert, ok := conversions[t.Kind()]
	if !ok {
		return nil, fmt.Errorf("the type %s is not supported; write numbers or text", t)
	}
	if logical := t.LogicalType(); logical != nil {
		switch d := logical.Value.(type) {
		case *format.DecimalType:
			if d.Scale >= 0 {
				convert = decimal(t.Kind(), int(d.Scale))
			}
		case *format.IntType:
			if !d.IsSigned && t.Kind() == parquet.Int32 {
				convert = addUnsigned
			}
		}
	}
	return func(v parquet.Value, b *table.Builder) {
		if v.IsNull() {
			b.Missing()
			return
		}
		convert(v, b)
	}, nil
}

// decimal reads integers of 10^−scale; in bytes they are big-endian, two's
// complement.
func decimal(k parquet.Kind, scale int) func(parquet.Value, *table.Builder) {
	unit := math.Pow10(scale)
	return func(v parquet.Value, b *table.Builder) {
		switch k {
		case parquet.Int32:
			b.Number(float64(v.Int32()) / unit)
			return
		case parquet.Int64:
			b.Number(float64(v.Int64()) / unit)
			return
		}
		bytes := v.ByteArray()
		n := new(big.Int).SetBytes(bytes)
		if len(bytes) > 0 && bytes[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
		}
		f, _ := new(big.Float).SetInt(n).Float64()
		b.Number(f / unit)
	}
}
