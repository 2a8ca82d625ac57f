package serve

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// bare is a server without models, for what happens before they are asked.
func bare(limits Limits) *Server {
	s := &Server{Config: Config{Limits: limits.complete(), Token: "s3cret"}, token: sha256.Sum256([]byte("s3cret"))}
	s.memory.open(s.Limits.requestMemory())
	s.clients.limits = s.Limits
	s.places.limits = s.Limits
	return s
}

const inferName = "/inference.GRPCInferenceService/ModelInfer"

// Every stream has an end, and those that need the token take a place and the memory of
// their buffers as they are let in, and give both back when they end before their handler.
func TestTickets(t *testing.T) {
	const day = 24 * time.Hour
	s := bare(Limits{Time: day, Requests: 4})
	who := s.clients.enter("192.0.2.1:1")
	from := peer.NewContext(t.Context(), &peer.Peer{AuthInfo: connInfo{metered: &metered{who: who}}})
	for method, want := range map[string]struct {
		limit  time.Duration
		places int64
	}{
		inferName:                      {day, 1},
		"/no.Such/Method":              {day, 1},
		"/grpc.health.v1.Health/Check": {checkTime, 0},
		watchMethod:                    {watchTime, 0},
		"/inference.GRPCInferenceService/ServerLive": {checkTime, 0},
	} {
		ctx, cancel := context.WithCancel(from)
		ctx, err := s.tap(ctx, &tap.Info{FullMethodName: method, Header: metadata.Pairs("authorization", "Bearer s3cret")})
		if err != nil {
			t.Fatal(method, err)
		}
		end, ok := ctx.Deadline()
		if left := time.Until(end); !ok || left > want.limit || left < want.limit-time.Hour && left < want.limit/2 {
			t.Errorf("%s ends in %v, want %v", method, left, want.limit)
		}
		if got := s.places.now.Load(); got != want.places || who.requests.Load() != want.places {
			t.Errorf("%s takes %d places, want %d", method, got, want.places)
		}
		if got := s.memory.all - s.memory.left.Load(); got != want.places*windowMemory || who.memory.Load() != got {
			t.Errorf("%s takes %d bytes before its message", method, got)
		}
		cancel()
		left := func() int {
			s.streams.mu.Lock()
			defer s.streams.mu.Unlock()
			return len(s.streams.all) + len(s.streams.visitors)
		}
		gone := func() bool { return left() == 0 && s.places.now.Load() == 0 && s.memory.left.Load() == s.memory.all }
		for end := time.Now().Add(Patience); !gone() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if !gone() || who.requests.Load() != 0 || who.memory.Load() != 0 {
			t.Errorf("%s leaves %d places and %d bytes taken", method, s.places.now.Load(), s.memory.all-s.memory.left.Load())
		}
		if n := left(); n != 0 {
			t.Errorf("%s leaves %d streams", method, n)
		}
	}
}

// Without the token, and beyond the places and the memory, a stream is refused at its header.
func TestTicketsRefused(t *testing.T) {
	s := bare(Limits{Requests: 2, Share: 1})
	call := func(authorization string) (context.CancelFunc, error) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.tap(ctx, &tap.Info{FullMethodName: inferName, Header: metadata.Pairs("authorization", authorization)})
		return cancel, err
	}
	for _, wrong := range []string{"", "Bearer", "Bearer s3cre", "Basic s3cret", "s3cret"} {
		cancel, err := call(wrong)
		cancel()
		if status.Code(err) != codes.Unauthenticated || s.places.now.Load() != 0 || s.refused.Load() != 0 {
			t.Errorf("with %q: %v", wrong, err)
		}
	}
	for range 2 {
		cancel, err := call("bearer s3cret")
		defer cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	if cancel, err := call("Bearer s3cret"); status.Code(err) != codes.ResourceExhausted || s.refused.Load() != 1 {
		t.Errorf("a third stream of two: %v", err)
		cancel()
	}
	full := bare(Limits{})
	full.memory.left.Store(windowMemory - 1)
	_, err := full.tap(t.Context(), &tap.Info{FullMethodName: inferName, Header: metadata.Pairs("authorization", "Bearer s3cret")})
	if status.Code(err) != codes.ResourceExhausted || full.places.now.Load() != 0 {
		t.Errorf("a stream beyond the memory: %v; %d places are taken", err, full.places.now.Load())
	}
}

// When the server stops, streams end that only wait, and after a moment those whose message has not
// come; those that are answered go on.
func TestStreamsEnd(t *testing.T) {
	s := bare(Limits{})
	stream := func(method string) (context.Context, *ticket) {
		ctx, err := s.tap(t.Context(), &tap.Info{FullMethodName: method, Header: metadata.Pairs("authorization", "Bearer s3cret")})
		if err != nil {
			t.Fatal(err)
		}
		return ctx, ctx.Value(ticketKey{}).(*ticket)
	}
	waiting, _ := stream(watchMethod)
	silent, _ := stream(inferName)
	answered, ticket := stream(inferName)
	ticket.reading.Store(false)
	for _, x := range []struct {
		silent bool
		ended  []context.Context
		going  []context.Context
	}{{false, []context.Context{waiting}, []context.Context{silent, answered}}, {true, []context.Context{waiting, silent}, []context.Context{answered}}} {
		s.streams.end(x.silent)
		for i, ctx := range x.ended {
			if ctx.Err() == nil {
				t.Errorf("silent ones end: %v; stream %d goes on", x.silent, i)
			}
		}
		for i, ctx := range x.going {
			if ctx.Err() != nil {
				t.Errorf("silent ones end: %v; stream %d of those that go on has ended: %v", x.silent, i, context.Cause(ctx))
			}
		}
	}
	ticket.stop()
}
