package pixels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Taken is the format of images for a network that was trained elsewhere and takes so many rows, columns and
// channels; 1 × 1 × n is a row of n grey pixels, of a square or of the size that is asked for. It takes numbers
// from 0 to 1, or what normalise makes of them: imagenet, or MEAN:SD, for each channel if there are several.
func Taken(height, width, channels int, size []int, normalise string) (Format, error) {
	f := Format{Height: height, Width: width, Channels: channels}
	if height*width == 1 {
		f.Channels = 1
		f.Height, f.Width = sides(channels, size)
		if f.Height*f.Width != channels {
			return f, fmt.Errorf("the network takes %d numbers in a row, which are no square image; set the size of the images, height and width", channels)
		}
	}
	if size != nil && (size[0] != f.Height || size[len(size)-1] != f.Width) {
		return f, fmt.Errorf("the network takes images of %d × %d pixels; the size is %v", f.Height, f.Width, size)
	}
	var err error
	f.Mean, f.SD, err = normalisation(normalise, f.Channels)
	if err != nil {
		return f, err
	}
	return f, f.Check()
}

// sides are those of an image of so many pixels: as asked for, or of a square.
func sides(pixels int, asked []int) (height, width int) {
	if len(asked) > 0 {
		return asked[0], asked[len(asked)-1]
	}
	side := 1
	for side*side < pixels {
		side++
	}
	return side, side
}

// imagenet are the means and standard deviations that most networks for photographs were trained with.
const imagenet = "0.485,0.456,0.406:0.229,0.224,0.225"

// normalisation is what numbers from 0 to 1 are shifted and divided by, for each channel.
func normalisation(text string, channels int) (mean, sd []float64, err error) {
	switch text {
	case "":
		text = "0:1"
	case "imagenet":
		text = imagenet
	}
	wrong := fmt.Errorf("normalise is %.60q; it is imagenet, or a mean and a standard deviation such as 0.5:0.5, or those of three channels such as %s", text, imagenet)
	left, right, found := strings.Cut(text, ":")
	if !found {
		return nil, nil, wrong
	}
	for _, x := range []struct {
		text string
		to   *[]float64
	}{{left, &mean}, {right, &sd}} {
		for part := range strings.SplitSeq(x.text, ",") {
			v, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return nil, nil, wrong
			}
			*x.to = append(*x.to, v)
		}
		if len(*x.to) == 1 {
			*x.to = slices.Repeat(*x.to, channels)
		}
		if len(*x.to) != channels {
			return nil, nil, fmt.Errorf("normalise has %d numbers for %d channels", len(*x.to), channels)
		}
	}
	return mean, sd, nil
}
