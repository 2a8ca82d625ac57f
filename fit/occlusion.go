package fit

import (
	"math"
	"slices"

	"utvi/internal/pixels"
	"utvi/internal/vision"
	"utvi/predict"
)

// Which pixels moved a prediction: patches of an image are replaced by the mean of all images, one after
// the other, and what that takes from the prediction is laid on the pixels of the patch (Zeiler and
// Fergus 2014).

// A canvas says where a row has its image, and what that is.
type canvas struct {
	format *pixels.Format
	known  *vision.Known
}

// width is the number of inputs of a row.
func (c canvas) width() int { return c.known.Width(c.format.Size()) }

// occlusions is how many patches lie beside each other, half upon each other.
const occlusions = 10

// moved says of each pixel of an image what its patches add to the logarithm of the probability of the
// predicted class, or to the mean of the first target in standard deviations, as a share of the largest:
// from −1 to 1.
func (l looker) moved(x []float32, c canvas) []float32 {
	size := len(x)
	f := c.format
	step := (max(f.Height, f.Width) + occlusions - 1) / occlusions
	all := slices.Clone(x) // the image as it is, then with each patch
	type patch struct{ top, left, bottom, right int }
	var patches []patch
	for top := -step / 2; top < f.Height; top += step {
		for left := -step / 2; left < f.Width; left += step {
			p := patch{max(0, top), max(0, left), min(f.Height, top+2*step), min(f.Width, left+2*step)}
			patches = append(patches, p)
			all = append(all, x...)
			im := c.known.Pixels(all[len(all)-size:])
			for y := p.top; y < p.bottom; y++ {
				clear(im[(y*f.Width+p.left)*f.Channels : (y*f.Width+p.right)*f.Channels])
			}
		}
	}
	var value []float64
	class := 0
	std := 1.0
	l.each(batchOf(all, size), func(b *predict.Batch, row, at int) {
		if l.m.Classes() == nil {
			n := b.Numbers(at)[0]
			if row == 0 {
				std = n.Std
			}
			value = append(value, n.Mean/std)
			return
		}
		p := b.Classes(at)
		if row == 0 {
			class = p.Argmax()
		}
		value = append(value, p.LogPMF(class))
	})
	sum := make([]float64, f.Height*f.Width)
	count := make([]float64, len(sum))
	for i, p := range patches {
		for y := p.top; y < p.bottom; y++ {
			for x := p.left; x < p.right; x++ {
				sum[y*f.Width+x] += value[0] - value[i+1]
				count[y*f.Width+x]++
			}
		}
	}
	most := 1e-9
	for i := range sum {
		sum[i] /= count[i]
		most = max(most, math.Abs(sum[i]))
	}
	out := make([]float32, len(sum))
	for i, v := range sum {
		out[i] = float32(v / most)
	}
	return out
}
