// Package pixels finds image files and reads them as numbers.
//
//	all, err := pixels.Find("photos")  // files by class: photos/cat/1.jpg
//	r := pixels.Reader{Folder: "photos"}
//	im, err := r.Read("cat/1.jpg")     // numbers, upright
//	format.Encode(im, dst)             // of the size and scale that a network takes
//
// PNG, JPEG, GIF, BMP, WebP and TIFF are read by programs that import utvi/table/images. The size that
// a file states is compared with the memory before anything is unpacked. A Format holds all that turns
// an image into the inputs of a network, so that a file and a request give the same numbers.
package pixels

// An Image is rows of pixels, each with the numbers of its channels: one of grey, three of
// colour. Numbers of formats with whole numbers lie between 0 and 1.
type Image struct {
	Height, Width, Channels int
	Pix                     []float32 // row by row, pixel by pixel

	// Bytes is set if every number is one of 256, i/255.
	Bytes bool
	// Kind is the format, such as "png".
	Kind string
}

// Grey reports whether the image has no colours.
func (im *Image) Grey() bool {
	if im.Channels != 3 {
		return im.Channels == 1
	}
	for i := 0; i < len(im.Pix); i += 3 {
		p := im.Pix[i : i+3]
		if p[0] != p[1] || p[1] != p[2] {
			return false
		}
	}
	return true
}

// OfByte is the number of a byte, from 0 to 1.
func OfByte(v byte) float32 { return float32(v) / 255 }

// toByte is the byte of a number.
func toByte(v float32) byte { return byte(v*255 + 0.5) }
