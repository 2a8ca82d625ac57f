package pixels

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"utvi/internal/inputfile"
	"utvi/internal/npy"
)

// The images of an array are called like files: x.npy[12] is the image of number 12, from 0, in
// x.npy. The layout follows, x.npy[12,nchw], where it was decided by hand.
var inArray = regexp.MustCompile(`^(.*\.npy)\[([0-9]{1,15})(?:,(nhwc|nchw))?\]$`)

// Layouts are the names of the layouts of arrays with channels: behind the sides, or in front.
var Layouts = []string{"nhwc", "nchw"}

// InArray is what an image of an array is called; layout is "" where the shape decides.
func InArray(file string, i int, layout string) string {
	if layout != "" {
		layout = "," + layout
	}
	return fmt.Sprintf("%s[%d%s]", file, i, layout)
}

// An Array is a .npy file of images.
type Array struct {
	Size
	Images int
	Kind   string // of its numbers, as NumPy calls it, such as u1

	path     string
	head     *npy.Header
	channels bool // it has an axis of channels
	first    bool // in front of the sides
	file     fileStamp
}

// A fileStamp tells whether a file is the one that was looked at before.
type fileStamp struct {
	size int64
	when time.Time
}

// OpenArray reads the header of an array of images: N×H×W, N×H×W×C or N×C×H×W, with 1, 3 or 4
// channels. The layout is one of Layouts; "": the axis that has 1, 3 or 4 numbers is that of the
// channels, the last if both have.
func OpenArray(path, layout string) (*Array, error) {
	f, size, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return openArray(f, size, path, layout)
}

func openArray(f *inputfile.File, size int64, path, layout string) (*Array, error) {
	head, err := npy.Read(bufio.NewReaderSize(f, 256))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	a := &Array{path: path, head: head, Kind: head.Kind, file: fileStamp{size: size}}
	if info, err := f.Stat(); err == nil {
		a.file.when = info.ModTime()
	}
	if err := a.lay(layout); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	numbers := float64(a.Images) * float64(a.numbers())
	if float64(size-head.Start) < numbers*float64(head.Size()) {
		return nil, fmt.Errorf("cannot read %s: %w", path, npy.ErrTruncated)
	}
	return a, nil
}

// lay finds out which axis is which.
func (a *Array) lay(layout string) error {
	shape := a.head.Shape
	for _, n := range shape {
		if n < 1 || n > 1<<40 {
			return fmt.Errorf("the array has the shape (%.60s); every axis needs numbers", a.head.Written)
		}
	}
	if a.head.Fortran {
		return errors.New("the array is in Fortran order; numpy.ascontiguousarray(x) turns it")
	}
	if len(shape) == 3 {
		a.Images = shape[0]
		a.Size = Size{Height: shape[1], Width: shape[2], Channels: 1}
		return nil
	}
	if len(shape) != 4 {
		return fmt.Errorf("the array has the shape (%.60s); images need three axes, or four with channels: N×H×W, N×H×W×C or N×C×H×W", a.head.Written)
	}
	a.channels = true
	a.Images = shape[0]
	a.first = layout == "nchw" || layout == "" && !isChannels(shape[3]) && isChannels(shape[1])
	a.Size = Size{Height: shape[1], Width: shape[2], Channels: shape[3]}
	if a.first {
		a.Size = Size{Height: shape[2], Width: shape[3], Channels: shape[1]}
	}
	if !isChannels(a.Channels) {
		return fmt.Errorf("the array has the shape (%.60s), with %d channels; 1 (grey), 3 (colours) or 4 (with alpha) are possible", a.head.Written, a.Channels)
	}
	return nil
}

func isChannels(n int) bool { return n == 1 || n == 3 || n == 4 }

// numbers are those of an image.
func (a *Array) numbers() int { return a.Height * a.Width * a.Channels }

// image reads the image of a number.
func (a *Array) image(f io.ReaderAt, i int) (*Image, error) {
	if i >= a.Images {
		return nil, fmt.Errorf("%s has %d images, counted from 0; there is no image %d", a.path, a.Images, i)
	}
	if err := Fits(a.Size); err != nil {
		return nil, fmt.Errorf("%s: %w", a.path, err)
	}
	v, err := a.read(f, i)
	if err != nil {
		return nil, err
	}
	scale, bytes, err := a.scale(f)
	if err != nil {
		return nil, err
	}
	im := &Image{Height: a.Height, Width: a.Width, Channels: a.Channels, Bytes: bytes, Kind: "npy"}
	im.Pix = make([]float32, len(v))
	for k, x := range v {
		if bytes {
			im.Pix[k] = OfByte(byte(x))
		} else {
			im.Pix[k] = float32(x / scale)
		}
		if y := im.Pix[k]; y-y != 0 {
			return nil, fmt.Errorf("%s: a pixel is not a finite number", InArray(a.path, i, ""))
		}
	}
	if a.first {
		im.Pix = im.channelsLast()
	}
	if a.Channels == 4 {
		return im.onWhite(), nil
	}
	return im, nil
}

