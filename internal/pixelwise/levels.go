package pixelwise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"utvi/internal/compute"
	"utvi/internal/memory"
	"utvi/internal/pixels"
)

// Levels are the colours that stand for classes, in rising order: each has a number for every channel,
// as a file stores it between 0 and 1, or an array as it is.
type Levels [][]float32

// MostClasses is how many classes of pixels a model tells apart.
const MostClasses = 64

// A key is a colour as a map finds it.
type key [3]uint32

func keyOf(p []float32) (k key) {
	for i, v := range p {
		k[i] = math.Float32bits(v)
	}
	return k
}

// levelsOf finds the colours of targets, at most one more than MostClasses.
func levelsOf(p Pairs, f pixels.Format, pool *compute.Pool) Levels {
	var lock sync.Mutex
	seen := map[key][]float32{}
	var many atomic.Bool
	pool.Run(len(p.Targets), func(_, task int) {
		if many.Load() {
			return
		}
		im, err := p.Reader.Read(p.Targets[task])
		if err != nil {
			return // which loading tells
		}
		im = f.FitClasses(im)
		own := map[key][]float32{}
		for i := 0; i < len(im.Pix) && len(own) <= MostClasses; i += f.Channels {
			own[keyOf(im.Pix[i:i+f.Channels])] = im.Pix[i : i+f.Channels]
		}
		lock.Lock()
		defer lock.Unlock()
		for k, v := range own {
			if len(seen) <= MostClasses {
				seen[k] = slices.Clone(v)
			}
		}
		many.Store(len(seen) > MostClasses)
	})
	var all Levels
	for _, v := range seen {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b []float32) int { return slices.Compare(a, b) })
	return all
}

// Name is what a class is called: its grey or its colour as a file has it, or its number.
func (l Levels) Name(k int) string {
	c := l[k]
	whole := func(v float32) bool {
		return math.Abs(float64(v)*255-math.Round(float64(v)*255)) < 1e-4 && v >= 0 && v <= 1
	}
	switch {
	case len(c) == 3:
		return fmt.Sprintf("#%02x%02x%02x", toByte(c[0]), toByte(c[1]), toByte(c[2]))
	case whole(c[0]):
		return fmt.Sprint(toByte(c[0]))
	}
	return fmt.Sprint(c[0])
}

func toByte(v float32) byte { return byte(min(max(v, 0), 1)*255 + 0.5) }

// classMaps are the classes of pixels.
type classMaps struct {
	pairs   Pairs
	format  pixels.Format
	numbers map[key]byte
	kept    []byte // all of them; nil: they are read when they are needed
	failed  atomic.Pointer[error]
}

// loadClasses reads all targets.
func loadClasses(p Pairs, f pixels.Format, levels Levels, pool *compute.Pool) (*classMaps, map[int]error) {
	m := &classMaps{pairs: p, format: f, numbers: map[key]byte{}}
	for i, l := range levels {
		m.numbers[keyOf(l)] = byte(i)
	}
	size := f.Height * f.Width
	const share = 0.25
	if float64(size)*float64(len(p.Targets)) <= share*memory.Available() {
		m.kept = make([]byte, size*len(p.Targets))
	}
	all := make([]error, len(p.Targets))
	pool.Run(len(p.Targets), func(_, task int) {
		to := make([]byte, size)
		if m.kept != nil {
			to = m.kept[task*size : (task+1)*size]
		}
		all[task] = m.decode(task, to)
	})
	faults := map[int]error{}
	for i, err := range all {
		if err != nil {
			faults[i] = err
		}
	}
	return m, faults
}

// decode reads the classes of an image.
func (m *classMaps) decode(i int, to []byte) error {
	im, err := m.pairs.Reader.Read(m.pairs.Targets[i])
	if err != nil {
		return err
	}
	im = m.format.FitClasses(im)
	c := m.format.Channels
	for at := range to {
		class, ok := m.numbers[keyOf(im.Pix[at*c:(at+1)*c])]
		if !ok {
			return fmt.Errorf("%s has a colour, %v, that no image to learn from has", m.pairs.Targets[i], im.Pix[at*c:(at+1)*c])
		}
		to[at] = class
	}
	return nil
}

// Read implements targetMaps.
func (m *classMaps) Read(i int, dst []float32) {
	from := m.kept
	if from == nil {
		from = make([]byte, len(dst))
		if err := m.decode(i, from); err != nil {
			m.failed.CompareAndSwap(nil, &err)
		}
	} else {
		from = from[i*len(dst) : (i+1)*len(dst)]
	}
	for k, v := range from {
		dst[k] = float32(v)
	}
}

// Err implements targetMaps.
func (m *classMaps) Err() error {
	if err := m.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// settle decides whether targets are classes: few colours are, unless numbers are asked for.
func (c Config) settle(p Pairs, f pixels.Format, pool *compute.Pool) (Levels, error) {
	const few = 16
	if c.Task == regression {
		return nil, nil
	}
	all := levelsOf(p, f, pool)
	switch {
	case c.Task == "" && len(all) > few:
		return nil, nil
	case len(all) > MostClasses:
		return nil, fmt.Errorf("%s: the images of the target %s have more than %d colours, so that they are no classes; JPEG mixes colours, PNG keeps them", p.File, c.Target, MostClasses)
	case len(all) == 1:
		return nil, fmt.Errorf("%s: all pixels of the target %s have one colour, %s; there is nothing to learn", p.File, c.Target, cmp.Or(all.Name(0), "none"))
	}
	return all, nil
}
