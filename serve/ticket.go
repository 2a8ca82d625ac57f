package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// A ticket is a stream of gRPC that was let in: who it is of, the place that it holds and
// the memory that it has taken. It is made before anything of the stream is read but its
// header.
type ticket struct {
	s     *Server
	conn  *metered // nil: not one of Run's listeners
	who   *client
	open  bool // everybody may call; the place is a visitor's
	begun time.Time
	lease lease

	state   atomic.Int32 // of the handler
	reading atomic.Bool  // the message of the stream has not arrived
	cancel  context.CancelCauseFunc
	stop    context.CancelFunc // of the time limit
}

// States of a ticket's handler.
const (
	notBegun = iota
	running
	ended
)

type ticketKey struct{}

func ticketOf(ctx context.Context) *ticket {
	t, _ := ctx.Value(ticketKey{}).(*ticket)
	return t
}

// Times of streams that everybody may open.
const (
	checkTime = 5 * time.Second
	watchTime = 10 * time.Minute
)

const watchMethod = "/grpc.health.v1.Health/Watch"

// everybodys reports whether a method needs no token.
func everybodys(method string) bool {
	switch method {
	case "/grpc.health.v1.Health/Check", watchMethod, "/inference.GRPCInferenceService/ServerLive", "/inference.GRPCInferenceService/ServerReady":
		return true
	}
	return false
}

// tap decides about a stream when its header has arrived. It is called while its
// connection waits: nothing here blocks.
func (s *Server) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if s.guardGRPC && !local(first(info.Header, ":authority")) {
		return ctx, status.Errorf(codes.PermissionDenied, "this server answers at this machine only, not as %.80q; start it with a token to use other names", first(info.Header, ":authority"))
	}
	t := &ticket{s: s, open: everybodys(info.FullMethodName), begun: time.Now()}
	t.reading.Store(true)
	if p, ok := peer.FromContext(ctx); ok {
		if conn, ok := p.AuthInfo.(connInfo); ok {
			t.conn = conn.metered
			t.who = conn.who
		}
	}
	t.lease = lease{of: &s.memory, who: t.who}
	limit := s.Limits.Time
	switch {
	case t.open && info.FullMethodName == watchMethod:
		limit = watchTime
	case t.open:
		limit = min(limit, checkTime)
	case !s.known(info.Header):
		return ctx, status.Error(codes.Unauthenticated, "a token is needed: send the metadata authorization: Bearer TOKEN")
	default:
		if t.conn != nil {
			t.conn.of.trust()
		}
		err := t.enter()
		if err != nil {
			s.refused.Add(1)
			return ctx, statusOf(err)
		}
	}
	ctx, t.stop = context.WithTimeout(context.WithValue(ctx, ticketKey{}, t), limit)
	ctx, t.cancel = context.WithCancelCause(ctx)
	s.streams.add(t)
	context.AfterFunc(ctx, func() {
		if t.state.CompareAndSwap(notBegun, ended) {
			t.leave()
		}
	})
	return ctx, nil
}

// enter takes a place, and the memory of what the transport keeps for a stream.
func (t *ticket) enter() error {
	err := t.s.places.take(t.who)
	if err != nil {
		return err
	}
	err = t.lease.take(windowMemory)
	if err != nil {
		t.s.places.give(t.who)
	}
	return err
}

// known checks the token of a stream.
func (s *Server) known(md metadata.MD) bool {
	if s.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(first(md, "authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && s.right(token)
}

func first(md metadata.MD, key string) string {
	if all := md[key]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// leave gives back what the ticket holds.
func (t *ticket) leave() {
	t.stop()
	t.s.streams.remove(t)
	t.lease.release()
	if !t.open {
		t.s.places.give(t.who)
	}
}

// handle runs f as the handler of the stream, once.
func (t *ticket) handle(ctx context.Context, f func() error) error {
	if !t.state.CompareAndSwap(notBegun, running) {
		return status.FromContextError(ctx.Err()).Err()
	}
	defer t.leave()
	err := f()
	if cause, ok := context.Cause(ctx).(*fault); ok && err != nil {
		return statusOf(cause)
	}
	return err
}

// streams are the tickets in use. Visitors, who need no token, have places of their own:
// when all are taken, the one that has most of them loses its oldest.
type streams struct {
	mu       sync.Mutex
	all      map[*ticket]bool
	visitors []*ticket // the oldest first
	readers  []*ticket // visitors whose message is being read
}

const (
	mostVisitors = 64
	mostReaders  = 4 // each may send a message of the longest kind
	soonRead     = 100 * time.Millisecond
)

func (all *streams) add(t *ticket) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.all == nil {
		all.all = map[*ticket]bool{}
	}
	all.all[t] = true
	if !t.open {
		return
	}
	if len(all.visitors) == mostVisitors {
		all.drop(all.greediest())
	}
	all.visitors = append(all.visitors, t)
}

// greediest returns the oldest visitor of the client that has most of them.
func (all *streams) greediest() *ticket {
	count := map[*client]int{}
	for _, t := range all.visitors {
		count[t.who]++
	}
	out := all.visitors[0]
	for _, t := range all.visitors {
		if count[t.who] > count[out.who] {
			out = t
		}
	}
	return out
}

// drop ends a visitor to make room for others.
func (all *streams) drop(t *ticket) {
	all.visitors = without(all.visitors, t)
	t.cancel(&fault{busy, "others wait for this place; try again soon"})
}

func (all *streams) remove(t *ticket) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.all, t)
	all.visitors = without(all.visitors, t)
}

func without[T comparable](list []T, t T) []T {
	for i := range list {
		if list[i] == t {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// read waits until a visitor's message may be read. Those that let it wait are dropped.
func (all *streams) read(ctx context.Context, t *ticket) error {
	for {
		if all.tryRead(t) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func (all *streams) tryRead(t *ticket) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.readers) < mostReaders {
		all.readers = append(all.readers, t)
		return true
	}
	if oldest := all.readers[0]; time.Since(oldest.begun) > soonRead {
		all.drop(oldest)
	}
	return false
}

func (all *streams) endRead(t *ticket) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.readers = without(all.readers, t)
}

// end ends streams that would keep the server from stopping: those that only wait, and,
// after a moment, those whose message does not come.
func (all *streams) end(silent bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for t := range all.all {
		if t.open || silent && t.reading.Load() {
			t.cancel(&fault{closing, "the server is stopping"})
		}
	}
}

// right compares tokens in a time that says nothing about them.
func (s *Server) right(token string) bool {
	got := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], s.token[:]) == 1
}
