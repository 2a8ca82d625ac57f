package serve_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"net"

	"utvi/serve"
	"utvi/serve/oip"
)

var quiet = sync.OnceValue(func() *serve.Server {
	s, err := serve.New(serve.Config{Models: sources(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		panic(err)
	}
	return s
})

// Whatever the body is, the answer is a prediction or one sentence.
func FuzzHTTP(f *testing.F) {
	h := quiet().Handler()
	good := `{"rows":[` + goodRow + `]}`
	for i, body := range []string{good, `{"rows":[[1,2,3]],"variances":[[1,2,3]],"quantiles":[0.1],"density":5}`,
		`{"inputs":[{"name":"inputs","datatype":"FP32","shape":[1,3],"data":[1,2,3]}],"outputs":[{"name":"mean","parameters":{"binary_data":true}}]}`,
		`{"inputs":[{"name":"inputs","datatype":"FP32","shape":[1,3],"parameters":{"binary_data_size":12}}]}abcdefghijkl`,
		`{"inputs":[{"name":"resin","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":9}}],"parameters":{"quantiles":"0.1"}}` + "\x05\x00\x00\x00birch"} {
		f.Add([]byte(body), uint8(i), uint16(strings.LastIndex(body, "}")+1))
	}
	paths := []string{"/predict/strength", "/predict/net", "/v2/models/net/infer", "/v2/models/strength/infer", "/predict/resin", "/v2/models/resin/infer"}
	f.Fuzz(func(t *testing.T, body []byte, path uint8, head uint16) {
		r := httptest.NewRequest("POST", paths[int(path)%len(paths)], strings.NewReader(string(body)))
		if head%2 == 1 {
			r.Header.Set("Inference-Header-Content-Length", strconv.Itoa(int(head)))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if text := w.Body.String(); w.Code != 200 && (!strings.HasPrefix(text, `{"error":"`) || strings.Count(text, "\n") != 1) {
			t.Fatalf("%d %s", w.Code, text)
		}
	})
}

// Whatever the message is, the answer is a prediction or a code that is not the server's
// fault.
func FuzzGRPC(f *testing.F) {
	g := quiet().GRPC(nil)
	l := bufconn.Listen(1 << 20)
	go g.Serve(l)
	f.Cleanup(g.Stop)
	c, err := grpc.NewClient("passthrough:x", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return l.Dial() }))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	for _, raw := range []bool{false, true} {
		text, err := proto.Marshal(grpcRequest(named(1, 1), raw))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := c.Invoke(t.Context(), oip.GRPCInferenceService_ModelInfer_FullMethodName, &text, &[]byte{}, grpc.ForceCodec(bytesCodec{}))
		switch status.Code(err) {
		case codes.OK, codes.InvalidArgument, codes.NotFound, codes.ResourceExhausted:
		case codes.Internal: // the message is not one of protobuf
			if proto.Unmarshal(text, &oip.ModelInferRequest{}) == nil {
				t.Fatal(err)
			}
		default:
			t.Fatal(err)
		}
	})
}

// Whatever stands in the metadata, a call is answered or refused: nothing of it ends the
// server, and only the token opens what needs it.
func FuzzMetadata(f *testing.F) {
	s, err := serve.New(serve.Config{Models: sources(), Token: "s3cret", LogRequests: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		f.Fatal(err)
	}
	g := s.GRPC(nil)
	l := bufconn.Listen(1 << 20)
	go g.Serve(l)
	f.Cleanup(g.Stop)
	f.Add("authorization", "Bearer s3cret", "x-request-id", "1", true)
	f.Add("authorization", "bearer  s3cret", ":authority", "localhost", false)
	f.Add("grpc-timeout", "1S", "grpc-encoding", "gzip", true)
	f.Add("content-type", "application/grpc+json", "x-bin", "AAAA=", false)
	f.Add(":path", "/inference.GRPCInferenceService/ServerLive", "te", "", true)
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string, live bool) {
		c, err := l.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		path := oip.GRPCInferenceService_ModelReady_FullMethodName
		if live {
			path = oip.GRPCInferenceService_ServerLive_FullMethodName
		}
		code, text := ask(c, headerBlock(path, name1, value1, name2, value2))
		if code == "2" || text == "internal error" { // 13 alone is also the transport's word for metadata that is malformed
			t.Fatalf("the server is at fault: status %s, %s", code, text)
		}
		opened := strings.EqualFold(name1, "authorization") || strings.EqualFold(name2, "authorization")
		if code == "0" && !live && !opened && name1 != ":path" && name2 != ":path" {
			t.Fatal("a model is told without the token")
		}
	})
}

// headerBlock is the header of a call, with more behind it.
func headerBlock(path string, more ...string) []byte {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	all := append([]string{":method", "POST", ":scheme", "http", ":path", path, ":authority", "localhost", "content-type", "application/grpc", "te", "trailers"}, more...)
	for i := 0; i < len(all); i += 2 {
		e.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1], Sensitive: true}) // nothing is remembered
	}
	return block.Bytes()
}

// ask sends a call without a message over a connection of HTTP/2, and returns its status
// and the words with it; "" if the connection ends or the stream is reset.
func ask(c net.Conn, header []byte) (code, text string) {
	io.WriteString(c, http2.ClientPreface)
	w := http2.NewFramer(c, c)
	w.WriteSettings()
	for at := 0; at == 0 || at < len(header); {
		n := min(len(header)-at, 16_000)
		last := at+n == len(header)
		if at == 0 {
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header[:n], EndHeaders: last})
		} else {
			w.WriteContinuation(1, last, header[at:at+n])
		}
		at += n
	}
	w.WriteData(1, true, make([]byte, 5)) // a message of no bytes
	return answered(w)
}

// answered reads until a call has its status.
func answered(w *http2.Framer) (code, text string) {
	w.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := w.ReadFrame()
		if err != nil {
			return "", ""
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
				return code, text
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return "", ""
		}
	}
}

// bytesCodec sends bytes as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string                       { return "proto" }
func (bytesCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }
