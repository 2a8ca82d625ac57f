package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc/credentials"
	health_v1 "google.golang.org/grpc/health/grpc_health_v1"
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
	var web, rpc net.Listener
	for _, l := range []struct {
		protocol, address string
		to                *net.Listener
	}{{"HTTP", at.HTTP, &web}, {"gRPC", at.GRPC, &rpc}} {
		if l.address == "" {
			continue
		}
		got, err := net.Listen("tcp", l.address)
		if err != nil {
			return &ListenError{l.protocol, l.address, err}
		}
		defer got.Close()
		*l.to = &bounded{Listener: got, most: int64(s.Limits.Connections), plain: l.to == &web && at.TLS == nil}
	}
	if web == nil && rpc == nil {
		return errors.New("no address to answer at is given")
	}
	s.exposure(web, rpc)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go s.watch(watching)

	failed := make(chan error, 2)
	var secure credentials.TransportCredentials
	if at.TLS != nil {
		secure = credentials.NewTLS(at.TLS.Clone())
	}
	g := s.GRPC(secure)
	defer g.Stop()
	h := &http.Server{Handler: s.Handler(), TLSConfig: at.TLS.Clone(), ErrorLog: errorLog(s.Log), MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: s.Limits.Time, WriteTimeout: 2 * s.Limits.Time, IdleTimeout: 2 * time.Minute}
	defer h.Close()
	var httpAt, grpcAt net.Addr
	if web != nil {
		httpAt = web.Addr()
		go func() {
			if at.TLS != nil {
				failed <- h.ServeTLS(web, "", "")
			} else {
				failed <- h.Serve(web)
			}
		}()
	}
	if rpc != nil {
		grpcAt = rpc.Addr()
		go func() { failed <- g.Serve(rpc) }()
	}
	s.Log.Info("serving", "page", page(httpAt, at.TLS != nil), "http", address(httpAt), "grpc", address(grpcAt), "models", s.models.names, "version", version())
	if at.Ready != nil {
		at.Ready(httpAt, grpcAt)
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return s.finish(h, func() { g.GracefulStop() }, at.Drain)
}

// finish answers what still comes for a while, and then ends when all requests in
// progress have their answers.
func (s *Server) finish(h *http.Server, stop func(), drain time.Duration) error {
	s.ending.Store(true)
	s.health.SetServingStatus("", health_v1.HealthCheckResponse_NOT_SERVING)
	s.Log.Info("stopping", "active", s.active.Load())
	s.pause(drain)
	ctx, cancel := context.WithTimeout(context.Background(), s.Limits.Time+time.Second)
	defer cancel()
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
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

// exposure guards a server without a token that answers at this machine only, and warns
// about one that answers others.
func (s *Server) exposure(all ...net.Listener) {
	s.guard = s.Token == ""
	for _, l := range all {
		if l == nil {
			continue
		}
		if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
			s.guard = false
			if s.Token == "" {
				s.Log.Warn("the server answers other machines without asking for a token", "address", a.String())
			}
		}
	}
}
