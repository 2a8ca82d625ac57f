package serve

import (
	"log"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A bounded listener has at most some connections at a time. It tells others to try
// again, instead of letting them wait.
type bounded struct {
	net.Listener
	most  int64
	plain bool // HTTP without TLS: there is a way to tell
	now   atomic.Int64
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
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.now.Add(1) <= b.most {
			return &counted{Conn: c, of: b}, nil
		}
		b.now.Add(-1)
		if b.plain {
			c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			c.Write(tooMany)
		}
		c.Close()
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	of   *bounded
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.of.now.Add(-1) })
	return c.Conn.Close()
}

// errorLog takes what net/http reports, mostly about clients: it is logged as such.
func errorLog(to *slog.Logger) *log.Logger { return log.New(lines{to}, "", 0) }

type lines struct{ to *slog.Logger }

func (l lines) Write(text []byte) (int, error) {
	l.to.Warn("http", "error", strings.TrimSpace(string(text)))
	return len(text), nil
}