// read returns the numbers of an image as they are stored.
func (a *Array) read(f io.ReaderAt, i int) ([]float64, error) {
	n := a.numbers()
	size := a.head.Size()
	b := make([]byte, n*size)
	if _, err := f.ReadAt(b, a.head.Start+int64(i)*int64(len(b))); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", a.path, bare(err))
	}
	v := make([]float64, n)
	for k := range v {
		v[k] = a.head.Number(b[k*size:])
	}
	return v, nil
}

// scales are those of arrays that were looked at.
var scales sync.Map // of path → known

type known struct {
	file  fileStamp
	scale float64
	bytes bool
}

// scale is what numbers are divided by, and whether they are those of bytes: numbers of one or two
// bytes go from 0 to 1, and so do wider ones if all that are looked at are whole, from 0 to 255, and some
// are above 1. All others stay as they are.
func (a *Array) scale(f io.ReaderAt) (scale float64, bytes bool, err error) {
	const byteMost, wordMost = 255, 65535
	switch a.Kind {
	case "u1":
		return byteMost, true, nil
	case "u2":
		return wordMost, false, nil
	case "b1":
		return 1, false, nil
	}
	if k, ok := scales.Load(a.path); ok && k.(known).file == a.file {
		return k.(known).scale, k.(known).bytes, nil
	}
	const looked = 64
	most := 0.0
	whole := true
	for i := 0; i < a.Images && whole; i += max(1, a.Images/looked) {
		v, err := a.read(f, i)
		if err != nil {
			return 0, false, err
		}
		for _, x := range v {
			whole = whole && x >= 0 && x <= byteMost && x == math.Trunc(x)
			most = max(most, x)
		}
	}
	k := known{file: a.file, scale: 1}
	if whole && most > 1 {
		k.scale = byteMost
		k.bytes = a.Kind[0] != 'f' // others may follow that are not whole
	}
	scales.Store(a.path, k)
	return k.scale, k.bytes, nil
}

// channelsLast is the pixels of an image whose channels come first.
func (im *Image) channelsLast() []float32 {
	n := im.Height * im.Width
	out := make([]float32, len(im.Pix))
	for c := range im.Channels {
		for i := range n {
			out[i*im.Channels+c] = im.Pix[c*n+i]
		}
	}
	return out
}

// onWhite lays what is transparent on white.
func (im *Image) onWhite() *Image {
	out := *im
	out.Channels = 3
	out.Pix = make([]float32, 0, im.Height*im.Width*3)
	for i := 0; i < len(im.Pix); i += 4 {
		alpha := im.Pix[i+3]
		for _, v := range im.Pix[i : i+3] {
			v = float32(alpha*v) + 1 - alpha
			if im.Bytes {
				v = OfByte(toByte(v))
			}
			out.Pix = append(out.Pix, v)
		}
	}
	return &out
}

// element reads an image of an array, if a text names one.
func (r Reader) element(text string) (im *Image, found bool, err error) {
	f, a, i, err := r.array(text)
	if f == nil {
		return nil, err != nil, err
	}
	defer f.Close()
	im, err = a.image(f, i)
	return im, true, err
}

// array opens the array that a text names an image of; nil if it names none.
func (r Reader) array(text string) (*inputfile.File, *Array, int, error) {
	if r.Inline || len(text) == 0 || text[len(text)-1] != ']' {
		return nil, nil, 0, nil
	}
	m := inArray.FindStringSubmatch(text)
	if m == nil {
		return nil, nil, 0, nil
	}
	i, err := strconv.Atoi(m[2])
	if err != nil {
		return nil, nil, 0, err
	}
	f, size, err := inputfile.Open(r.path(filepath.FromSlash(m[1])))
	if err != nil {
		return nil, nil, 0, err
	}
	a, err := openArray(f, size, r.path(m[1]), m[3])
	if err != nil {
		f.Close()
		return nil, nil, 0, err
	}
	return f, a, i, nil
}
