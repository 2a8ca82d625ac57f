package images

import (
	"bytes"
	"errors"
)

var errAnimated = errors.New("it is an animation of several images; save the one that counts")

// refuseAnimatedGIF reports a second image. The blocks are walked, not unpacked.
func refuseAnimatedGIF(b []byte) error {
	const header, screen, descriptor = 6, 7, 9
	at := header + screen + colours(b, header+4)
	images := 0
	for at < len(b) {
		switch b[at] {
		case 0x21: // an extension: its label, and blocks
			at = blocks(b, at+2)
		case 0x2c: // an image: its descriptor, its colours, the size of its codes, and blocks
			images++
			if images > 1 {
				return errAnimated
			}
			at = blocks(b, at+1+descriptor+colours(b, at+descriptor)+1)
		default: // the end, or damage, which decoding reports
			return nil
		}
	}
	return nil
}

// colours is the size of the table of colours that the flags at a place speak of.
func colours(b []byte, flags int) int {
	if flags >= len(b) || b[flags]&0x80 == 0 {
		return 0
	}
	return 3 << (b[flags]&7 + 1)
}

// blocks is the place behind blocks that begin with their sizes, the last of which is 0.
func blocks(b []byte, at int) int {
	for at < len(b) && b[at] != 0 {
		at += 1 + int(b[at])
	}
	return at + 1
}

// refuseAnimatedWebP reports the flag of an animation in the header of a file with extensions.
func refuseAnimatedWebP(b []byte) error {
	const flags, animation = 20, 0x02
	if len(b) > flags && bytes.Equal(b[12:16], []byte("VP8X")) && b[flags]&animation != 0 {
		return errAnimated
	}
	return nil
}

// mostScans is how often a JPEG may go over its pixels: a hundred times what programs write.
const mostScans = 1000

// refuseScans reports a JPEG that would keep the decoder busy for hours.
func refuseScans(b []byte) error {
	if bytes.Count(b, []byte("\xff\xda")) > mostScans {
		return errors.New("the jpeg image cannot be read: it goes over its pixels more than 1000 times")
	}
	return nil
}
