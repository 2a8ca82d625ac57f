package frames

import (
	"bytes"
	"errors"
)

// A First is the first page of a TIFF in memory, of which b are the bytes.
type First struct {
	Width, Height int
	Float         bool // its pixels are floats; else they are whole numbers

	b    []byte
	page page
}

// FirstPage reads the directory of the first page; what follows it may be missing. A page that is no
// image of one number a pixel is an error.
func FirstPage(b []byte) (*First, error) {
	h, at, err := readHeader(bytes.NewReader(b), int64(len(b)), "")
	if err != nil {
		return nil, err
	}
	f := &First{b: b}
	if at == 0 {
		return nil, errors.New("there is no image in it")
	}
	if _, err := h.readPage(bytes.NewReader(b), at, &f.page); err != nil {
		return nil, err
	}
	if err := f.page.check(); err != nil {
		return nil, err
	}
	f.Width = f.page.width
	f.Height = f.page.height
	f.Float = f.page.kind == 'f'
	return f, nil
}

// Read returns the pixels, row by row, as they are stored.
func (f *First) Read() ([]float32, error) {
	pix := make([]float32, f.Width*f.Height)
	return pix, f.page.read(bytes.NewReader(f.b), pix, &scratch{}, int64(len(f.b)))
}
