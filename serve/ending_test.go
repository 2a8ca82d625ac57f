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

	"utvi/serve"
)

// An answer that is sent after the end began says that its connection ends, also if its
// request came before: the next one would meet a connection that is closed.
func TestLateAnswersSayTheEnd(t *testing.T) {
	const half, body = `{"rows":[`, goodRow + `]}`
	for _, path := range []string{"/predict/strength", "/v2/models/strength/infer"} {
		end := make(chan bool)
		r := start(t, serve.PauseWith(serve.Config{}, func(d time.Duration) {
			if d != 300*time.Millisecond {
				t.Errorf("idle connections are kept for %v", d)
			}
			<-end
		}), serve.Listen{})
		c, err := net.Dial("tcp", strings.TrimPrefix(r.http, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", path, len(half+body))
		in := bufio.NewReader(c)
		line, err := in.ReadString('\n') // the server asks for the body once it reads it
		if err != nil || !strings.Contains(line, "100 Continue") {
			t.Fatalf("%q %v", line, err)
		}
		in.ReadString('\n')
		io.WriteString(c, half)
		r.stop()
		for end := time.Now().Add(serve.Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if code, _, _ := r.send("GET", "/v2/health/ready", ""); code == 503 {
				break
			}
		}
		io.WriteString(c, body)
		a, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !a.Close {
			t.Errorf("%s: status %d, and no word of the end", path, a.StatusCode)
		}
		a.Body.Close()
		c.Close()
		close(end)
	}
}
