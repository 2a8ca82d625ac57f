package pixels

import "math"

// resized is an image of another size. Each pixel is a weighted mean of those that it covers, or
// between which it lies: weights fall linearly, over one pixel of the coarser of both grids.
func (im *Image) resized(height, width int) *Image {
	if height == im.Height && width == im.Width {
		return im
	}
	out := *im
	out.Height = height
	out.Width = width
	row := im.Width * im.Channels
	line := make([]float32, row) // one at a time: a low, wide image would become a high one
	out.Pix = make([]float32, height*width*im.Channels)
	across := taps(im.Width, width)
	for y, down := range taps(im.Height, height) {
		clear(line)
		for i, w := range down.weights {
			from := im.Pix[(down.first+i)*row:][:row]
			for k, v := range from {
				line[k] += float32(w * v)
			}
		}
		for x, t := range across {
			to := out.Pix[(y*width+x)*im.Channels:][:im.Channels]
			for i, w := range t.weights {
				from := line[(t.first+i)*im.Channels:]
				for c := range to {
					to[c] += float32(w * from[c])
				}
			}
		}
	}
	if im.Bytes {
		for i, v := range out.Pix { // so that they can be kept as bytes
			out.Pix[i] = OfByte(toByte(v))
		}
	}
	return &out
}

// nearest is an image of another size, in which each pixel is that of the image in its place.
func (im *Image) nearest(height, width int) *Image {
	out := *im
	out.Height = height
	out.Width = width
	out.Pix = make([]float32, 0, height*width*im.Channels)
	for y := range height {
		row := (2*y + 1) * im.Height / (2 * height) * im.Width
		for x := range width {
			at := (row + (2*x+1)*im.Width/(2*width)) * im.Channels
			out.Pix = append(out.Pix, im.Pix[at:at+im.Channels]...)
		}
	}
	return &out
}

// A tap is the weights of a pixel of a resized image along one direction.
type tap struct {
	first   int
	weights []float32
}

func taps(from, to int) []tap {
	scale := float64(from) / float64(to)
	reach := max(scale, 1)
	all := make([]tap, to)
	for i := range all {
		middle := (float64(i)+0.5)*scale - 0.5
		first := max(0, int(math.Ceil(middle-reach)))
		last := min(from-1, int(math.Floor(middle+reach)))
		t := tap{first: first}
		var sum float64
		for j := first; j <= last; j++ {
			sum += max(0, 1-math.Abs(float64(j)-middle)/reach)
		}
		for j := first; j <= last; j++ {
			t.weights = append(t.weights, float32(max(0, 1-math.Abs(float64(j)-middle)/reach)/sum))
		}
		all[i] = t
	}
	return all
}

// cropped is the middle of an image, as large as it can be with the shape of height to width.
func (im *Image) cropped(height, width int) *Image {
	high := im.Height
	wide := im.Width
	if im.Height*width > im.Width*height {
		high = max(1, int(math.Round(float64(im.Width)*float64(height)/float64(width))))
	} else {
		wide = max(1, int(math.Round(float64(im.Height)*float64(width)/float64(height))))
	}
	if high == im.Height && wide == im.Width {
		return im
	}
	top := (im.Height - high) / 2
	left := (im.Width - wide) / 2
	out := *im
	out.Height = high
	out.Width = wide
	out.Pix = make([]float32, 0, high*wide*im.Channels)
	for y := top; y < top+high; y++ {
		at := (y*im.Width + left) * im.Channels
		out.Pix = append(out.Pix, im.Pix[at:at+wide*im.Channels]...)
	}
	return &out
}
