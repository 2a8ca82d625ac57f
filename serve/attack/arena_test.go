package attack

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"utvi/serve"
	"utvi/serve/oip"
)

// token is known to the server and to its clients, but not to strangers.
const token = "s3cret"

// maxMemory is the server's --max-memory.
const maxMemory = 128 << 20

// An arena is a server with a second client, who must be served whatever others do.
type arena struct {
	t          testing.TB
	folder     string     // of the program, its model and the token
	file       sync.Mutex // of those who replace the model
	pid        int
	secure     *tls.Config // of clients; nil: there is no TLS
	http, grpc string
	process    *exec.Cmd
	ended      chan error

	second  *http.Client // another address of this machine
	control *httptest.Server
	want    string // the answer to question
	calls   *grpc.ClientConn
}

// question is a row that the model can predict.
const question = `{"rows":[{"temperature":140,"temperature_std":1,"minutes":30,"resin":"birch"}]}`

// build makes the program and a model, and returns the folder they are in.
func build(t testing.TB) string {
	folder := t.TempDir()
	run := func(name string, args ...string) {
		c := exec.Command(name, args...)
		if strings.HasPrefix(name, folder) {
			c.Dir = folder
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	program := filepath.Join(folder, "utvi")
	run("go", "build", "-o", program, "utvi/cmd/utvi")
	run(program, "example", "table", "--rows", "300", "-o", "resin.csv")
	run(program, "fit", "resin.csv", "--target", "strength", "--out", "strength.utvi", "--ensemble", "2", "--steps", "50", "--depth", "1",
		"--kl", "0.3", "--activation", "gelu", "--report", "none")
	photographs(t, filepath.Join(folder, "photos"))
	run(program, "fit", "photos", "--out", "pictures.utvi", "--ensemble", "1", "--steps", "30", "--width", "2", "--report", "none", "--augment", "none")
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// open starts a server; secure is what its clients know of its certificate, if it has one.
func open(t testing.TB, folder string, secure *tls.Config, flags ...string) *arena {
	a := &arena{t: t, folder: folder, secure: secure, ended: make(chan error, 1)}
	args := append([]string{"serve", "strength.utvi", "pictures.utvi", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--token-file", "token",
		"--max-memory", strconv.Itoa(maxMemory)}, flags...)
	a.process = exec.Command(filepath.Join(folder, "utvi"), args...)
	a.process.Dir = folder
	log, err := a.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.process.Start(); err != nil {
		t.Fatal(err)
	}
	a.pid = a.process.Process.Pid
	lines := bufio.NewReader(log)
	line, err := lines.ReadString('\n')
	at := regexp.MustCompile(`http=(\S+) grpc=(\S+)`).FindStringSubmatch(line)
	if err != nil || at == nil {
		t.Fatalf("%q %v", line, err)
	}
	a.http, a.grpc = at[1], at[2]
	var tail bytes.Buffer
	go func() {
		io.Copy(&limited{&tail}, lines)
		a.ended <- a.process.Wait()
	}()
	t.Cleanup(func() {
		a.process.Process.Kill()
		if t.Failed() {
			t.Logf("the server's last words:\n%s", tail.String())
		}
	})
	a.second = a.client("127.0.0.2", true)
	a.control = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) }))
	t.Cleanup(a.control.Close)
	a.calls = a.dial(from("127.0.0.2"))
	code, text, err := a.ask(a.second)
	if err != nil || code != 200 {
		t.Fatal(code, text, err)
	}
	a.want = text
	return a
}

// limited keeps the last words of a log.
type limited struct{ b *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len() > 1<<16 {
		l.b.Reset()
	}
	return l.b.Write(p)
}

// from dials from an address of this machine.
func from(ip string) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	return d.DialContext
}

// client returns a client of HTTP at an address of this machine.
func (a *arena) client(ip string, keep bool) *http.Client {
	return &http.Client{Timeout: 2 * hang, Transport: &http.Transport{DialContext: from(ip), TLSClientConfig: a.secure.Clone(), DisableKeepAlives: !keep}}
}

// url is where a path of the server is.
func (a *arena) url(path string) string {
	if a.secure != nil {
		return "https://" + a.http + path
	}
	return "http://" + a.http + path
}

// dial returns a client of gRPC.
func (a *arena) dial(by func(ctx context.Context, network, address string) (net.Conn, error)) *grpc.ClientConn {
	c := insecure.NewCredentials()
	if a.secure != nil {
		c = credentials.NewTLS(a.secure.Clone())
	}
	return a.dialAs(c, by)
}

func (a *arena) dialAs(as credentials.TransportCredentials, by func(ctx context.Context, network, address string) (net.Conn, error)) *grpc.ClientConn {
	c, err := grpc.NewClient("passthrough:///"+a.grpc, grpc.WithTransportCredentials(as), grpc.WithAuthority("localhost"),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return by(ctx, "tcp", a.grpc) }))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { c.Close() })
	return c
}

