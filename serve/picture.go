package serve

import (
	"encoding/base64"
	"strings"

	"utvi/internal/pixels"
)

// isImage reports whether the body of a request is an image, by its Content-Type.
func (c *call) isImage() bool {
	return strings.HasPrefix(strings.ToLower(c.r.Header.Get("Content-Type")), "image/")
}

// takeImage takes the memory that the image in a text needs while it is decoded. Its header says
// how large it is.
func (l *loaded) takeImage(text []byte, mem *lease) error {
	if !l.pictures || len(text) == 0 {
		return nil
	}
	if err := mem.take(2 * int64(len(text))); err != nil { // the text, and its bytes
		return err
	}
	size, err := pixels.Reader{Inline: true}.Size(string(text))
	if err != nil {
		return failf(invalid, "%v", err)
	}
	return mem.take(size.Memory())
}

// readImage makes a row of a body that is an image.
func readImage(body []byte, l *loaded, mem *lease) (question, error) {
	var q question
	if !l.pictures {
		return q, failf(unsupported, "the body is an image, but the model predicts from other columns; send JSON")
	}
	if err := mem.take(4*int64(len(body)) + l.rowBytes + l.blockBytes(1)); err != nil {
		return q, err
	}
	text := append([]byte("data:;base64,"), base64.StdEncoding.EncodeToString(body)...)
	if err := l.takeImage(text, mem); err != nil {
		return q, err
	}
	build := l.NewRowBuilder()
	build.Parse(build.Needed(0), text)
	if err := build.End(); err != nil {
		return q, as(invalid, err)
	}
	var err error
	q.x, err = build.Batch()
	return q, as(invalid, err)
}
