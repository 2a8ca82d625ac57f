package pixels

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync/atomic"

	"utvi/internal/compute"
	"utvi/internal/memory"
)

// A Set is images that have been read once and fitted to a format. They stay in memory if they
// take no more than a quarter of what is free; otherwise they are decoded whenever they are needed.
// Goroutines may share it.
type Set struct {
	format Format
	reader Reader
	names  []string
	failed atomic.Pointer[error]
	bytes  []byte // all images, if each of their numbers is a byte
	whole  bool   // each of their numbers is a byte
}

// A Fault is an image that could not be read.
type Fault struct {
	Image int // its number among the names
	Err   error
}

// Loaded is the result of Load.
type Loaded struct {
	Set    *Set
	Kept   []int    // the numbers of the names that the set has
	Hashes []uint64 // of the pixels of each image of the set
	Faults []Fault
}

// Load reads the images with these names, many at a time, and finds the scale of the format: the mean
// and the standard deviation of the channels. What cannot be read is left out.
func Load(r Reader, names []string, f Format, pool *compute.Pool) *Loaded {
	l := newLoading(r, names, f)
	pool.Run(len(names), func(_, task int) { l.read(task) })
	return l.close()
}

// A loading is a Load under way. What is known of an image is in its place, so that sums are taken
// in the order of the images.
type loading struct {
	Set
	hash   []uint64
	faults []error
	whole  []bool    // the numbers are bytes
	sums   []float64 // of each image and channel
	square []float64
}

func newLoading(r Reader, names []string, f Format) *loading {
	n := len(names)
	l := &loading{Set: Set{format: f, reader: r, names: names},
		hash: make([]uint64, n), faults: make([]error, n), whole: make([]bool, n),
		sums: make([]float64, n*f.Channels), square: make([]float64, n*f.Channels)}
	const share = 0.25
	size := float64(n) * float64(f.Size())
	free := share * memory.Available()
	if size <= free {
		l.bytes = make([]byte, n*f.Size())
	}
	return l
}

// read reads an image.
func (l *loading) read(i int) {
	im, err := l.reader.Read(l.names[i])
	if err != nil {
		l.faults[i] = err
		return
	}
	im = l.format.Fit(im)
	l.whole[i] = im.Bytes
	size := l.format.Size()
	c := l.format.Channels
	text := make([]byte, 0, 4*size)
	for k, v := range im.Pix {
		l.sums[i*c+k%c] += float64(v)
		l.square[i*c+k%c] += float64(v) * float64(v)
		text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v))
		if l.bytes != nil {
			l.bytes[i*size+k] = toByte(v)
		}
	}
	sum := sha256.Sum256(text)
	l.hash[i] = binary.LittleEndian.Uint64(sum[:])
}

// close puts the images that were read together.
func (l *loading) close() *Loaded {
	size := l.format.Size()
	s := &Set{reader: l.reader, format: l.format}
	out := &Loaded{Set: s}
	whole := true
	for i, err := range l.faults {
		if err != nil {
			out.Faults = append(out.Faults, Fault{i, err})
			continue
		}
		if l.bytes != nil {
			copy(l.bytes[len(out.Kept)*size:], l.bytes[i*size:(i+1)*size])
		}
		out.Kept = append(out.Kept, i)
		out.Hashes = append(out.Hashes, l.hash[i])
		s.names = append(s.names, l.names[i])
		whole = whole && l.whole[i]
	}
	s.whole = whole
	if whole && l.bytes != nil {
		s.bytes = l.bytes[:len(out.Kept)*size]
	}
	l.scale(s, out.Kept)
	return out
}

// scale finds the means and standard deviations of the channels.
func (l *loading) scale(s *Set, kept []int) {
	if s.format.Mean != nil { // it is given
		return
	}
	c := s.format.Channels
	n := float64(len(kept)*s.format.Size()) / float64(c)
	s.format.Mean = make([]float64, c)
	s.format.SD = make([]float64, c)
	for k := range c {
		var sum, square float64
		for _, i := range kept {
			sum += l.sums[i*c+k]
			square += l.square[i*c+k]
		}
		mean := sum / max(1, n)
		const least = 1e-3 // of images that are all the same
		s.format.Mean[k] = mean
		s.format.SD[k] = max(least, math.Sqrt(max(0, square/max(1, n)-mean*mean)))
	}
}

// Len is the number of images.
func (s *Set) Len() int { return len(s.names) }

// Format is how the images become numbers, with the scale that they have.
func (s *Set) Format() Format { return s.format }

// Spans are what a network sees of black and white, in each channel; nil if numbers have no such
// bounds.
func (s *Set) Spans() (least, most []float32) {
	if !s.whole {
		return nil, nil
	}
	for c, mean := range s.format.Mean {
		least = append(least, float32(-mean/s.format.SD[c]))
		most = append(most, float32((1-mean)/s.format.SD[c]))
	}
	return least, most
}

// Err is the error about the first image that could be read once, but not when it was needed again;
// Read has left its numbers 0.
func (s *Set) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Read writes image i to dst as a network sees it.
func (s *Set) Read(i int, dst []float32) {
	size := s.format.Size()
	if s.bytes != nil {
		for k, v := range s.bytes[i*size : (i+1)*size] {
			dst[k] = OfByte(v)
		}
		s.format.Scale(dst, dst)
		return
	}
	im, err := s.reader.Read(s.names[i])
	if err != nil {
		s.failed.CompareAndSwap(nil, &err)
		clear(dst)
		return
	}
	s.format.Encode(im, dst)
}
