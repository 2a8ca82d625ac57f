package serve

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
)

// Texts of JSON with every escape, and texts that end too early behind one.
func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`"a\u00e4\u00E4\u00aF"`: "aää\u00af", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\uD83D\uDE00x"`: "😀x", `"\uD83Dx"`: "\uFFFDx", `"\uABCD\uabcd"`: "\uABCD\uABCD",
	} {
		s := &scanner{s: []byte(text)}
		got, err := s.text()
		if err != nil || string(got) != want || s.i != len(text) {
			t.Errorf("%s is %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		`"\n`: "at byte 4: it ends too early, within a text", `"\n\`: "it ends too early, within a text", `"\`: "", "\"\\n\x01\"": "at byte 4: a control character in a text",
		`"\n\x"`: "an unknown escape in a text", `"\u00g0"`: "four hexadecimal digits", `"\u00G0"`: "four hexadecimal digits", `"\u00/0"`: "four hexadecimal digits", `"\u00:0"`: "four hexadecimal digits",
		`"\u00@0"`: "four hexadecimal digits", "\"\\u00`0\"": "four hexadecimal digits", `"\u00a`: "four hexadecimal digits",
		`"\uD83D\`: "it ends too early, within a text", `"\uD83D\u`: "four hexadecimal digits", `"\uD83D`: "it ends too early, within a text",
	} {
		s := &scanner{s: []byte(text)}
		_, err := s.text()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Tensors as bytes: numbers, texts behind their lengths, and truths.
func TestTensorBytes(t *testing.T) {
	x := tensor{floats: []float64{1, math.Inf(-1)}, texts: [][]byte{[]byte("ab"), nil}, bools: []bool{true, false}}
	want := "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\xf0\xff\x02\x00\x00\x00ab\x00\x00\x00\x00\x01\x00"
	if got := x.appendRaw(nil); string(got) != want || x.rawSize() != len(want) {
		t.Errorf("%q of %d bytes", got, x.rawSize())
	}
	for raw, want := range map[string]string{
		"\x01\x00\x00\x00a\x00\x00\x00\x00": "", "\x01\x00\x00\x00a": "too few for 2 texts", "\x01\x00\x00\x00a\x00\x00\x00": "ends within text 2 of 2",
		"\x01\x00\x00\x00a\x01\x00\x00\x00": "ends within text 2 of 2", "\x01\x00\x00\x00a\x00\x00\x00\x00b": "1 bytes behind its last text",
	} {
		x := tensor{name: "x"}
		err := x.readTexts([]byte(raw), 2)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", raw, err, want)
		}
		if want == "" && (len(x.texts) != 2 || string(x.texts[0]) != "a" || len(x.texts[1]) != 0) {
			t.Errorf("%q", x.texts)
		}
	}
	long := dims{1, 2, 3, 4, 5, 6, 7, 8, 9}
	if got := long[:8].String() + " " + long.String(); got != "[1 2 3 4 5 6 7 8] [1 2 3 4 5 6 7 8]… (9 dimensions)" {
		t.Error(got)
	}
}

// Without HTTP or gRPC there is no listener: it has no address, and closing it is no error.
func TestNoListener(t *testing.T) {
	var none *bounded
	if none.address() != nil || none.Close() != nil {
		t.Error("a listener that is none has an address, or cannot be closed")
	}
	s := bare(Limits{})
	b, err := s.listen("HTTP", "", nil)
	if b != nil || err != nil {
		t.Errorf("no address: %v, %v", b, err)
	}
}

// A connection that finds no room gives back what it took.
func TestConnectionsGiveBack(t *testing.T) {
	clients := &clients{limits: Limits{Connections: 2}.complete()}
	all := &connections{most: 1}
	b := &bounded{clients: clients, all: all}
	conn := func(port int) net.Conn {
		return addressed{from: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: port}}
	}
	first := b.admit(conn(1))
	if first == nil {
		t.Fatal("the first connection is refused")
	}
	first.trust()
	for port := range 5 {
		if b.admit(conn(2+port)) != nil {
			t.Fatal("a second connection is admitted")
		}
	}
	if n := first.who.connections.Load(); n != 1 {
		t.Errorf("the client has %d connections", n)
	}
	first.Close()
	if b.admit(conn(9)) == nil {
		t.Error("there is no room after the first has gone")
	}
}

// addressed is a connection that says where it comes from.
type addressed struct {
	nopConn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }
func (addressed) Close() error           { return nil }

// What net/http reports is logged at most once a second.
func TestErrorLog(t *testing.T) {
	var b bytes.Buffer
	to := errorLog(slog.New(slog.NewTextHandler(&b, nil)))
	for range 3 {
		to.Print("odd ")
	}
	if n := strings.Count(b.String(), "\n"); n < 1 || n > 3 || !strings.Contains(b.String(), `msg=http error=odd skipped_before=0`) {
		t.Error(b.String())
	}
}

// A list without one of its items keeps the others in order.
func TestWithout(t *testing.T) {
	all := []int{1, 2, 3}
	if got := without(slices.Clone(all), 2); fmt.Sprint(got) != "[1 3]" {
		t.Error(got)
	}
	if got := without(all, 4); fmt.Sprint(got) != "[1 2 3]" {
		t.Error(got)
	}
}

// Without a token, a listener for this machine only is guarded against other names; one for others
// is warned about. With a token neither is.
func TestExposure(t *testing.T) {
	for _, c := range []struct {
		ip, token string
		guard     bool
		warns     int
	}{{"127.0.0.1", "", true, 0}, {"127.0.0.1", "s3cret", false, 0}, {"0.0.0.0", "", false, 1}, {"0.0.0.0", "s3cret", false, 0}, {"", "", false, 0}} {
		var log bytes.Buffer
		s := bare(Limits{})
		s.Token = c.token
		s.Log = slog.New(slog.NewTextHandler(&log, nil))
		var l *bounded
		if c.ip != "" {
			tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(c.ip)})
			if err != nil {
				t.Fatal(err)
			}
			defer tcp.Close()
			l = &bounded{TCPListener: tcp}
		}
		if guard := s.exposure(l); guard != c.guard || strings.Count(log.String(), "answers other machines") != c.warns {
			t.Errorf("%+v: guarded %v, %s", c, guard, log.String())
		}
	}
}

// A stream that finds no room is counted as refused, and told to come again; one that asks for too
// much is not.
func TestRefusals(t *testing.T) {
	s := bare(Limits{})
	x := &ticket{s: s}
	for kind, want := range map[kind]uint64{busy: 1, tooLarge: 0, invalid: 0} {
		s.refused.Store(0)
		if err := x.refuse(t.Context(), failf(kind, "no")); err == nil || s.refused.Load() != want {
			t.Errorf("a fault of kind %v: %v, %d refused", kind, err, s.refused.Load())
		}
	}
}
