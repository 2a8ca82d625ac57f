package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"utvi/internal/compute"
)

const (
	blockSize = 512 << 10
	// A record may not be longer: a quote that is never closed must not fill the
	// memory.
	maxRecord = 16 << 20
)

// csvRows reads blocks of whole lines and parses several at a time: while some
// tasks of the pool parse, one reads the blocks to come.
type csvRows struct {
	delim byte
	head  *Header
	src   io.Reader
	pool  *compute.Pool
	size  int // of a block

	line    int      // of the next block, from 1
	rest    []byte   // read, but not yet cut into blocks
	readErr error    // what ended the reading
	coming  []*block // read
	parsed  []*block
	row     int // of parsed[0], the next to go out
	failed  error
}

func (r *csvRows) next() (*Chunk, error) {
	r.head.decimals.begun = true
	for {
		if r.failed != nil {
			return nil, r.failed
		}
		if len(r.parsed) > 0 {
			if c := r.cut(r.parsed[0]); c != nil {
				return c, nil
			}
			r.failed = r.leave(r.parsed[0])
			r.parsed = r.parsed[1:]
			continue
		}
		if len(r.coming) == 0 {
			r.read()
		}
		if len(r.coming) == 0 {
			r.failed = r.readErr
			continue
		}
		r.parsed, r.coming = r.coming, nil
		r.pool.Run(len(r.parsed)+1, func(_, task int) {
			if task == 0 {
				r.read()
			} else {
				r.parsed[task-1].parse()
			}
		})
	}
}

// cut returns the next rows of a block, nil if all have gone out.
func (r *csvRows) cut(b *block) *Chunk {
	n := min(MaxRows, len(b.starts)-r.row)
	if n == 0 || b.err != nil {
		return nil
	}
	width := len(r.head.Columns)
	c := &Chunk{head: r.head, rows: n, first: r.row, texts: b, where: b.lines[r.row : r.row+n]}
	c.cells = b.cells[r.row*width : (r.row+n)*width]
	for i := range c.where {
		c.where[i] += r.line
	}
	r.row += n
	return c
}

// leave steps to the next block.
func (r *csvRows) leave(b *block) error {
	if e := b.err; e != nil {
		at := r.head.At(r.line + e.line)
		if e.col >= 0 {
			at += ", column " + r.head.Columns[e.col]
		}
		return fmt.Errorf("%s: %s", at, e.what)
	}
	r.line += b.newlines
	r.row = 0
	return nil
}

// read gathers blocks for all workers. Few at first, so that short files and the
// first rows of long ones come at once.
func (r *csvRows) read() {
	for range 2 * r.pool.Workers() {
		if r.readErr != nil {
			return
		}
		if b := r.readBlock(); b != nil {
			r.coming = append(r.coming, b)
		}
	}
}

// readBlock reads up to the last line that ends within the size of a block.
func (r *csvRows) readBlock() *block {
	size := r.size
	for {
		buf := make([]byte, max(size, len(r.rest)))
		n := copy(buf, r.rest)
		m, err := io.ReadFull(r.src, buf[n:])
		buf = buf[:n+m]
		if err != nil {
			r.readErr, r.rest = r.explain(err), nil
			if r.readErr != io.EOF || len(bytes.TrimSpace(buf)) == 0 {
				return nil
			}
			return r.block(buf)
		}
		if end := lastRecord(buf); end > 0 {
			r.rest = append([]byte(nil), buf[end:]...)
			return r.block(buf[:end])
		}
		size *= 2
		if size > maxRecord {
			r.readErr = fmt.Errorf("%s: a row is longer than %d MiB; is a quote (\") not closed?", r.head.File, maxRecord>>20)
			return nil
		}
		r.rest = buf
	}
}

func (r *csvRows) block(data []byte) *block {
	return &block{delim: r.delim, points: r.head.decimals.points, head: r.head, data: data}
}

// explain names the file; the end of the file is not an error.
func (r *csvRows) explain(err error) error {
	if err == io.EOF || errors.Is(err, errShort) {
		return io.EOF
	}
	return readError(r.head.File, err)
}

// errShort is what io.ReadFull says at the end of a file; a compressed file that
// breaks off says the same through its own wrapping (see unzip).
var errShort = io.ErrUnexpectedEOF

// lastRecord returns the end of the last line of b that ends outside quotes, 0 if
// no line does. Quotes within fields are doubled, so their number is enough.
func lastRecord(b []byte) int {
	quote := []byte{'"'}
	odd := bytes.Count(b, quote)%2 == 1
	for end := len(b); ; {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 {
			return 0
		}
		if bytes.Count(b[i:end], quote)%2 == 1 {
			odd = !odd
		}
		if !odd {
			return i + 1
		}
		end = i
	}
}
