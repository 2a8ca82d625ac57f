package serve

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// A metered connection carries HTTP/2 and is cut off when its frames cost more than they
// bring: data in crumbs, of which each takes a hundred times its size until its message is
// complete, and frames that only keep the server busy.
type metered struct {
	net.Conn
	header [9]byte // of the frame being read
	have   int     // bytes of header
	skip   int     // bytes until the next header; at first, the preface
	crumbs int     // frames of data that may still come
	idle   int     // other frames that may still come
	since  time.Time

	written atomic.Int64 // bytes that have not yet earned frames

	of     *counted // nil: of a listener that is not Run's
	who    *client
	parked atomic.Int64 // answers that the network has not taken
	once   sync.Once
}

// What a connection may send: so many frames at a time, and more with every stream,
// every second and every piece of data that is worth its frame.
const (
	preface      = 24 // bytes of the greeting of HTTP/2
	crumbsMost   = 1 << 16
	crumbsStream = 32
	crumbSize    = 256
	idleMost     = 2000
	idleSecond   = 500
	idleStream   = 8
	idleReset    = 12      // what the end of a stream before its answer costs
	idleBytes    = 1 << 10 // of answers, which clients acknowledge
)

// Types of frames.
const (
	frameData    = 0
	frameHeaders = 1
	frameReset   = 3
)

var errFrames = errors.New("too many frames for what they carry")

func meter(c net.Conn) *metered {
	return &metered{Conn: c, skip: preface, crumbs: crumbsStream, idle: idleMost, since: time.Now()}
}

// Read implements net.Conn.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if !m.see(p[:n]) {
		m.Close()
		return 0, errFrames
	}
	return n, err
}

// see follows the frames in p and reports whether they may go on.
func (m *metered) see(p []byte) bool {
	for len(p) > 0 {
		if m.skip > 0 {
			n := min(m.skip, len(p))
			m.skip -= n
			p = p[n:]
			continue
		}
		n := copy(m.header[m.have:], p)
		m.have += n
		p = p[n:]
		if m.have < len(m.header) {
			return true
		}
		m.have = 0
		m.skip = int(binary.BigEndian.Uint32(m.header[:4]) >> 8)
		if !m.count(m.header[3], m.skip) {
			return false
		}
	}
	return true
}

// count counts a frame.
func (m *metered) count(kind byte, size int) bool {
	switch kind {
	case frameData:
		m.crumbs = min(m.crumbs-1+size/crumbSize, crumbsMost)
		return m.crumbs >= 0
	case frameHeaders:
		m.crumbs = min(m.crumbs+crumbsStream, crumbsMost)
		m.idle = min(m.idle+idleStream, idleMost)
		return true
	}
	cost := 1
	if kind == frameReset {
		cost = idleReset
	}
	m.idle -= cost
	if m.idle < 0 {
		now := time.Now()
		earned := int(now.Sub(m.since).Seconds()*idleSecond) + int(m.written.Swap(0)/idleBytes)
		m.since = now
		m.idle = min(m.idle+earned, idleMost)
	}
	return m.idle >= 0
}

// Close implements net.Conn.
func (m *metered) Close() error {
	m.once.Do(func() {
		if m.who != nil {
			m.who.leave()
		}
	})
	return m.Conn.Close()
}

// Write implements net.Conn.
func (m *metered) Write(p []byte) (int, error) {
	n, err := m.Conn.Write(p)
	m.written.Add(int64(n))
	return n, err
}

// meteredCredentials meter what comes out of a handshake: the frames, not their cipher.
type meteredCredentials struct {
	credentials.TransportCredentials
	clients *clients
}

func newCredentials(secure credentials.TransportCredentials, all *clients) credentials.TransportCredentials {
	if secure == nil {
		secure = insecure.NewCredentials()
	}
	return meteredCredentials{secure, all}
}

// connInfo tells the handlers of a stream about its connection.
type connInfo struct {
	credentials.AuthInfo
	*metered
}

func (c meteredCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return conn, info, err
	}
	m := meter(conn)
	m.of, _ = raw.(*counted)
	m.who = c.clients.enter(raw.RemoteAddr().String())
	return m, connInfo{info, m}, nil
}

func (c meteredCredentials) Clone() credentials.TransportCredentials {
	return meteredCredentials{c.TransportCredentials.Clone(), c.clients}
}
