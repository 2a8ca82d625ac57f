package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"utvi/serve"
	"utvi/serve/oip"
)

// A body that is announced too long is refused before it comes; one that is not announced,
// when it is.
func TestBodyLimit(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Body: 5000}}, serve.Listen{})
	question := `{"rows":[` + goodRow + `]}`
	for what, c := range map[string]struct {
		header, body string
		code         int
	}{
		"announced":           {"Content-Length: 5001", "", 413},
		"a byte too long":     {"Content-Length: 5001", question + strings.Repeat(" ", 5001-len(question)), 413},
		"as long as it may":   {"Content-Length: 5000", question + strings.Repeat(" ", 5000-len(question)), 200},
		"chunks":              {"Transfer-Encoding: chunked", fmt.Sprintf("1388\r\n%s%s\r\n1\r\n \r\n0\r\n\r\n", question, strings.Repeat(" ", 5000-len(question))), 413},
		"chunks that may be":  {"Transfer-Encoding: chunked", fmt.Sprintf("1388\r\n%s%s\r\n0\r\n\r\n", question, strings.Repeat(" ", 5000-len(question))), 200},
		"chunks without end":  {"Transfer-Encoding: chunked", fmt.Sprintf("8000\r\n%s\r\n", strings.Repeat(" ", 0x8000)), 413},
		"a short one, chunks": {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(question), question), 200},
	} {
		c2, err := net.Dial("tcp", strings.TrimPrefix(r.http, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c2.Close()
		c2.SetDeadline(time.Now().Add(serve.Patience))
		fmt.Fprintf(c2, "POST /predict/strength HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n%s", c.header, c.body)
		a, err := http.ReadResponse(bufio.NewReader(c2), nil)
		if err != nil {
			t.Fatal(what, err)
		}
		if a.StatusCode != c.code {
			text, _ := io.ReadAll(a.Body)
			t.Errorf("%s: %d %s, want %d", what, a.StatusCode, text, c.code)
		}
	}
}

// What REST is refused, gRPC is: dimensions and outputs without end.
func TestMessageLimits(t *testing.T) {
	c := dial(t, start(t, serve.Config{}, serve.Listen{}))
	for what, change := range map[string]func(m *oip.ModelInferRequest){
		"dimensions":           func(m *oip.ModelInferRequest) { m.Inputs[0].Shape = []int64{1, 1, 1, 1, 1, 1, 1, 1, 1} },
		"more than 32 outputs": func(m *oip.ModelInferRequest) { m.Outputs = manyOutputs(33) },
		"no output":            func(m *oip.ModelInferRequest) { m.Outputs = manyOutputs(32) },
	} {
		m := grpcRequest(named(1, 1), false)
		change(m)
		_, err := c.ModelInfer(t.Context(), m)
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func manyOutputs(n int) (all []*oip.ModelInferRequest_InferRequestedOutputTensor) {
	for i := range n {
		all = append(all, &oip.ModelInferRequest_InferRequestedOutputTensor{Name: fmt.Sprint("o", i)})
	}
	return all
}

// The port of gRPC tells clients how many streams and how long headers it takes, refuses a
// message by the length that it announces, and ends a connection that says nothing.
func TestWire(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Time: 2 * time.Second, Body: 100_000}}, serve.Listen{})
	silent, err := net.Dial("tcp", r.grpc)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	patient := start(t, serve.Config{Limits: serve.Limits{Time: serve.Patience, Body: 100_000}}, serve.Listen{})
	c, err := net.Dial("tcp", patient.grpc)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(serve.Patience))
	io.WriteString(c, http2.ClientPreface)
	w := http2.NewFramer(c, c)
	w.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	w.WriteSettings()
	frame, err := w.ReadFrame()
	settings, ok := frame.(*http2.SettingsFrame)
	if err != nil || !ok {
		t.Fatal(frame, err)
	}
	for id, want := range map[http2.SettingID]uint32{http2.SettingMaxConcurrentStreams: 64, http2.SettingMaxHeaderListSize: 8 << 10} {
		if got, _ := settings.Value(id); got != want {
			t.Errorf("%v is %d, want %d", id, got, want)
		}
	}
	w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headerBlock(oip.GRPCInferenceService_ModelInfer_FullMethodName), EndHeaders: true})
	w.WriteData(1, false, []byte{0, 0, 2, 0, 0}) // a message of 131,072 bytes, which does not come
	if code, text, _ := answered(w, 1); code != "8" || !strings.Contains(text, "larger than max") {
		t.Errorf("an announced message is answered by %s, %s", code, text)
	}
	// The transport's own limit is two minutes.
	silent.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadAll(silent); err != nil {
		t.Errorf("a connection that says nothing is kept: %v", err)
	}
}
