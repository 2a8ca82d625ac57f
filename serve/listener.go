package serve

import (
	"errors"
	"log"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A bounded listener has at most some connections at a time, of all clients and of one. It
// tells others to try again, instead of letting them wait.
type bounded struct {
	*net.TCPListener
	clients *clients
	all     *connections // of all listeners
	plain   bool         // HTTP without TLS: there is a way to tell

	quiet  atomic.Bool   // no more connections are wanted
	empty  chan struct{} // closed when none waits to be accepted
	ending sync.Once
}

// tooMany is the answer to a connection too many.
var tooMany = func() []byte {
	body := `{"error":"the server has too many connections; try again in a second"}` + "\n"
	return []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}()

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.TCPListener.Accept()
		if err != nil {
			if b.quiet.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
				if waiting(b.TCPListener) { // a deadline that has passed refuses what waits, too: on a busy machine that may be much
					b.SetDeadline(time.Now().Add(lastMoment))
					continue
				}
				b.ending.Do(func() { close(b.empty) })
				return nil, net.ErrClosed
			}
			return nil, err
		}
		if counted := b.admit(c); counted != nil {
			return counted, nil
		}
		if b.plain {
			c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			c.Write(tooMany)
		}
		c.Close()
	}
}

// admit counts a connection, or returns nil if it is one too many.
func (b *bounded) admit(conn net.Conn) *counted {
	limits := b.clients.limits
	who := b.clients.enter(conn.RemoteAddr().String())
	if !hold(&who.connections, limits.share(limits.connections())) {
		who.leave()
		return nil
	}
	c := &counted{Conn: conn, all: b.all, who: who}
	if !b.all.add(c) {
		who.connections.Add(-1)
		who.leave()
		return nil
	}
	return c
}

// address is where the listener listens; of nil, nil.
func (b *bounded) address() net.Addr {
	if b == nil {
		return nil
	}
	return b.Addr()
}

// Close implements net.Listener; closing nil does nothing.
func (b *bounded) Close() error {
	if b == nil {
		return nil
	}
	return b.TCPListener.Close()
}

// lastMoment is how long connections that the kernel has half completed have until the
// listener is closed, which resets those that wait to be accepted.
const lastMoment = 20 * time.Millisecond

// finish accepts what waits to be accepted, and then nothing more.
func (b *bounded) finish() {
	refuseNew(b.TCPListener)
	b.quiet.Store(true)
	b.SetDeadline(time.Now().Add(lastMoment))
	select {
	case <-b.empty:
	case <-time.After(lastWait):
	}
}

// lastWait is how long they may keep coming, where they cannot be refused.
const lastWait = 5 * time.Second

// errorLog takes what net/http reports, mostly about clients: it is logged as such, at
// most once a second.
func errorLog(to *slog.Logger) *log.Logger { return log.New(&lines{to: to}, "", 0) }

type lines struct {
	to    *slog.Logger
	quiet sometimes
}

func (l *lines) Write(text []byte) (int, error) {
	if skipped, ok := l.quiet.now(time.Now()); ok {
		l.to.Warn("http", "error", strings.TrimSpace(string(text)), "skipped_before", skipped)
	}
	return len(text), nil
}
