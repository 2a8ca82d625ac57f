package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"utvi/serve"
	"utvi/serve/oip"
)

// A server of this machine answers to its own names only, wherever its other protocol
// listens.
func TestNames(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{GRPC: "0.0.0.0:0"})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(r.http, "http://"))
	for host, want := range map[string]int{"localhost": 200, "LOCALHOST:" + port: 200, "127.0.0.1:" + port: 200, "[::1]:80": 200, "127.9.9.9": 200,
		"evillocalhost": 403, "evillocalhost:" + port: 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "0.0.0.0": 403, "10.0.0.1": 403, "evil.example:" + port: 403} {
		q, _ := http.NewRequest("GET", r.http+"/models", nil)
		q.Host = host
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, a.StatusCode, want)
		}
	}
	if log := r.log.String(); strings.Count(log, "without asking for a token") != 1 {
		t.Errorf("the exposed listener is not said aloud, once:\n%s", log)
	}
	other := start(t, serve.Config{}, serve.Listen{HTTP: "0.0.0.0:0"})
	for authority, want := range map[string]codes.Code{"localhost": codes.OK, "evillocalhost": codes.PermissionDenied, "evil.example": codes.PermissionDenied} {
		c, err := grpc.NewClient(other.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority(authority))
		if err != nil {
			t.Fatal(err)
		}
		_, err = oip.NewGRPCInferenceServiceClient(c).ServerLive(t.Context(), &oip.ServerLiveRequest{})
		c.Close()
		if status.Code(err) != want {
			t.Errorf("gRPC as %s: %v, want %v", authority, err, want)
		}
	}
	if log := other.log.String(); !strings.Contains(log, "without asking for a token") {
		t.Error("the exposed listener of HTTP is not said aloud")
	}
	secured := start(t, serve.Config{Token: "s"}, serve.Listen{HTTP: "0.0.0.0:0"})
	if log := secured.log.String(); strings.Contains(log, "without asking for a token") {
		t.Error("a server with a token says that it asks for none")
	}
}

// The token of gRPC is asked for before anything is read, of calls and of streams.
func TestTokenOfStreams(t *testing.T) {
	r := start(t, serve.Config{Token: "s3cret"}, serve.Listen{})
	c := connection(t, r)
	known := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer s3cret")
	wrong := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer s3cre")
	for name, ctx := range map[string]context.Context{"none": t.Context(), "wrong": wrong, "known": known} {
		want := codes.Unauthenticated
		if name == "known" {
			want = codes.OK
		}
		stream, err := reflection.NewServerReflectionClient(c).ServerReflectionInfo(ctx)
		if err == nil {
			stream.Send(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_ListServices{}})
			_, err = stream.Recv()
		}
		if status.Code(err) != want {
			t.Errorf("a stream, token %s: %v", name, err)
		}
		noise := bytes.Repeat([]byte{0xff}, 1<<20)
		err = c.Invoke(ctx, oip.GRPCInferenceService_ModelInfer_FullMethodName, &noise, &[]byte{}, grpc.ForceCodec(bytesCodec{}))
		if name == "known" {
			want = codes.InvalidArgument
		}
		if status.Code(err) != want {
			t.Errorf("a message that is none, token %s: %v", name, err)
		}
		_, err = oip.NewGRPCInferenceServiceClient(c).ModelStatistics(ctx, &oip.ModelStatisticsRequest{})
		if (err == nil) != (name == "known") {
			t.Errorf("statistics, token %s: %v", name, err)
		}
	}
	if _, err := health.NewHealthClient(c).Check(t.Context(), &health.HealthCheckRequest{}); err != nil {
		t.Error(err)
	}
	w, err := health.NewHealthClient(c).Watch(t.Context(), &health.HealthCheckRequest{})
	if err == nil {
		_, err = w.Recv()
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := health.NewHealthClient(c).List(t.Context(), &health.HealthListRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
}

func connection(t *testing.T, r *running) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(r.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A stranger's connection ends with the refusal; that of a client stays.
func TestStrangersHoldNothing(t *testing.T) {
	r := start(t, serve.Config{Token: "s3cret"}, serve.Listen{})
	for header, closed := range map[string]bool{"": true, "Authorization: Bearer s3cret\r\n": false} {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.http, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /models HTTP/1.1\r\nHost: localhost\r\n%s\r\n", header)
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Close != closed {
			t.Errorf("with %q the connection is closed: %v", header, a.Close)
		}
	}
}

// Headers that do not come are not waited for, and long ones are refused.
func TestHeaders(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Time: 300 * time.Millisecond}}, serve.Listen{})
	c, err := net.Dial("tcp", strings.TrimPrefix(r.http, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /models HTTP/1.1\r\nHost: local")
	c.SetReadDeadline(time.Now().Add(serve.Patience))
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the connection is not closed: %v", err)
	}
	q, _ := http.NewRequest("GET", r.http+"/models", nil)
	q.Header.Set("X", strings.Repeat("a", 13<<10))
	if a, err := http.DefaultClient.Do(q); err == nil && a.StatusCode != 431 { // or the connection is cut
		t.Errorf("a header of 13 KiB: %d", a.StatusCode)
	}
	if code, _, _ := r.send("GET", "/models", "", "X", strings.Repeat("a", 7<<10)); code != 200 {
		t.Errorf("a header of 7 KiB: %d", code)
	}
	long := metadata.AppendToOutgoingContext(t.Context(), "x", strings.Repeat("a", 9<<10))
	if _, err := oip.NewGRPCInferenceServiceClient(connection(t, r)).ServerLive(long, &oip.ServerLiveRequest{}); err == nil {
		t.Error("metadata of 9 KiB is accepted")
	}
}

