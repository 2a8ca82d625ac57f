package fit

import (
	"errors"
	"fmt"

	"utvi/internal/pixels"
	"utvi/internal/vision"
)

// An ImageConfig says which column of a table names images, and what they become. Without a Column
// the table has no images.
type ImageConfig struct {
	Column  string `json:"column,omitempty"`
	Size    []int  `json:"size,omitempty"`    // side of a square, or height and width; nil: by the images
	Stretch bool   `json:"stretch,omitempty"` // images of another shape are stretched; otherwise their middle is cut out
	Augment string `json:"augment,omitempty"` // none, shift or photo; "": chosen on held-out images

	// From is the file of a network to start from, an ONNX graph or what utvi import wrote; "": none. It
	// takes numbers from 0 to 1, or what Normalise makes of them: imagenet, or MEAN:SD.
	From      string `json:"from,omitempty"`
	Normalise string `json:"normalise,omitempty"`

	// Part is a column that says test in the rows to hold out; "": they are drawn.
	Part string `json:"part,omitempty"`
}

// check reports settings that cannot work.
func (c ImageConfig) check() error {
	if c.Column == "" {
		if c.Part != "" || c.Size != nil || c.Stretch || c.Augment != "" || c.From != "" {
			return errors.New("there are settings for images, but no column names any; name it as the image")
		}
		return nil
	}
	if c.Normalise != "" && c.From == "" {
		return errors.New("normalise says what a network to start from takes, but there is none; images are scaled by their own mean and standard deviation")
	}
	if len(c.Size) > 2 {
		return fmt.Errorf("the size has %d numbers; it is one side, or height and width", len(c.Size))
	}
	for _, side := range c.Size {
		if side < 8 || side > pixels.MostSide {
			return fmt.Errorf("the size is %d; it must be 8 to %d pixels", side, pixels.MostSide)
		}
	}
	if c.Augment != "" {
		_, err := vision.Augmentation(c.Augment)
		return err
	}
	return nil
}
