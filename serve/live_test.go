package serve_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"utvi/predict"
	"utvi/serve"
	"utvi/serve/oip"
)

func replace(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A file that is replaced while requests come is loaded, and every request gets the
// bits of the old model or of the new one. A damaged file changes nothing.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.utvi")
	files := [][]byte{read(t, strength()), read(t, another())}
	replace(t, path, files[0])
	r := start(t, serve.Config{Models: []serve.Source{{Name: "m", Path: path}}, Reload: 5 * time.Millisecond}, serve.Listen{})
	rows := named(3, 3)
	var want [2][]predict.Prediction
	for i, p := range []string{strength(), another()} {
		var err error
		want[i], err = predictor(t, p, predict.Options{}).Rows(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var seen [2]atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				a, code := r.predict("m", map[string]any{"rows": rows})
				which := -1
				for i := range want {
					if compare(a, want[i], 0) == nil {
						which = i
					}
				}
				if code != 200 || which < 0 {
					t.Errorf("%d %+v", code, a)
					return
				}
				seen[which].Add(1)
			}
		})
	}
	wait := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(serve.Patience); !ok(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s did not happen; log:\n%s", what, r.log)
			}
		}
	}
	for i := 1; i <= 6; i++ {
		before := seen[i%2].Load()
		replace(t, path, files[i%2])
		wait("the new model", func() bool { return seen[i%2].Load() > before+3 })
	}
	// The present model is files[0]. Damaged files leave it.
	damaged := bytes.Clone(files[1])
	damaged[len(damaged)-9] ^= 1
	for name, text := range map[string][]byte{"a flipped bit": damaged, "half a file": files[1][:len(files[1])/2], "a table": []byte("a,b\n1,2\n"), "nothing": {}} {
		logged := strings.Count(r.log.String(), "the model before it stays")
		replace(t, path, text)
		wait(name, func() bool { return strings.Count(r.log.String(), "the model before it stays") > logged })
	}
	os.Remove(path)
	wait("a removed file", func() bool { return strings.Contains(r.log.String(), "no such file") })
	before := seen[1].Load()
	again := seen[0].Load()
	wait("the old model", func() bool { return seen[0].Load() > again+3 })
	if seen[1].Load() != before {
		t.Error("a damaged file changed the model")
	}
	replace(t, path, files[1])
	wait("the repaired file", func() bool { return seen[1].Load() > before+3 })
	stop.Store(true)
	wg.Wait()
	if n := strings.Count(r.log.String(), "the changed file was loaded"); n < 7 {
		t.Errorf("%d reloads in the log:\n%s", n, r.log)
	}
}

// More requests than allowed are told to try again; all others are right; then the
// server is as before.
func TestBusy(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Requests: 4, Share: 1}}, serve.Listen{})
	rows := named(200, 3)
	want, err := predictor(t, strength(), predict.Options{}).Rows(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(map[string]any{"rows": rows})
	var refused, answered atomic.Int64
	var wg sync.WaitGroup
	for range 48 {
		wg.Go(func() {
			for range 5 {
				code, h, text := r.send("POST", "/predict/strength", string(body))
				var a answer
				if err := json.Unmarshal([]byte(text), &a); err != nil {
					t.Error(err)
				}
				switch {
				case code == 429 && h.Get("Retry-After") == "1" && strings.Contains(a.Error, "busy"):
					refused.Add(1)
				case code == 200 && compare(a, want, 0) == nil:
					answered.Add(1)
				default:
					t.Errorf("%d %.200s", code, text)
				}
			}
		})
	}
	wg.Wait()
	if refused.Load() == 0 || answered.Load() == 0 {
		t.Errorf("%d refused, %d answered: this proves nothing", refused.Load(), answered.Load())
	}
	if a, code := r.predict("strength", map[string]any{"rows": rows}); code != 200 || compare(a, want, 0) != nil {
		t.Error("afterwards:", code)
	}
	if got := metric(r, "utvi_requests_refused_total"); got != fmt.Sprint(refused.Load()) {
		t.Errorf("%s refused requests are counted, %d were", got, refused.Load())
	}
}