// One client cannot hold what others need: connections and requests.
func TestShares(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Connections: 8, Requests: 4}}, serve.Listen{})
	address := strings.TrimPrefix(r.http, "http://")
	second := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}}
	defer second.CloseIdleConnections()
	a, err := second.Get(r.http + "/v2/health/live")
	if err != nil {
		t.Skipf("this machine has one address: %v", err)
	}
	a.Body.Close()
	active := func() string { // as the second client sees it
		a, err := second.Get(r.http + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, _ := io.ReadAll(a.Body)
		_, rest, _ := strings.Cut(string(text), "\nutvi_requests_active ")
		n, _, _ := strings.Cut(rest, "\n")
		return n
	}
	begin := func(text string) *bufio.Reader {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, text)
		return bufio.NewReader(c)
	}
	const post = "POST /predict/strength HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
	for i := range 2 { // of four places, one client may hold two
		begin(post)
		for end := time.Now().Add(serve.Patience); active() != fmt.Sprint(i+1) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	status := func(from *bufio.Reader) int {
		a, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode
	}
	if code := status(begin("POST /predict/strength HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")); code != 429 {
		t.Errorf("a third request: %d", code)
	}
	const live = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for open := 3; ; open++ { // of eight connections, it may hold four
		if code := status(begin(live)); code != 200 {
			if open != 4 || code != 503 {
				t.Errorf("after %d connections: %d", open, code)
			}
			break
		}
	}
	q, _ := http.NewRequest("POST", r.http+"/predict/strength", strings.NewReader(`{"rows":[`+goodRow+`]}`))
	a, err = second.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != 200 {
		t.Errorf("the second client gets %d", a.StatusCode)
	}
}

// Streams that are idle end when the server does, and messages may still come.
func TestStopEndsStreams(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	c := connection(t, r)
	w, err := health.NewHealthClient(c).Watch(t.Context(), &health.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Recv(); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := c.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, oip.GRPCInferenceService_ModelInfer_FullMethodName); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(serve.Patience); metric(r, "utvi_requests_active") != "10" && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	begin := time.Now()
	r.stop()
	if s, err := w.Recv(); err == nil && s.Status != health.HealthCheckResponse_NOT_SERVING {
		t.Errorf("the health is %v", s)
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 20*time.Second { // of 31 that a request may take
		t.Errorf("the end took %v", took)
	}
	r.ended <- nil
}
