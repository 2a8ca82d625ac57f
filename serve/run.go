package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// Listen says where and how to answer.
type Listen struct {
	HTTP string // address, such as 127.0.0.1:8080; "": not at all
	GRPC string // likewise
	TLS  *tls.Config

	// Drain is how long the server still answers after ctx is cancelled, while it says
	// that it is not ready, so that balancers send requests elsewhere.
	Drain time.Duration

	// Ready, if set, is called with the addresses once the server answers.
	Ready func(http, grpc net.Addr)
}

// Run answers requests until ctx is cancelled, and then finishes those in progress.
func (s *Server) Run(ctx context.Context, at Listen) error {
	if at.HTTP == "" && at.GRPC == "" {
		return errors.New("no address to answer at is given")
	}
	all := &connections{most: s.Limits.connections()}
	web, err := s.listen("HTTP", at.HTTP, all)
	if err != nil {
		return err
	}
	defer web.Close()
	rpc, err := s.listen("gRPC", at.GRPC, all)
	if err != nil {
		return err
	}
	defer rpc.Close()
	s.guardHTTP = s.exposure(web)
	s.guardGRPC = s.exposure(rpc)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go s.watch(watching)

	failed := make(chan error, 2)
	h := s.httpServer(at.TLS)
	defer h.Close()
	g := s.GRPC(secured(at.TLS))
	defer g.Stop()
	if web != nil {
		web.plain = at.TLS == nil
		go func() { failed <- serveHTTP(h, web) }()
	}
	if rpc != nil {
		go func() { failed <- g.Serve(rpc) }()
	}
	s.Log.Info("serving", "page", page(web.address(), at.TLS != nil), "http", address(web.address()), "grpc", address(rpc.address()), "models", s.models.names, "version", version())
	if at.Ready != nil {
		at.Ready(web.address(), rpc.address())
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return s.finish(h, g, at.Drain, web, rpc)
}

// listen opens a listener; "" is nil.
func (s *Server) listen(protocol, address string, all *connections) (*bounded, error) {
	if address == "" {
		return nil, nil
	}
	l, err := listenTCP(address)
	if err != nil {
		return nil, &ListenError{protocol, address, err}
	}
	return &bounded{TCPListener: l, clients: &s.clients, all: all, empty: make(chan struct{})}, nil
}

// listenTCP listens for TCP with one path: the kernel cannot filter what comes by several.
func listenTCP(address string) (*net.TCPListener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	l, err := c.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

func secured(c *tls.Config) credentials.TransportCredentials {
	if c == nil {
		return nil
	}
	return credentials.NewTLS(c.Clone())
}

// headerTime is how long a client may take to send the header of a request.
const headerTime = 5 * time.Second

// mostHTTPHeader is the most bytes of a header; net/http allows 4 KiB more.
const mostHTTPHeader = 8 << 10

func (s *Server) httpServer(secure *tls.Config) *http.Server {
	return &http.Server{
		Handler: s.Handler(), TLSConfig: secure.Clone(), ErrorLog: errorLog(s.Log), ConnContext: withConnection,
		MaxHeaderBytes: mostHTTPHeader, ReadHeaderTimeout: min(headerTime, s.Limits.Time), ReadTimeout: s.Limits.Time,
		WriteTimeout: 2 * s.Limits.Time, IdleTimeout: 2 * time.Minute,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: mostStreams, MaxReceiveBufferPerConnection: window, MaxReceiveBufferPerStream: window},
	}
}

func serveHTTP(h *http.Server, l net.Listener) error {
	if h.TLSConfig != nil {
		return h.ServeTLS(l, "", "")
	}
	return h.Serve(l)
}

const (
	// linger is how long connections are at least kept after the end began: answers then
	// say that the connection ends, so that no request is sent into one that is closed.
	linger = 300 * time.Millisecond
	// silence is how long the end waits for messages of streams that are open.
	silence = time.Second
)

// finish answers what still comes for a while, and then ends when all requests in
// progress have their answers.
func (s *Server) finish(h *http.Server, g *grpc.Server, drain time.Duration, all ...*bounded) error {
	s.ending.Store(true)
	s.health.Shutdown() // every status is NOT_SERVING now
	s.Log.Info("stopping", "active", s.places.now.Load())
	s.pause(max(drain, linger))
	for _, l := range all {
		if l != nil {
			l.finish()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Limits.Time+time.Second)
	defer cancel()
	s.streams.end(false)
	quiet := time.AfterFunc(silence, func() { s.streams.end(true) })
	defer quiet.Stop()
	stopped := make(chan struct{})
	go func() {
		g.GracefulStop()
		close(stopped)
	}()
	err := h.Shutdown(ctx)
	select {
	case <-stopped:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return errors.New("some requests did not finish in time")
	}
	s.Log.Info("stopped")
	return nil
}

// exposure reports whether a listener is to be guarded: without a token, one that answers
// this machine only is. It warns about one that answers others.
func (s *Server) exposure(l *bounded) (guard bool) {
	if l == nil || s.Token != "" {
		return false
	}
	a, ok := l.Addr().(*net.TCPAddr)
	if ok && a.IP.IsLoopback() {
		return true
	}
	s.Log.Warn("the server answers other machines without asking for a token", "address", l.Addr().String())
	return false
}