// Memory is bounded: bodies that do not fit together are refused until others are done.
func TestMemory(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Body: 1 << 20, Memory: 16 << 20, Share: 1, Time: serve.Patience}}, serve.Listen{})
	address := strings.TrimPrefix(r.http, "http://")
	body := strings.Repeat(" ", 900<<10)
	refused := false
	// One more body that lacks its last byte each time: those that grow side by side may
	// refuse each other, and leave room.
	for end := time.Now().Add(serve.Patience); !refused && time.Now().Before(end); {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /predict/strength HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body)+1, body)
		code, h, _ := r.send("POST", "/predict/strength", body+`{"rows":[`+goodRow+`]}`)
		refused = code == 429 && h.Get("Retry-After") != ""
	}
	if !refused {
		t.Error("bodies beyond the limit of memory were not refused")
	}
}

// Too many connections are told to try again.
func TestConnections(t *testing.T) {
	r := start(t, serve.Config{Limits: serve.Limits{Connections: 3, Share: 1}}, serve.Listen{})
	address := strings.TrimPrefix(r.http, "http://")
	var all []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(text), "HTTP/1.1 503 ") || !strings.Contains(string(text), "Retry-After: 1") {
		t.Errorf("%q", text)
	}
	all[0].Close()
	for end := time.Now().Add(serve.Patience); ; {
		a, err := http.Get(r.http + "/v2/health/live")
		if err == nil {
			a.Body.Close()
			if a.StatusCode == 200 {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no connection after one was closed: %v", err)
		}
	}
}

// On the way down the server says that it is not ready, and finishes what it has begun:
// clients that heed this lose no request.
func TestDrain(t *testing.T) {
	left := make(chan bool) // the clients have left, however long that took
	r := start(t, serve.PauseWith(serve.Config{}, func(d time.Duration) {
		if d != time.Second {
			t.Errorf("the server drains for %v", d)
		}
		<-left
	}), serve.Listen{Drain: time.Second})
	defer close(left)
	body, _ := json.Marshal(map[string]any{"rows": named(500, 3)})
	var answered atomic.Int64
	var elsewhere atomic.Bool
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for !elsewhere.Load() {
				code, _, text := r.send("POST", "/predict/strength", string(body))
				if code != 200 || !json.Valid([]byte(text)) {
					t.Errorf("%d %.100s", code, text)
					return
				}
				answered.Add(1)
			}
		})
	}
	for answered.Load() < 6 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	r.stop()
	for end := time.Now().Add(serve.Patience); !elsewhere.Load() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		code, _, _ := r.send("GET", "/v2/health/ready", "")
		elsewhere.Store(code == 503)
	}
	if !elsewhere.Swap(true) {
		t.Error("the server says that it is ready while it stops")
	}
	wg.Wait()
}

// A request that runs when the server stops gets its answer, without any time to drain.
func TestStopFinishes(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	body, _ := json.Marshal(map[string]any{"rows": named(5000, 3)})
	done := make(chan int)
	go func() {
		code, _, text := r.send("POST", "/predict/strength", string(body))
		if !json.Valid([]byte(text)) {
			t.Errorf("%.100s", text)
		}
		done <- code
	}()
	for metric(r, "utvi_requests_active") != "1" {
		select {
		case <-done:
			t.Skip("the machine answered before the server could be stopped")
		default:
		}
	}
	r.stop()
	if code := <-done; code != 200 {
		t.Error(code)
	}
}

