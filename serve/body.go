package serve

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
)

// bodies keeps buffers of small requests.
var bodies = sync.Pool{New: func() any { b := make([]byte, 0, smallBody); return &b }}

const smallBody = 16 << 10

// body reads the body of a request. Memory is taken as bytes arrive, not as a header
// announces them: a client that sends nothing takes nothing.
func (c *call) body() ([]byte, error) {
	r, most := c.r, c.s.Limits.Body
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, failf(unsupported, "the body is compressed (%.40q); send it as it is", coding)
	}
	if r.ContentLength > most {
		return nil, c.tooLong()
	}
	c.buffer = bodies.Get().(*[]byte)
	buf := (*c.buffer)[:0]
	if err := c.lease.take(smallBody); err != nil {
		return nil, err
	}
	for {
		if len(buf) == cap(buf) {
			size := min(2*int64(cap(buf)), most+1)
			if r.ContentLength >= 0 {
				size = min(size, max(r.ContentLength+1, int64(cap(buf))+1))
			}
			if int64(len(buf)) > most {
				return nil, c.tooLong()
			}
			if err := c.lease.take(size); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, size), buf...)
		}
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF && int64(len(buf)) > most:
			return nil, c.tooLong()
		case err == io.EOF:
			c.read = true
			return buf, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, failf(slow, "the body did not arrive in time")
		case err != nil:
			return nil, failf(malformed, "the body ends before its length of %d bytes", r.ContentLength)
		}
	}
}

func (c *call) tooLong() error {
	return failf(tooLarge, "the body is longer than %d bytes, which is the most that the server allows; send fewer rows at a time", c.s.Limits.Body)
}

// release gives back what the call holds.
func (c *call) release() {
	if c.buffer != nil {
		bodies.Put(c.buffer)
	}
	c.lease.release()
}
