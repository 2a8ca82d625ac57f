package vision

import (
	"utvi/data"
	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
)

// Images are the images of a training, in memory or not.
type Images interface {
	// Len is the number of images.
	Len() int
	// Shape is that of each image.
	Shape() nn.Shape
	// Read writes image i, encoded as a network sees it, to dst. Goroutines may call it at once.
	Read(i int, dst []float32)
	// Spans are the least and the largest number that a channel may have, as a network sees it; nil:
	// there are no bounds.
	Spans() (least, most []float32)
	// Err is the error about the first image that could not be read, nil if all could.
	Err() error
}

// A source serves images, in the order of epochs and changed by an easel.
type source struct {
	Data
	easel easel
	maps  easel // that changes the targets of pixels as the images

	order  *data.Table // of the numbers of images: which come next
	rows   []int32     // of the batch
	key    rng.Key
	step   uint64
	copies [][]float32 // of an image as it was, one for each image of a batch
	drafts [][]float32 // of the targets of its pixels
}

// newSource returns a source of batches of at most batch images.
func newSource(d Data, a Augment, batch int) (*source, error) {
	n := d.Images.Len()
	numbers := gauss.Batch[float32]{Rows: n, Width: 1, Mean: make([]float32, n)}
	order, err := data.NewTable(numbers, 1, make([]float32, n))
	if err != nil {
		return nil, err
	}
	s := &source{Data: d, order: order, rows: make([]int32, batch)}
	s.easel = newEasel(a, d.Images)
	if a == (Augment{}) {
		return s, nil
	}
	for range batch {
		s.copies = append(s.copies, make([]float32, d.Images.Shape().Size()))
	}
	if moves := a.moves(); d.Maps != nil && moves != (Augment{}) {
		s.maps = newEasel(moves, d.Maps)
		s.maps.nearest = d.Classes > 0
		for range batch {
			s.drafts = append(s.drafts, make([]float32, d.Targets))
		}
	}
	return s, nil
}

// newEasel returns an easel for images.
func newEasel(a Augment, images Images) easel {
	shape := images.Shape()
	e := easel{Augment: a, height: shape.H, width: shape.W, channels: shape.C}
	least, most := images.Spans()
	for i := range least {
		e.spans = append(e.spans, span{least[i], most[i]})
	}
	return e
}

// Rows implements data.Source.
func (s *source) Rows() int { return s.Images.Len() }

// Inputs implements data.Source.
func (s *source) Inputs() int { return s.width() }

// Targets implements data.Source.
func (s *source) Targets() int { return s.Data.Targets }

// Uncertain implements data.Source.
func (s *source) Uncertain() bool { return false }

// Begin implements data.Source.
func (s *source) Begin(key rng.Key, step uint64, batch int) {
	s.order.Begin(key, step, batch)
	s.order.Order(0, batch, s.rows)
	s.key = key.Sub(step, changes)
	s.step = step
}

// changes tells the stream of augmentation from that of the order of rows, which is 0.
const changes = 1

// Fill implements data.Source.
func (s *source) Fill(lo, hi int, x gauss.Batch[float32], y []float32) {
	size := x.Width
	for i := lo; i < hi; i++ {
		row := int(s.rows[i])
		dst := x.Mean[(i-lo)*size : (i-lo+1)*size]
		n := s.Data.Targets
		s.target(row, i, y[(i-lo)*n:(i-lo+1)*n])
		if s.copies == nil {
			s.row(row, dst)
			continue
		}
		s.Known.Write(row, dst)
		s.Images.Read(row, s.copies[i])
		s.easel.paint(s.Known.Pixels(dst), s.copies[i], s.key, uint64(i))
	}
}

// target writes the targets of image row, number i of the batch: those of its pixels move with it.
func (s *source) target(row, i int, y []float32) {
	if s.drafts == nil {
		s.read(row, y)
		return
	}
	s.Maps.Read(row, s.drafts[i])
	s.maps.move(y, s.drafts[i], s.key, uint64(i))
}
