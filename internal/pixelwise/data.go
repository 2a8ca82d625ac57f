package pixelwise

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"utvi/internal/compute"
	"utvi/internal/pixels"
	"utvi/nn"
	"utvi/rng"
)

// Pairs are images and their targets, as a Reader takes them.
type Pairs struct {
	File    string // that messages name
	Reader  pixels.Reader
	Images  []string
	Targets []string
}

// pick are some of the pairs.
func (p Pairs) pick(rows []int) Pairs {
	out := Pairs{File: p.File, Reader: p.Reader}
	for _, i := range rows {
		out.Images = append(out.Images, p.Images[i])
		out.Targets = append(out.Targets, p.Targets[i])
	}
	return out
}

// split holds out a share of the pairs, drawn by lot.
func (p Pairs) split(share float64, seed uint64) (learn, held Pairs) {
	order := make([]int32, len(p.Images))
	rng.Perm(rng.New(seed).Sub(0, 0), order)
	n := 0
	if share > 0 {
		n = max(1, int(share*float64(len(order))))
	}
	var rows [2][]int
	for i, at := range order {
		part := 0
		if i < n {
			part = 1
		}
		rows[part] = append(rows[part], int(at))
	}
	slices.Sort(rows[0])
	slices.Sort(rows[1])
	return p.pick(rows[0]), p.pick(rows[1])
}

// formats are the size that images and targets get, by the headers of some of them. Targets have the
// channels that they come with.
func (p Pairs) formats(c Config) (in, out pixels.Format, changed string, err error) {
	const most = 5000
	in = pixels.Format{Channels: 1, Stretch: c.Stretch}
	out = in
	var heights, widths []int
	var first error
	for i := 0; i < len(p.Images); i += (len(p.Images) + most - 1) / most {
		a, err := p.Reader.Size(p.Images[i])
		b, err2 := p.Reader.Size(p.Targets[i])
		if err := cmp.Or(err, err2); err != nil {
			first = cmp.Or(first, err)
			continue
		}
		if a.Height != b.Height || a.Width != b.Width {
			return in, out, "", fmt.Errorf("%s has %d × %d pixels, its target %s %d × %d; each pixel needs its own", p.Images[i], a.Height, a.Width, p.Targets[i], b.Height, b.Width)
		}
		heights = append(heights, a.Height)
		widths = append(widths, a.Width)
		in.Channels = max(in.Channels, a.Channels)
		out.Channels = max(out.Channels, b.Channels)
	}
	if len(heights) == 0 {
		return in, out, "", fmt.Errorf("%s: no pair of images can be read, the first because %w", p.File, first)
	}
	slices.Sort(heights)
	slices.Sort(widths)
	in.Height, in.Width = pixels.ChosenSize(heights, widths, c.Size)
	out.Height = in.Height
	out.Width = in.Width
	last := len(heights) - 1
	if heights[0] != in.Height || heights[last] != in.Height || widths[0] != in.Width || widths[last] != in.Width {
		changed = fmt.Sprintf("%d × %d", heights[0], widths[0])
		if heights[0] != heights[last] || widths[0] != widths[last] {
			changed += fmt.Sprintf(" to %d × %d", heights[last], widths[last])
		}
	}
	return in, out, changed, nil
}

// Loaded are pairs that have been read.
type loaded struct {
	Pairs
	images *pixels.Set
	maps   targetMaps
	faults []error
	hashes []uint64
}

// targetMaps are the targets of pixels, as a network learns them.
type targetMaps interface {
	Read(i int, dst []float32)
	Err() error
}

// load reads all pairs and leaves out those of which one cannot be read. Without levels, targets are
// numbers. With a scale, out has it already.
func load(p Pairs, in, out pixels.Format, levels Levels, pool *compute.Pool) (*loaded, error) {
	l := &loaded{Pairs: p}
	for range 2 {
		images := pixels.Load(p.Reader, p.Images, in, pool)
		bad := map[int]error{}
		for _, f := range images.Faults {
			bad[f.Image] = f.Err
		}
		l.images = images.Set
		l.hashes = images.Hashes
		if levels == nil {
			targets := pixels.Load(p.Reader, p.Targets, out, pool)
			for _, f := range targets.Faults {
				bad[f.Image] = f.Err
			}
			l.maps = targets.Set
		} else {
			maps, faults := loadClasses(p, out, levels, pool)
			for i, err := range faults {
				bad[i] = err
			}
			l.maps = maps
		}
		if len(bad) == 0 {
			l.Pairs = p
			return l, nil
		}
		var good []int
		for i := range p.Images {
			if bad[i] == nil {
				good = append(good, i)
			} else {
				l.faults = append(l.faults, bad[i])
			}
		}
		if len(good) == 0 {
			return nil, fmt.Errorf("%s: no pair of images can be read, the first because %w", p.File, l.faults[0])
		}
		p = p.pick(good)
	}
	return nil, errors.New("images that could be read once cannot be read again")
}

// exhibit is the images of a set, or their targets, as package vision takes them.
type exhibit struct {
	targetMaps
	format pixels.Format
	count  int
	spans  func() (least, most []float32)
}

func (e exhibit) Len() int { return e.count }
func (e exhibit) Shape() nn.Shape {
	return nn.Shape{H: e.format.Height, W: e.format.Width, C: e.format.Channels}
}
func (e exhibit) Spans() (least, most []float32) {
	if e.spans == nil {
		return nil, nil
	}
	return e.spans()
}

// input is the images.
func (l *loaded) input() exhibit {
	return exhibit{l.images, l.images.Format(), len(l.Images), l.images.Spans}
}

// output is the targets; classes have one number.
func (l *loaded) output(f pixels.Format) exhibit {
	if s, ok := l.maps.(*pixels.Set); ok {
		return exhibit{s, s.Format(), len(l.Images), nil}
	}
	f.Channels = 1
	return exhibit{l.maps, f, len(l.Images), nil}
}
