package vision

import (
	"slices"

	"utvi/internal/tabular"
	"utvi/nn"
)

// Known are further inputs of images: numbers that stand before and behind the pixels in a row of inputs.
// The zero value is none.
type Known struct {
	Before, Behind int
	X              []float32 // of all images, Before+Behind each
	Levels         []int     // of each input, how many levels it numbers, 0 of one that is a number; nil: all are numbers
}

// Count is the number of further inputs of an image.
func (k *Known) Count() int { return k.Before + k.Behind }

// Width is the number of inputs of a row whose image has size of them.
func (k *Known) Width(size int) int { return size + k.Count() }

// Pixels are the inputs of a row that are its image.
func (k *Known) Pixels(row []float32) []float32 { return row[k.Before : len(row)-k.Behind] }

// Write writes the further inputs of image i to a row.
func (k *Known) Write(i int, row []float32) {
	x := k.X[i*k.Count() : (i+1)*k.Count()]
	copy(row, x[:k.Before])
	copy(row[len(row)-k.Behind:], x[k.Before:])
}

// of are the further inputs of some images.
func (k Known) of(images []int32) Known {
	all := k.X
	k.X = nil
	n := k.Count()
	for _, i := range images {
		k.X = append(k.X, all[int(i)*n:(int(i)+1)*n]...)
	}
	return k
}

// levels are those of the inputs of a row, nil if none numbers levels.
func (k *Known) levels(size int) []int {
	if k.Levels == nil {
		return nil
	}
	return slices.Concat(k.Levels[:k.Before], make([]int, size), k.Levels[k.Before:])
}

// width is the number of inputs of a row.
func (d *Data) width() int { return d.Known.Width(d.Images.Shape().Size()) }

// row writes all inputs of an image.
func (d *Data) row(image int, dst []float32) {
	d.Known.Write(image, dst)
	d.Images.Read(image, d.Known.Pixels(dst))
}

// The units that an image and what else is known of it are brought to before they meet.
const (
	ofImage = 32
	ofKnown = 32
	ofBoth  = 64
)

// meeting is the layer that reads a row of an image and of further inputs. Behind the place where they
// meet stands a layer in which one may change what the other says.
func (d *Data) meeting(in nn.Shape, seen nn.Chain, act nn.Layer) nn.Layer {
	k := &d.Known
	g := nn.Graph{}
	var from []string
	input := func(name string, units int) {
		if units > 0 {
			g.Inputs = append(g.Inputs, nn.Input{Name: name, Shape: nn.Vec(units)})
			from = append(from, name)
		}
	}
	input("before", k.Before)
	g.Inputs = append(g.Inputs, nn.Input{Name: "image", Shape: in})
	input("behind", k.Behind)
	var known nn.Chain
	if e := tabular.Embedding(k.Levels); e != nil {
		known = append(known, e)
	}
	g.Steps = []nn.Step{
		{Name: "seen", Layer: append(seen, nn.Dense{Out: ofImage}, act), From: []string{"image"}},
		{Name: "known", Layer: append(known, nn.Dense{Out: ofKnown}, act), From: from},
		{Name: "both", Layer: nn.Concat{}, From: []string{"seen", "known"}},
		{Name: "met", Layer: nn.Chain{nn.Dense{Out: ofBoth}, act}},
	}
	return g
}
