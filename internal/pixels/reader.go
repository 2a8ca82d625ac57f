package pixels

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"utvi/internal/inputfile"
)

// A Reader reads the images that cells of a table name, or hold.
type Reader struct {
	// Folder is where paths begin that do not begin at the root.
	Folder string

	// Inline refuses paths: a request must not read the files of a server. Images then are
	// in base64, with or without "data:image/png;base64," in front.
	Inline bool
}

// Read reads the image that a text names or holds. An error names it and says what is wrong.
func (r Reader) Read(text string) (*Image, error) {
	if im, found, err := r.element(text); found {
		return im, err
	}
	b, err := r.bytes(text)
	if err != nil {
		return nil, err
	}
	im, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.called(text), err)
	}
	return im, nil
}

// Size reads what the header of an image states.
func (r Reader) Size(text string) (Size, error) {
	f, a, _, err := r.array(text)
	if err != nil {
		return Size{}, err
	}
	if f != nil {
		f.Close()
		s := a.Size
		if s.Channels == 4 {
			s.Channels = 3
		}
		return s, nil
	}
	b, err := r.start(text)
	if err != nil {
		return Size{}, err
	}
	for _, c := range codecs {
		if !c.Is(b) {
			continue
		}
		s, err := c.Size(b)
		switch {
		case err == nil:
			return s, nil
		case r.held(text): // all of it is there: nothing is unpacked that states no size
			return Size{}, fmt.Errorf("%s: %w", r.called(text), err)
		}
	}
	im, err := r.Read(text) // the header is longer, or damaged
	if err != nil {
		return Size{}, err
	}
	return Size{Height: im.Height, Width: im.Width, Channels: im.Channels}, nil
}

// held reports whether the text is the image, not its name.
func (r Reader) held(text string) bool { return r.Inline || isData(text) }

// called is how messages name an image.
func (r Reader) called(text string) string {
	if r.held(text) {
		return "the image"
	}
	return r.path(text)
}

func (r Reader) path(text string) string {
	if filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(r.Folder, text)
}

func isData(text string) bool { return strings.HasPrefix(text, "data:") }

// twice is how much memory an image file takes for a byte: its copy, and some room.
const twice = 2

// bytes are those of the file that a text names, or that it holds.
func (r Reader) bytes(text string) ([]byte, error) {
	if !r.held(text) {
		return inputfile.Read(r.path(text), twice)
	}
	if isData(text) {
		head, body, found := strings.Cut(text, ",")
		if !found || !strings.HasSuffix(head, ";base64") {
			return nil, errors.New(`the image begins with "data:" but is not in base64; write data:image/png;base64, and the bytes in base64`)
		}
		text = body
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 {
		return nil, errors.New("the image is not in base64; send the bytes of a PNG or JPEG file in base64")
	}
	return b, nil
}

// startSize is how much of a file is read to find out the size of the image.
const startSize = 1 << 16

// start is the first part of an image.
func (r Reader) start(text string) ([]byte, error) {
	if r.held(text) {
		return r.bytes(text)
	}
	f, size, err := inputfile.Open(r.path(text))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, min(size, startSize))
	n, err := f.ReadAt(b, 0)
	if n == 0 && err != nil && size > 0 {
		return nil, fmt.Errorf("cannot read %s: %w", r.path(text), errors.Unwrap(err))
	}
	return b[:n], nil
}
