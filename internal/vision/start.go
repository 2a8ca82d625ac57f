package vision

import (
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"

	"utvi/internal/advice"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// A start is a trained network that every training begins with: Normals around its weights, with priors
// that are centred there.
type start struct {
	net    *model.Model
	layers nn.Chain
	in     nn.Shape
	whole  bool // its last layer tells the classes already
	sure   bool // by their probabilities: a softmax lies within the last layer
}

// newStart takes a network that was trained elsewhere.
func newStart(d Data, from *model.Model) (*start, error) {
	in := from.Config.Input
	shape := d.Images.Shape()
	switch {
	case d.Maps != nil:
		return nil, fmt.Errorf("a network to start from is for classes and numbers, not for pixels")
	case in != shape && (in.H*in.W > 1 || in.Size() != shape.Size() || shape.C > 1):
		return nil, fmt.Errorf("the images are %v, height × width × channels; the network to start from takes %v", shape, in)
	}
	n, err := from.Around(model.Around{})
	if err != nil {
		return nil, fmt.Errorf("the network to start from: %w", err)
	}
	s := &start{net: n, layers: n.Config.Layers, in: in}
	return s, nil
}

// endsInClasses reports whether a layer makes probabilities, or their logarithms.
func endsInClasses(l nn.Layer) bool {
	switch l := l.(type) {
	case nn.Joint:
		return l.Map.Name == "softmax" || l.Map.Name == "log_softmax"
	case nn.Softmax:
		return true
	}
	return false
}

// choose keeps the last layer of the network if it tells the classes of images better than chance does;
// otherwise a new one is learned, and note says why.
func (s *start) choose(d *Data, of sample, note func(advice.Sentence)) {
	s.sure = true
	right := 0.0
	if d.Classes > 0 && s.net.Outputs() == d.Classes && d.Known.Count() == 0 {
		right = s.tellApart(d.Classes, of)
	}
	if last := len(s.layers) - 1; last > 0 && endsInClasses(s.layers[last]) {
		s.layers = s.layers[:last]
		s.sure = false
	}
	if s.whole {
		return
	}
	if last := len(s.layers) - 1; last > 0 {
		if _, ok := s.layers[last].(nn.Dense); ok {
			s.layers = s.layers[:last]
		}
	}
	if note != nil {
		note(advice.New("the last layer of the network to start from is learned anew: %s", s.whyAnew(d, right)))
	}
}

// tellApart returns the part of the images of which the network has the class, and notes whether its
// outputs are probabilities, and whether it is so good that it stays whole.
func (s *start) tellApart(classes int, of sample) float64 {
	right := 0.0
	each := 1 / float64(of.x.Rows)
	counts := make([]float64, classes)
	p := s.net.NewPredictor(chunk)
	for lo := 0; lo < of.x.Rows; lo += chunk {
		out := p.Predict(of.x.Slice(lo, min(of.x.Rows, lo+chunk)))
		for i := range out.Rows {
			z := out.Mean[i*classes : (i+1)*classes]
			y := int(of.y[lo+i])
			s.sure = s.sure && slices.Min(z) >= 0 && math.Abs(sum(z)-1) < 1e-3
			counts[y] += each
			if slices.Index(z, slices.Max(z)) == y {
				right += each
			}
		}
	}
	usual := slices.Max(counts)
	s.whole = right > usual+0.25*(1-usual)
	return right
}

// whyAnew says why the last layer does not stay.
func (s *start) whyAnew(d *Data, right float64) string {
	switch {
	case d.Classes == 0:
		return "numbers need error bars"
	case d.Known.Count() > 0:
		return "other columns are to be heard, too"
	case s.net.Outputs() == d.Classes:
		return fmt.Sprintf("it tells %.1f %% of the images right, no better than chance; the scale of the numbers or the order of the classes may be another", 100*right)
	}
	return "its outputs are not these classes"
}

func sum(all []float32) (s float64) {
	for _, x := range all {
		s += float64(x)
	}
	return s
}

// trunk are the layers that stay.
func (s *start) trunk() nn.Chain { return slices.Clone(s.layers) }

// fill gives a network that begins with the trunk its weights.
func (s *start) fill(n *model.Model) {
	at := 0
	for _, child := range s.net.Graph().Children[:len(s.layers)] {
		for node := range child.All() {
			for _, from := range node.Tensors {
				copyTensor(n.Params.Tensors[at], from)
				at++
			}
		}
	}
	n.Changed()
}

func copyTensor(to, from *vi.Tensor[float32]) {
	copy(to.Mean, from.Mean)
	copy(to.Rho, from.Rho)
	to.Prior = from.Prior
	to.Center = from.Center
	to.Spread = from.Spread
}

// digest adds the weights to a digest.
func (s *start) digest(h hash.Hash) {
	if s == nil {
		return
	}
	for _, t := range s.net.Params.Tensors {
		binary.Write(h, binary.LittleEndian, t.Mean) // a hash takes everything
	}
}
