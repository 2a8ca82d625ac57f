package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"

	"golang.org/x/image/webp"
)

// codeTables is what the decoder of images without loss takes for tables of codes, as many as 16 bits
// number, each five trees; their number stands deep in the file, which may be short.
const codeTables = 65536 * 5 * 544

// webpChunks calls f with each part of a WebP until f returns false: its name, its contents and the
// part as a whole.
func webpChunks(b []byte, f func(name string, body, whole []byte) bool) {
	const header, head = 12, 8
	for at := header; at+head <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+4:]))
		end := min(at+head+n, len(b))
		if !f(string(b[at:at+4]), b[at+head:end], b[at:end]) {
			return
		}
		at += head + n + n%2
	}
}

// configWebP reads the size of the pixels. The header of a file with extensions states one, too,
// which must be the same: whoever looks at the header must know what is unpacked.
func configWebP(b []byte) (image.Config, error) {
	stated, err := webp.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return stated, err
	}
	webpChunks(b, func(name string, _, whole []byte) bool {
		if name != "VP8 " && name != "VP8L" {
			return true
		}
		alone := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(whole)+len(whole)%2))
		alone = append(alone, "WEBP"...)
		var c image.Config
		c, err = webp.DecodeConfig(io.MultiReader(bytes.NewReader(alone), bytes.NewReader(whole)))
		if err == nil && (c.Width != stated.Width || c.Height != stated.Height) {
			err = errors.New("it states two sizes")
		}
		return false
	})
	return stated, err
}

// moreWebP is what images without loss, and masks kept like them, take for their codes.
func moreWebP(b []byte, _ image.Config) int64 {
	more := int64(0)
	webpChunks(b, func(name string, body, _ []byte) bool {
		if name == "VP8L" || name == "ALPH" && len(body) > 0 && body[0]&3 == 1 {
			more = codeTables
		}
		return name != "VP8L" && name != "VP8 "
	})
	return more
}
