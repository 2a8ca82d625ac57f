package main

import (
	"bytes"
	"compress/gzip"
	"io"

	"utvi/internal/inputfile"
)

// estimateRows guesses the number of rows of a text file, also of a compressed one, from
// its size and the lines at its start. It is 0 where that does not tell: for standard
// input and for formats without lines.
func estimateRows(path string) int {
	f, size, err := inputfile.Open(path)
	if err != nil {
		return 0 // which reading it will report
	}
	defer f.Close()
	in := &countedReader{r: f}
	start := make([]byte, 1<<20)
	n, _ := io.ReadFull(in, start[:2])
	var src io.Reader = in
	if bytes.HasPrefix(start[:n], []byte{0x1f, 0x8b}) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0
		}
		in.n, n = 0, 0
		src, err = gzip.NewReader(in)
		if err != nil {
			return 0
		}
	}
	m, _ := io.ReadFull(src, start[n:])
	start = start[:n+m]
	lines := bytes.Count(start, []byte{'\n'})
	if bytes.IndexByte(start, 0) >= 0 || in.n == 0 {
		return 0
	}
	return int(float64(lines) * float64(size) / float64(in.n))
}

// A countedReader counts the bytes that were read.
type countedReader struct {
	r io.Reader
	n int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