// insider adds the token to a context.
func insider(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// ask asks for a prediction.
func (a *arena) ask(c *http.Client) (int, string, error) { return a.askIn(context.Background(), c) }

func (a *arena) askIn(ctx context.Context, c *http.Client) (int, string, error) {
	q, err := http.NewRequestWithContext(ctx, "POST", a.url("/predict/strength"), strings.NewReader(question))
	if err != nil {
		return 0, "", err
	}
	q.Header.Set("Authorization", "Bearer "+token)
	r, err := c.Do(q)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

// status reads a figure of the process, in bytes.
func (a *arena) status(name string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid))
	if err != nil {
		a.t.Fatalf("the server is gone: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				a.t.Fatal(err)
			}
			return kb << 10
		}
	}
	a.t.Fatalf("no %s in the status of the process", name)
	return 0
}

// forgetPeak makes the peak of the resident memory begin anew.
func (a *arena) forgetPeak() {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", a.pid), []byte("5"), 0); err != nil {
		a.t.Fatalf("the peak of the memory cannot be reset: %v", err)
	}
}

// hang is longer than any answer takes, however busy the machine is.
const hang = time.Minute

// allowed is how long an answer may take. A second is promised on a machine that does
// nothing else, where UTVI_ATTACKS_LIMIT=1s asks for it; attackers and others use the same
// processors.
func allowed(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("UTVI_ATTACKS_LIMIT")
	if text == "" {
		return hang
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal("UTVI_ATTACKS_LIMIT: ", err)
	}
	return d
}

// A watch is what the second client sees during an attack.
type watch struct {
	mu      sync.Mutex
	bare    time.Duration // the slowest answer of the bare server
	slowest map[string]time.Duration
	failed  []string
	checks  int
}

func (w *watch) note(what string, took time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.failed = append(w.failed, fmt.Sprintf("%s: %v", what, err))
	}
	w.slowest[what] = max(w.slowest[what], took)
	w.checks++
}

// observe checks the health of the server over HTTP and gRPC until ctx ends.
func (a *arena) observe(ctx context.Context) *watch {
	w := &watch{slowest: map[string]time.Duration{}}
	client := oip.NewGRPCInferenceServiceClient(a.calls)
	fresh := a.client("127.0.0.2", false)
	timed := func(what string, f func() error) {
		begin := time.Now()
		err := f()
		w.note(what, time.Since(begin), err)
	}
	for {
		begin := time.Now()
		if r, err := http.Get(a.control.URL); err == nil {
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
		w.bare = max(w.bare, time.Since(begin))
		timed("health over HTTP", func() error { return get(fresh, a.url("/v2/health/live")) })
		timed("health over gRPC", func() error {
			limit, cancel := context.WithTimeout(context.Background(), 2*hang)
			defer cancel()
			_, err := client.ServerLive(limit, &oip.ServerLiveRequest{})
			return err
		})
		timed("check over gRPC", func() error { return a.check() })
		select {
		case <-ctx.Done():
			return w
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func get(c *http.Client, url string) error {
	r, err := c.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	io.Copy(io.Discard, r.Body)
	if r.StatusCode != 200 {
		return fmt.Errorf("status %d", r.StatusCode)
	}
	return nil
}

// endure runs an attack and reports what it did to the server.
func (a *arena) endure(t testing.TB, name string, f func(ctx context.Context)) {
	t.Helper()
	a.forgetPeak()
	ctx, cancel := context.WithTimeout(context.Background(), attackTime)
	watching, stop := context.WithCancel(context.Background())
	seen := make(chan *watch, 1)
	go func() { seen <- a.observe(watching) }()
	f(ctx)
	cancel()
	stop()
	w := <-seen
	limit := allowed(t)
	served := a.recover(t, limit)
	peak := a.status("VmHWM")
	if most := int64(maxMemory + serve.Overhead); peak > most {
		t.Errorf("%s: the server took %d MB; %d are promised", name, peak>>20, most>>20)
	}
	slowest := time.Duration(0)
	for what, took := range w.slowest {
		slowest = max(slowest, took)
		if took > limit {
			t.Errorf("%s: %s took %v; a bare server took %v", name, what, took, w.bare)
		}
	}
	for i, what := range w.failed {
		if i == 3 {
			break
		}
		t.Errorf("%s: %s (%d of %d failed)", name, what, len(w.failed), w.checks)
	}
	t.Logf("%-40s peak %4d MB, %3d checks, slowest %4d ms (bare %3d), served again after %4d ms", name, peak>>20, w.checks, slowest.Milliseconds(), w.bare.Milliseconds(), served.Milliseconds())
}

// recover waits until the server serves as before.
func (a *arena) recover(t testing.TB, allowed time.Duration) time.Duration {
	t.Helper()
	begin := time.Now()
	first := a.client("127.0.0.1", false)
	for {
		code, text, err := a.ask(first)
		again, other, err2 := a.ask(a.second)
		if err == nil && err2 == nil && code == 200 && again == 200 && text == a.want && other == a.want {
			return time.Since(begin)
		}
		if time.Since(begin) > allowed {
			t.Errorf("the server does not serve %v after the attack: %d %.200s %v; %d %.200s %v", time.Since(begin), code, text, err, again, other, err2)
			return time.Since(begin)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// attackTime bounds an attack.
const attackTime = time.Second

// together runs f n times at once.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
