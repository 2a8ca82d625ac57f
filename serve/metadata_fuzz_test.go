package serve_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/test/bufconn"

	"utvi/serve"
	"utvi/serve/oip"
)

// Whatever stands in the metadata, a call is answered or refused: nothing of it ends the
// server, and only the token opens what needs it.
func FuzzMetadata(f *testing.F) {
	s, err := serve.New(serve.Config{Models: sources(), Token: "s3cret", LogRequests: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		f.Fatal(err)
	}
	g := s.GRPC(nil)
	l := bufconn.Listen(1 << 14)
	go g.Serve(l)
	f.Cleanup(g.Stop)
	// The transport refuses most names at random, and values with control characters.
	names := []string{"authorization", "grpc-timeout", "grpc-encoding", "x-request-id", "content-type", ":authority", "te", "x-bin", ":path"}
	f.Add(uint8(0), "Bearer s3cret", uint8(3), "1", "x", true)
	f.Add(uint8(0), "bearer  s3cret", uint8(5), "localhost", "authorization-x", false)
	f.Add(uint8(1), "1S", uint8(2), "gzip", "Authorization", true)
	f.Add(uint8(4), "application/grpc+json", uint8(7), "AAAA=", "x-bin", false)
	f.Add(uint8(8), "/inference.GRPCInferenceService/ServerLive", uint8(6), "", "te", true)
	f.Add(uint8(9), "a value", uint8(255), "with \x00", "grpc-accept-encoding", false)
	c := &talker{dial: l.Dial}
	f.Fuzz(func(t *testing.T, first uint8, value1 string, second uint8, value2, name string, live bool) {
		path := oip.GRPCInferenceService_ModelReady_FullMethodName
		if live {
			path = oip.GRPCInferenceService_ServerLive_FullMethodName
		}
		field := func(which uint8, value string) (string, string) {
			if i := int(which) % (len(names) + 1); i < len(names) {
				return names[i], printable(value)
			}
			return name, value
		}
		name1, value1 := field(first, value1)
		name2, value2 := field(second, value2)
		code, text, err := c.ask(headerBlock(path, name1, value1, name2, value2))
		if err != nil {
			t.Fatal(err)
		}
		if code == "2" || text == "internal error" { // 13 alone is also the transport's word for metadata that is malformed
			t.Fatalf("the server is at fault: status %s, %s", code, text)
		}
		opened := strings.EqualFold(name1, "authorization") || strings.EqualFold(name2, "authorization")
		if (code == "0" || code == "5") && !live && !opened && name1 != ":path" && name2 != ":path" {
			t.Fatal("a model is told without the token")
		}
	})
}

// printable is a text without control characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '~'
		}
		return r
	}, text)
}

// headerBlock is the header of a call, with more behind it. What begins with a colon may
// stand there once: it takes the place of what the call has.
func headerBlock(path string, more ...string) []byte {
	all := []string{":method", "POST", ":scheme", "http", ":path", path, ":authority", "localhost", "content-type", "application/grpc", "te", "trailers"}
	for i := 0; i < len(more); i += 2 {
		at := slices.Index(all, more[i])
		if strings.HasPrefix(more[i], ":") && at >= 0 {
			all[at+1] = more[i+1]
			continue
		}
		all = append(all, more[i], more[i+1])
	}
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for i := 0; i < len(all); i += 2 {
		e.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1], Sensitive: true}) // nothing is remembered
	}
	return block.Bytes()
}

// A talker sends calls about a model, one after the other, over a connection of
// HTTP/2: a new one for each call takes longer than the call. One that the server has
// ended is replaced.
type talker struct {
	dial   func() (net.Conn, error)
	conn   net.Conn // nil: there is none
	framer *http2.Framer
	stream uint32
}

// ask returns the status of a call and the words with it; "" if its stream is reset or
// its connection ends.
func (c *talker) ask(header []byte) (code, text string, err error) {
	if c.conn == nil {
		err := c.connect()
		if err != nil {
			return "", "", err
		}
	}
	for at := 0; at == 0 || at < len(header); {
		n := min(len(header)-at, 16_000)
		last := at+n == len(header)
		if at == 0 {
			c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: header[:n], EndHeaders: last})
		} else {
			c.framer.WriteContinuation(c.stream, last, header[at:at+n])
		}
		at += n
	}
	c.framer.WriteData(c.stream, true, []byte("\x00\x00\x00\x00\x0a\x0a\x08strength")) // a message of the name of a model
	code, text, whole := answered(c.framer, c.stream)
	c.stream += 2
	if !whole {
		c.conn.Close()
		c.conn = nil
	}
	return code, text, nil
}

func (c *talker) connect() error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	c.conn = conn
	c.stream = 1
	io.WriteString(conn, http2.ClientPreface)
	c.framer = http2.NewFramer(conn, conn)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return c.framer.WriteSettings()
}

// answered reads until a call has its status; whole: the connection can take another.
func answered(w *http2.Framer, stream uint32) (code, text string, whole bool) {
	for {
		frame, err := w.ReadFrame()
		if err != nil {
			return "", "", false
		}
		if frame.Header().StreamID != 0 && frame.Header().StreamID != stream {
			continue
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			for _, h := range frame.Fields {
				switch h.Name {
				case "grpc-status":
					code = h.Value
				case "grpc-message":
					text = h.Value
				}
			}
			if frame.StreamEnded() {
				return code, text, true
			}
		case *http2.RSTStreamFrame:
			return "", "", true
		case *http2.GoAwayFrame:
			return "", "", false
		}
	}
}
