package serve

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// codec is that of protobuf, with two messages of its own: incoming keeps the bytes, so
// that they are counted before they are decoded, and outgoing has bytes that are counted
// until the network has taken them.
type codec struct{}

// incoming is a message that is not decoded. Its data must be freed.
type incoming struct{ data mem.BufferSlice }

// outgoing is an answer as it is sent.
type outgoing struct {
	data []byte
	pool mem.BufferPool
}

// Name implements encoding.CodecV2.
func (codec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	switch v := v.(type) {
	case *outgoing:
		return mem.BufferSlice{mem.NewBuffer(&v.data, v.pool)}, nil
	case proto.Message:
		text, err := proto.Marshal(v)
		return mem.BufferSlice{mem.SliceBuffer(text)}, err
	}
	return nil, fmt.Errorf("%T is not a message", v)
}

// Unmarshal implements encoding.CodecV2.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*incoming)
	if !ok {
		return errors.New("messages are decoded after they are counted")
	}
	data.Ref()
	in.data = data
	return nil
}

// pooled is the capacity from which on package mem tells when a buffer is free.
const pooled = 1<<10 + 1

// answerOverhead is what the transport takes beside the bytes of an answer, about.
const answerOverhead = 1 << 10

// mostParked is how many answers a connection may leave lying: a client that reads has no
// more of them than streams.
const mostParked = 2 * mostStreams

// parked is an answer that the network has not taken yet. It is the pool of its buffer.
type parked struct {
	lease lease
	conn  *metered
	timer *time.Timer
	once  sync.Once
}

// park counts an answer of a ticket. If it is not taken in time, or if too many are not,
// the client does not read, and its connection ends.
func (t *ticket) park(size int) (*parked, error) {
	p := &parked{lease: lease{of: &t.s.memory, who: t.who}, conn: t.conn}
	if !t.open { // visitors' answers are few and short
		err := p.lease.take(int64(size) + answerOverhead)
		if err != nil {
			return nil, err
		}
	}
	if p.conn == nil {
		return p, nil
	}
	if p.conn.parked.Add(1) > mostParked {
		p.conn.Close()
	}
	p.timer = time.AfterFunc(2*t.s.Limits.Time, func() { p.conn.Close() })
	return p, nil
}

// Get implements mem.BufferPool. Nothing is taken from this pool.
func (p *parked) Get(n int) *[]byte {
	b := make([]byte, n)
	return &b
}

// Put implements mem.BufferPool: the transport is done with the answer.
func (p *parked) Put(*[]byte) {
	p.once.Do(func() {
		if p.conn != nil {
			p.conn.parked.Add(-1)
			p.timer.Stop()
		}
		p.lease.release()
	})
}
