package serve_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

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

// bytesCodec sends bytes as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string                       { return "proto" }
func (bytesCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }
