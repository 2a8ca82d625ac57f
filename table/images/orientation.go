package images

import (
	"bytes"
	"encoding/binary"

	"utvi/internal/pixels"
)

// orientation finds the EXIF tag of a JPEG that says how the camera was held: 1, upright, to 8.
func orientation(b []byte) int {
	exif := exifOf(b)
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if exif[0] == 'M' {
		order = binary.BigEndian
	}
	const tag, entry = 0x0112, 12
	at := int(order.Uint32(exif[4:]))
	if at < 0 || at+2 > len(exif) {
		return 1
	}
	n := int(order.Uint16(exif[at:]))
	for i := range n {
		e := at + 2 + i*entry
		if e+entry > len(exif) {
			return 1
		}
		if order.Uint16(exif[e:]) != tag {
			continue
		}
		if v := int(order.Uint16(exif[e+8:])); v >= 1 && v <= 8 {
			return v
		}
		return 1
	}
	return 1
}

// exifOf is the TIFF part of the EXIF segment of a JPEG, nil if there is none.
func exifOf(b []byte) []byte {
	for at := 2; at+4 <= len(b) && b[at] == 0xff; {
		marker := b[at+1]
		size := int(binary.BigEndian.Uint16(b[at+2:]))
		end := at + 2 + size
		if marker == 0xda || size < 2 || end > len(b) { // the image begins, or damage
			return nil
		}
		if body := b[at+4 : end]; marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return body[6:]
		}
		at = end
	}
	return nil
}

// upright turns an image as its orientation says.
func upright(im *pixels.Image, orientation int) *pixels.Image {
	if orientation == 1 {
		return im
	}
	out := *im
	turned := orientation >= 5
	if turned {
		out.Height = im.Width
		out.Width = im.Height
	}
	out.Pix = make([]float32, len(im.Pix))
	for y := range out.Height {
		for x := range out.Width {
			fromY, fromX := source(orientation, y, x, im.Height, im.Width)
			to := (y*out.Width + x) * im.Channels
			from := (fromY*im.Width + fromX) * im.Channels
			copy(out.Pix[to:to+im.Channels], im.Pix[from:])
		}
	}
	return &out
}

// source is where a pixel of the upright image lies in an image of a height and width.
func source(orientation, y, x, height, width int) (fromY, fromX int) {
	switch orientation {
	case 2: // mirrored
		return y, width - 1 - x
	case 3: // upside down
		return height - 1 - y, width - 1 - x
	case 4: // both
		return height - 1 - y, x
	case 5: // mirrored and turned
		return x, y
	case 6: // turned to the left
		return height - 1 - x, y
	case 7:
		return height - 1 - x, width - 1 - y
	}
	return x, width - 1 - y // turned to the right
}
