package serve

import (
	"encoding/binary"
	"math"
	"net"

	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"utvi/serve/oip"
)

// What is taken comes back, a request beyond all there is says so, and a client cannot
// take the share of others.
func TestAccount(t *testing.T) {
	limits := Limits{Memory: 8 << 20}.complete()
	var m memory
	m.open(limits.requestMemory())
	all := &clients{limits: limits}
	greedy := &lease{of: &m, who: all.enter("192.0.2.1:1")}
	other := &lease{of: &m, who: all.enter("192.0.2.2:1")}
	third := &lease{of: &m, who: all.enter("192.0.2.3:1")}
	most := m.all / 2
	kindOf := func(err error) kind {
		if err == nil {
			return kind{}
		}
		return faultOf(err).kind
	}
	for i, c := range []struct {
		l    *lease
		n    int64
		want kind
	}{
		{greedy, most + 1, tooLarge}, {greedy, -1, tooLarge}, {greedy, most, kind{}}, {greedy, 1, tooLarge},
		{other, most, kind{}}, {third, 1, busy},
	} {
		if got := kindOf(c.l.take(c.n)); got != c.want {
			t.Errorf("case %d: %v, want %v", i, got, c.want)
		}
	}
	if n := third.who.memory.Load(); n != 0 {
		t.Errorf("a client that was refused has %d bytes", n)
	}
	again := &lease{of: &m, who: greedy.who}
	if got := kindOf(again.take(1)); got != busy {
		t.Errorf("a second request of a client that has its share: %v", got)
	}
	greedy.give(10)
	if m.left.Load() != m.all-2*most+10 || greedy.who.memory.Load() != most-10 {
		t.Errorf("%d left, %d taken", m.left.Load(), greedy.who.memory.Load())
	}
	greedy.release()
	other.release()
	for _, l := range []*lease{greedy, other, third} {
		l.who.leave()
	}
	if m.left.Load() != m.all || len(all.all) != 0 {
		t.Errorf("%d of %d bytes, %d clients are left", m.left.Load(), m.all, len(all.all))
	}
	free := &lease{of: &m}
	if err := free.take(m.all); err != nil {
		t.Error(err)
	}
	if got := kindOf(free.take(1)); got != tooLarge {
		t.Error(got)
	}
}

