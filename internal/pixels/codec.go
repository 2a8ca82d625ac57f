package pixels

import (
	"errors"
	"fmt"
	"strings"
)

// A Size is that of an image.
type Size struct {
	Height, Width, Channels int

	// More is what the decoder of its kind takes beyond what all take, in bytes, at most.
	More int64
}

// Memory is how many bytes reading an image of this size takes at most: the decoder's copy, one of
// sixteen bits a channel, and the numbers.
func (s Size) Memory() int64 {
	const perPixel = 4 + 8 + 12
	return int64(s.Height)*int64(s.Width)*perPixel + s.More
}

// A Codec reads one kind of image file, of which it gets the bytes.
type Codec struct {
	Name   string
	Is     func(b []byte) bool          // by the first bytes
	Size   func(b []byte) (Size, error) // by the header; what follows may be missing
	Decode func(b []byte) (*Image, error)
}

var codecs []Codec

// Register makes Decode read a kind of file. It is called by the package of the codec when a program
// starts.
func Register(c Codec) { codecs = append(codecs, c) }

// Decode reads the image in a file of which b are the bytes. An error says what is wrong with it.
func Decode(b []byte) (*Image, error) {
	if len(b) == 0 {
		return nil, errors.New("the file is empty")
	}
	for _, c := range codecs {
		if c.Is(b) {
			return c.Decode(b)
		}
	}
	return nil, errUnknown()
}

// errUnknown is the error about bytes that no codec reads.
func errUnknown() error {
	if len(codecs) == 0 {
		return errors.New("this program reads no images; import utvi/table/images to make it")
	}
	var names []string
	for _, c := range codecs {
		names = append(names, c.Name)
	}
	return fmt.Errorf("it is no image that is known; known are %s", strings.Join(names, ", "))
}