// With a token nothing but health, the page and the document is open.
func TestToken(t *testing.T) {
	r := start(t, serve.Config{Token: "s3cret"}, serve.Listen{})
	for path, open := range map[string]bool{"/": true, "/openapi.json": true, "/v2/health/live": true, "/v2/health/ready": true,
		"/v2": false, "/models": false, "/models/net": false, "/metrics": false, "/v2/models/net": false, "/v2/models/net/ready": false} {
		want := 401
		if open {
			want = 200
		}
		if code, _, text := r.send("GET", path, ""); code != want {
			t.Errorf("%s without a token: %d %s", path, code, text)
		}
		for _, wrong := range []string{"Bearer s3cre", "Bearer", "s3cret", "Basic s3cret", "Bearer s3cret2"} {
			if code, h, _ := r.send("GET", path, "", "Authorization", wrong); code != want || want == 401 && h.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with %q: %d", path, wrong, code)
			}
		}
		if code, _, text := r.send("GET", path, "", "Authorization", "Bearer s3cret"); code != 200 {
			t.Errorf("%s with the token: %d %s", path, code, text)
		}
	}
	c := dial(t, r)
	if _, err := c.ModelReady(t.Context(), &oip.ModelReadyRequest{Name: "net"}); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
	if _, err := c.ServerLive(t.Context(), &oip.ServerLiveRequest{}); err != nil {
		t.Error(err)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer s3cret")
	if _, err := c.ModelReady(ctx, &oip.ModelReadyRequest{Name: "net"}); err != nil {
		t.Error(err)
	}
}

// A page of another site cannot use a server of this machine.
func TestOtherSites(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	body := `{"rows":[` + goodRow + `]}`
	if code, _, _ := r.send("POST", "/predict/strength", body, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); code != 403 {
		t.Errorf("another site: %d", code)
	}
	if code, _, _ := r.send("POST", "/predict/strength", body, "Origin", r.http, "Sec-Fetch-Site", "same-origin"); code != 200 {
		t.Errorf("the same site: %d", code)
	}
	q, _ := http.NewRequest("GET", r.http+"/models", nil)
	q.Host = "evil.example"
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != 403 {
		t.Errorf("another name of this machine: %d", a.StatusCode)
	}
}

// TLS for HTTP and gRPC.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := x509.ParseCertificate(der)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	r := start(t, serve.Config{}, serve.Listen{TLS: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	a, err := client.Get(strings.Replace(r.http, "http", "https", 1) + "/models")
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != 200 || a.ProtoMajor != 2 {
		t.Error(a.Status, a.Proto)
	}
	g, err := grpc.NewClient(r.grpc, grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(pool, "localhost")))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := oip.NewGRPCInferenceServiceClient(g).ServerLive(t.Context(), &oip.ServerLiveRequest{}); err != nil {
		t.Error(err)
	}
}

// Metrics count requests, rows and executions, and promtool accepts them.
func TestMetrics(t *testing.T) {
	r := start(t, serve.Config{}, serve.Listen{})
	rows := named(10, 1)
	for range 3 {
		r.predict("strength", map[string]any{"rows": rows})
	}
	r.send("POST", "/predict/strength", "{")
	dial(t, r).ModelInfer(t.Context(), grpcRequest(rows[:2], true))
	const labels = `{model="strength",version="1"`
	for name, want := range map[string]string{
		"utvi_requests_total" + labels + `,protocol="json",code="200"}`:         "3",
		"utvi_requests_total" + labels + `,protocol="json",code="400"}`:         "1",
		"utvi_requests_total" + labels + `,protocol="grpc",code="200"}`:         "1",
		"utvi_inferences_total" + labels + `}`:                                  "32",
		"utvi_execution_rows_count" + labels + `}`:                              "4",
		"utvi_execution_rows_sum" + labels + `}`:                                "32",
		"utvi_request_duration_seconds_count" + labels + `,protocol="json"}`:    "4",
		"utvi_queue_rows" + labels + `}`:                                        "0",
		`utvi_requests_total{model="net",version="1",protocol="v2",code="200"}`: "0",
	} {
		if got := metric(r, name); got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: the format is not checked")
	}
	_, _, text := r.send("GET", "/metrics", "")
	cmd := exec.Command(tool, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