func TestLimits(t *testing.T) {
	l := Limits{}.complete()
	if l.connections() != 256 || l.requestMemory() != l.Memory-64<<20 || l.message() != maxMessage {
		t.Errorf("%d connections, %d bytes of requests, %d of a message", l.connections(), l.requestMemory(), l.message())
	}
	small := Limits{Memory: 4 << 20, Body: 1 << 20}.complete()
	if small.connections() != 4 || small.message() > small.share(small.requestMemory())/2 {
		t.Errorf("%d connections, %d bytes of a message", small.connections(), small.message())
	}
	for _, bad := range []Limits{{Share: 1.1}, {Share: -0.5}, {Memory: 1 << 20}, {Memory: 16 << 20, Body: 13 << 20}, {Rows: -1}} {
		if bad.complete().check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if err := l.check(); err != nil {
		t.Error(err)
	}
}

func TestClientKey(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:54321": "192.0.2.7", "[::ffff:192.0.2.7]:1": "192.0.2.7", "[2001:db8::1]:1": "2001:db8::/64", "[2001:db8::ffff:1]:9": "2001:db8::/64",
		"[2001:db8:0:1::1]:9": "2001:db8:0:1::/64", "[fe80::1%eth0]:9": "fe80::/64", "bufconn": "bufconn", "pipe:1": "pipe",
	} {
		if got := clientKey(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestHTTPServer(t *testing.T) {
	s := &Server{Config: Config{Limits: Limits{}.complete()}}
	h := s.httpServer(nil)
	for what, d := range map[string]time.Duration{"header": h.ReadHeaderTimeout, "body": h.ReadTimeout, "answer": h.WriteTimeout, "idle connection": h.IdleTimeout} {
		if d <= 0 || d > 2*time.Minute {
			t.Errorf("the time of a %s is %v", what, d)
		}
	}
	if h.ReadHeaderTimeout > headerTime || h.MaxHeaderBytes != mostHTTPHeader || h.HTTP2.MaxConcurrentStreams == 0 || h.HTTP2.MaxReceiveBufferPerConnection == 0 {
		t.Errorf("%+v", h)
	}
}

// Decoding a message takes no more memory than was counted.
func TestDecodedSize(t *testing.T) {
	repeat := func(b []byte, n int) []byte { return []byte(strings.Repeat(string(b), n)) }
	field := func(number protowire.Number, text []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), text)
	}
	double := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1))
	const n = 20_000
	var parameters []byte
	for i := range n {
		parameters = append(parameters, field(4, field(1, strconv.AppendInt(nil, int64(i), 36)))...)
	}
	for name, text := range map[string][]byte{
		"empty inputs":      repeat(field(5, nil), n),
		"inputs":            repeat(field(5, field(1, []byte("a"))), n),
		"empty outputs":     repeat(field(6, nil), n),
		"raw contents":      repeat(field(7, []byte("abc")), n),
		"parameters":        parameters,
		"texts":             field(5, field(5, repeat(field(8, nil), n))),
		"packed integers":   field(5, field(5, field(3, repeat([]byte{1}, n)))),
		"packed doubles":    field(5, field(5, field(7, repeat(double, n)))),
		"packed booleans":   field(5, field(5, field(1, repeat([]byte{1}, n)))),
		"integers":          field(5, field(5, repeat([]byte{3 << 3, 1}, n))),
		"shapes":            field(5, field(3, repeat([]byte{1}, n))),
		"unknown fields":    repeat(field(99, nil), n),
		"a long name":       field(1, repeat([]byte("a"), n)),
		"unknown in inputs": repeat(field(5, field(99, nil)), n),
	} {
		taken := int64(math.MaxInt64) // others allocate, too: the least of several is it
		for range 5 {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var m oip.ModelInferRequest
			if err := proto.Unmarshal(text, &m); err != nil {
				t.Fatal(name, err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			taken = min(taken, int64(after.HeapAlloc)-int64(before.HeapAlloc))
			runtime.KeepAlive(&m)
		}
		counted := decodedSize(text, (&oip.ModelInferRequest{}).ProtoReflect().Descriptor())
		if taken > counted {
			t.Errorf("%s: %d bytes are taken, %d counted", name, taken, counted)
		}
		if counted > 40*taken+100_000 {
			t.Errorf("%s: %d bytes are taken, %d counted: far too many", name, taken, counted)
		}
	}
}

// Data in crumbs and frames that only cost are cut off; what clients send is not.
func TestFrames(t *testing.T) {
	frame := func(kind byte, size int) []byte {
		return append([]byte{byte(size >> 16), byte(size >> 8), byte(size), kind, 0, 0, 0, 0, 1}, make([]byte, size)...)
	}
	feed := func(n int, frames ...[]byte) (seen int, ok bool) {
		m := meter(nil)
		m.see(make([]byte, preface))
		for i := range n {
			for _, f := range frames {
				for cut := range []int{0, 1} { // in pieces, as networks have it
					part := f[:len(f)/2]
					if cut == 1 {
						part = f[len(f)/2:]
					}
					if !m.see(part) {
						return i, false
					}
				}
			}
		}
		return n, true
	}
	if n, ok := feed(10_000, frame(frameHeaders, 50), frame(frameData, 200)); !ok {
		t.Errorf("short calls are cut off after %d", n)
	}
	if n, ok := feed(10_000, frame(frameData, 16_000)); !ok {
		t.Errorf("long messages are cut off after %d", n)
	}
	for name, f := range map[string][]byte{"crumbs": frame(frameData, 1), "nothing": frame(frameData, 0), "pings": frame(6, 8), "settings": frame(4, 0), "unknown": frame(77, 0)} {
		if n, ok := feed(10_000, f); ok || n > idleMost+100 {
			t.Errorf("%s: %d frames are let through", name, n)
		}
	}
	if n, ok := feed(10_000, frame(frameHeaders, 50), frame(frameData, 200), frame(8, 4), frame(6, 8)); !ok {
		t.Errorf("calls with a window and a ping each are cut off after %d", n)
	}
	if n, ok := feed(10_000, frame(frameHeaders, 50), frame(frameReset, 4)); ok {
		t.Errorf("%d streams are begun and reset", n)
	}
	m := meter(nopConn{})
	m.see(make([]byte, preface))
	for range 10_000 { // acknowledgements of a long answer
		m.Write(make([]byte, 4096))
		if !m.see(frame(8, 4)) {
			t.Fatal("a client that reads is cut off")
		}
	}
}

type nopConn struct{ net.Conn }

func (nopConn) Write(p []byte) (int, error) { return len(p), nil }

// The oldest of the greediest makes room.
func TestVisitors(t *testing.T) {
	var s streams
	var dropped []*ticket
	one := &client{}
	two := &client{key: "second"}
	enter := func(who *client) *ticket {
		x := &ticket{open: true, who: who, begun: time.Now().Add(-time.Minute)}
		x.cancel = func(error) { dropped = append(dropped, x) }
		s.add(x)
		return x
	}
	second := enter(two)
	first := enter(one)
	for range mostVisitors - 2 {
		enter(one)
	}
	if len(dropped) != 0 {
		t.Fatal("dropped before all places were taken")
	}
	enter(two)
	if len(dropped) != 1 || dropped[0] != first || len(s.visitors) != mostVisitors {
		t.Fatalf("%d were dropped, %d are left", len(dropped), len(s.visitors))
	}
	for range mostReaders {
		if !s.tryRead(enter(two)) {
			t.Fatal("a message cannot be read")
		}
	}
	before := len(dropped)
	if s.tryRead(second) || len(dropped) != before+1 {
		t.Error("a reader that is slow does not make room")
	}
	s.endRead(dropped[before])
	if !s.tryRead(second) {
		t.Error("nobody may read where one has ended")
	}
	s.remove(second)
	for _, x := range s.visitors {
		if x == second {
			t.Error("a visitor who left is still there")
		}
	}
}

func TestEverybodys(t *testing.T) {
	for _, m := range []string{"/inference.GRPCInferenceService/ModelInfer", "/x/ServerLive", "/grpc.health.v1.Health/List", "/grpc.health.v1.Health/", ""} {
		if everybodys(m) {
			t.Errorf("%s is open to everybody", m)
		}
	}
}

func TestPlaces(t *testing.T) {
	limits := Limits{Requests: 4}.complete()
	p := &places{limits: limits}
	all := &clients{limits: limits}
	one := all.enter("192.0.2.1:1")
	two := all.enter("192.0.2.2:1")
	three := all.enter("192.0.2.3:1")
	for i, c := range []struct {
		who *client
		ok  bool
	}{{one, true}, {one, true}, {one, false}, {two, true}, {two, true}, {three, false}} {
		if err := p.take(c.who); (err == nil) != c.ok {
			t.Errorf("case %d: %v", i, err)
		}
	}
	p.give(one)
	if err := p.take(three); err != nil {
		t.Error(err)
	}
	for _, c := range []*client{one, two, two, three} {
		p.give(c)
	}
	if p.now.Load() != 0 || one.requests.Load() != 0 || two.requests.Load() != 0 || three.requests.Load() != 0 {
		t.Error("places are left taken")
	}
}
