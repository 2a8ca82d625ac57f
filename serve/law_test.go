package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"utvi/serve"
	"utvi/serve/oip"
)

// The law of memory, term by term: with what its parts take together a request is answered, and
// with a little less it is refused. So none of them is left out, and none is counted twice.
func TestLaw(t *testing.T) {
	const n = 1000
	rows := named(n, 3)
	temperature, std, minutes, resin := columns(rows)
	texts := int64(0)
	for _, s := range resin {
		texts += int64(len(s))
	}
	s, err := serve.New(serve.Config{Models: sources(), Limits: serve.Limits{Share: 1, Body: 256 << 10}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	a := serve.AccountOf(s, "strength")
	handler := s.Handler()
	post := func(path, body, head string) func() int {
		return func() int {
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			r.Header.Set("Inference-Header-Content-Length", head)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Code
		}
	}
	call := caller(t, s)
	tensors, text := a.Outputs(n)
	const inputs = (3*8 + 24) * n // three columns of numbers and one of texts
	table := a.Rows(n, texts) + tensors

	objects, _ := json.Marshal(map[string]any{"rows": rows})
	net := serve.AccountOf(s, "net")
	numbers := "[" + strings.Repeat("[1,2,3],", n-1) + "[1,2,3]]"
	varied := `{"rows":` + numbers + `,"variances":` + numbers + `}`
	named := []string{tensorJSON("temperature", "FP64", temperature), tensorJSON("temperature_std", "FP64", std), tensorJSON("minutes", "FP64", minutes), tensorJSON("resin", "BYTES", resin)}
	plain := `{"inputs":[` + strings.Join(named, ",") + `]}`
	message, raw := grpcRequest(rows, false), grpcRequest(rows, true)
	one := grpcRequest(rows[:1], false)
	binaryHead, binaryBody := binaryRequest(raw)
	for what, c := range map[string]struct {
		need int64
		ask  func() int
	}{
		"rows as objects":    {a.Body(int64(len(objects))) + int64(len(objects)) + a.Rows(n, 0) + a.Answer(n), post("/predict/strength", string(objects), "")},
		"rows and variances": {net.Body(int64(len(varied))) + net.Rows(n, 0) + net.Variances(n) + net.Answer(n), post("/predict/net", varied, "")},
		"tensors as JSON":    {a.Body(int64(len(plain))) + inputs + table + text, post("/v2/models/strength/infer", plain, "")},
		"tensors as bytes":   {a.Body(int64(len(binaryBody))) + inputs + table + text, post("/v2/models/strength/infer", binaryBody, fmt.Sprint(binaryHead))},
		"a message":          {serve.Window + decoded(message) + inputs + table + answerBytes(t, call, message), code(call, message)},
		"a message of raws":  {serve.Window + decoded(raw) + inputs + table + rawBytes(n) + answerBytes(t, call, raw), code(call, raw)},
		"a short message":    {serve.Window + a.Message(), code(call, one)},
	} {
		const slack = 1500 // names and parameters
		for _, d := range []int64{-slack, slack} {
			a.Only(c.need + d)
			got := c.ask()
			for end := time.Now().Add(serve.Patience); a.Left() != c.need+d && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // the network has not taken the answer
			}
			if want := map[bool]int{true: 200, false: 429}[d > 0]; got != want || a.Left() != c.need+d {
				t.Errorf("%s with %+d bytes of %d: %d, want %d; %d bytes are not given back", what, d, c.need, got, want, c.need+d-a.Left())
			}
		}
	}
}

// tensorJSON is a column as a tensor.
func tensorJSON[T any](name, kind string, values []T) string {
	data, err := json.Marshal(values)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"name":%q,"datatype":%q,"shape":[%d],"data":%s}`, name, kind, len(values), data)
}

// binaryRequest has the raw contents of a message behind its JSON.
func binaryRequest(m *oip.ModelInferRequest) (head int, body string) {
	var inputs []string
	for i, in := range m.Inputs {
		inputs = append(inputs, fmt.Sprintf(`{"name":%q,"datatype":%q,"shape":[%d],"parameters":{"binary_data_size":%d}}`, in.Name, in.Datatype, in.Shape[0], len(m.RawInputContents[i])))
	}
	text := `{"inputs":[` + strings.Join(inputs, ",") + `]}`
	head = len(text)
	for _, b := range m.RawInputContents {
		text += string(b)
	}
	return head, text
}

// caller calls a server by gRPC.
func caller(t *testing.T, s *serve.Server) oip.GRPCInferenceServiceClient {
	g := s.GRPC(nil)
	l := bufconn.Listen(1 << 20)
	go g.Serve(l)
	t.Cleanup(g.Stop)
	c, err := grpc.NewClient("passthrough:x", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return l.Dial() }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return oip.NewGRPCInferenceServiceClient(c)
}

// code is the status of a call, as HTTP has it.
func code(c oip.GRPCInferenceServiceClient, m *oip.ModelInferRequest) func() int {
	return func() int {
		_, err := c.ModelInfer(context.Background(), m)
		return map[codes.Code]int{codes.OK: 200, codes.ResourceExhausted: 429}[status.Code(err)]
	}
}

// decoded is the message as it comes, and what it becomes.
func decoded(m *oip.ModelInferRequest) int64 {
	text, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return int64(len(text)) + serve.Decoded(text, m)
}

// answerBytes is the answer to a message, with what the transport adds.
func answerBytes(t *testing.T, c oip.GRPCInferenceServiceClient, m *oip.ModelInferRequest) int64 {
	t.Helper()
	out, err := c.ModelInfer(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return int64(proto.Size(out)) + 1<<10
}

// rawBytes is what the outputs of rows take as bytes: eight numbers and a decision.
func rawBytes(n int) int64 { return int64(n) * (8*8 + 1) }

// The list of models takes memory, too.
func TestLawOfLists(t *testing.T) {
	s, err := serve.New(serve.Config{Models: sources(), Limits: serve.Limits{Share: 1}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	a := serve.AccountOf(s, "strength")
	for left, want := range map[int64]int{100: 429, 10 << 20: 200} {
		a.Only(left)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/models", nil))
		if w.Code != want || a.Left() != left {
			t.Errorf("with %d bytes: %d, want %d; %d are left", left, w.Code, want, a.Left())
		}
	}
}
