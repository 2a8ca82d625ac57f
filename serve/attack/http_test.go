package attack

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const authorized = "Host: localhost\r\nAuthorization: Bearer " + token + "\r\n"

// connect opens n connections and lets f use each of them until ctx ends.
func (a *arena) connect(ctx context.Context, n int, address string, f func(c net.Conn)) {
	together(n, func(int) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return
		}
		defer c.Close()
		if end, ok := ctx.Deadline(); ok {
			c.SetDeadline(end)
		}
		if a.secure != nil {
			as := a.secure.Clone()
			as.NextProtos = []string{"h2"}
			c = tls.Client(c, as)
		}
		f(c)
	})
}

// hold waits until ctx ends, or the other side closes the connection.
func hold(c net.Conn) { io.Copy(io.Discard, c) }

// linger waits without reading.
func linger(ctx context.Context) { <-ctx.Done() }

func slowHeaders(ctx context.Context, a *arena) {
	a.connect(ctx, 200, a.http, func(c net.Conn) {
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n")
		for {
			if _, err := fmt.Fprint(c, "a: b\r\n"); err != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
}

// load asks for predictions, one after the other, until the server is gone. A request that
// is lost is wrong, unless the client took its time: a connection on which it asked nothing
// for the linger of the end may be closed, and one that it has just made after five seconds.
func (a *arena) load(ctx context.Context, answered, wrong *atomic.Int64) {
	const linger, first = 300 * time.Millisecond, 5 * time.Second
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	before := time.Now() // when the request before this one was sent
	for ctx.Err() == nil {
		begun := time.Now()
		reused := false
		code, text, err := a.askIn(httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }}), c)
		slow := !reused && time.Since(begun) > first || reused && time.Since(before) > linger
		before = begun
		switch {
		case err == nil && code == 200 && text == a.want:
			answered.Add(1)
		case errors.Is(err, syscall.ECONNREFUSED):
			return
		case err != nil && slow:
			a.t.Logf("a client that took its time: %v", err)
		default:
			wrong.Add(1)
			a.t.Logf("%d %.100s %v", code, text, err)
			return
		}
	}
}

// short are header lines as short as they can be.
func short(bytes int) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "%x:\n", i)
	}
	return b.String()
}

func zipped(n int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.CopyN(w, zeros{}, int64(n))
	w.Close()
	return b.String()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// httpAttacks misuse connections of HTTP.
func httpAttacks() []attack {
	raw := func(name string, n int, f func(ctx context.Context, c net.Conn)) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			a.connect(ctx, n, a.http, func(c net.Conn) { f(ctx, c) })
		}}
	}
	post := "POST " + predictPath + " HTTP/1.1\r\n"
	return []attack{
		{"headers that come slowly", slowHeaders},
		raw("connections that say nothing", 600, func(_ context.Context, c net.Conn) { hold(c) }),
		raw("headers of a megabyte", 100, func(_ context.Context, c net.Conn) {
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("a", 1<<20)+"\r\n\r\n")
			hold(c)
		}),
		raw("headers of short lines", 200, func(_ context.Context, c net.Conn) {
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n"+short(11<<10))
			hold(c)
		}),
		raw("a path of a megabyte", 50, func(_ context.Context, c net.Conn) {
			fmt.Fprint(c, "GET /"+strings.Repeat("a", 1<<20)+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
			hold(c)
		}),
		raw("noise", 100, func(_ context.Context, c net.Conn) {
			c.Write(bytes.Repeat([]byte{0x16, 3, 1, 0, 0xff, 0}, 20_000))
			hold(c)
		}),
		raw("bodies that come slowly", 150, func(ctx context.Context, c net.Conn) {
			fmt.Fprint(c, post+authorized+"Content-Length: 10000000\r\n\r\n{")
			for ctx.Err() == nil {
				if _, err := c.Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		}),
		raw("bodies that stop at the end", 120, func(ctx context.Context, c net.Conn) {
			fmt.Fprint(c, post+authorized+"Content-Length: 4000001\r\n\r\n"+strings.Repeat(" ", 4_000_000))
			hold(c)
		}),
		raw("bodies of strangers", 100, func(ctx context.Context, c net.Conn) {
			fmt.Fprint(c, post+"Host: localhost\r\nContent-Length: 16000000\r\n\r\n"+strings.Repeat(" ", 1_000_000))
			hold(c)
		}),
		raw("bodies that must be asked for", 150, func(_ context.Context, c net.Conn) {
			fmt.Fprint(c, post+authorized+"Expect: 100-continue\r\nContent-Length: 16000000\r\n\r\n")
			hold(c)
		}),
		raw("chunks of a byte", 20, func(ctx context.Context, c net.Conn) {
			fmt.Fprint(c, post+authorized+"Transfer-Encoding: chunked\r\n\r\n")
			chunks := []byte(strings.Repeat("1\r\n \r\n", 10_000))
			for ctx.Err() == nil {
				if _, err := c.Write(chunks); err != nil {
					return
				}
			}
		}),
		raw("chunks with long extensions", 20, func(ctx context.Context, c net.Conn) {
			fmt.Fprint(c, post+authorized+"Transfer-Encoding: chunked\r\n\r\n")
			chunks := []byte(strings.Repeat("1;"+strings.Repeat("x", 3000)+"\r\n \r\n", 100))
			for ctx.Err() == nil {
				if _, err := c.Write(chunks); err != nil {
					return
				}
			}
		}),
		raw("trailers of a megabyte", 40, func(_ context.Context, c net.Conn) {
			fmt.Fprint(c, post+authorized+"Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\n \r\n0\r\n"+strings.Repeat("X: y\r\n", 200_000)+"\r\n")
			hold(c)
		}),
		raw("requests whose answers nobody reads", 60, func(ctx context.Context, c net.Conn) {
			one := fmt.Sprintf("%s%sContent-Length: %d\r\n\r\n%s", post, authorized, len(question), question)
			all := []byte(strings.Repeat(one, 100))
			for ctx.Err() == nil {
				if _, err := c.Write(all); err != nil {
					break
				}
			}
			linger(ctx)
		}),
		raw("long answers that nobody reads", 40, func(ctx context.Context, c net.Conn) {
			body := `{` + tableRows(300) + `,"density":1000}`
			fmt.Fprintf(c, "%s%sContent-Length: %d\r\n\r\n%s", post, authorized, len(body), body)
			linger(ctx)
		}),
		raw("the page, which nobody reads", 150, func(ctx context.Context, c net.Conn) {
			for range 200 {
				if _, err := fmt.Fprint(c, "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
					break
				}
			}
			linger(ctx)
		}),
		{"a bomb of gzip", func(ctx context.Context, a *arena) {
			bomb := zipped(200 << 20)
			together(6, func(int) { a.post(ctx, predictPath, bomb, "Content-Encoding", "gzip") })
		}},
		{"connections by the thousand", func(ctx context.Context, a *arena) {
			together(20, func(int) {
				for ctx.Err() == nil {
					c, err := net.Dial("tcp", a.http)
					if err == nil {
						c.Close()
					}
				}
			})
		}},
		{"clients that leave before the answer", func(ctx context.Context, a *arena) {
			body := `{` + tableRows(5000) + `}`
			together(8, func(int) {
				for ctx.Err() == nil {
					short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
					a.post(short, predictPath, body)
					cancel()
				}
			})
		}},
	}
}
