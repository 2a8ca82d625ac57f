package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Listen says where to answer.
type Listen struct {
	HTTP string // address, such as 127.0.0.1:8080
}

// Run answers requests until ctx is cancelled, and then finishes those in progress.
func (s *Server) Run(ctx context.Context, at Listen) error {
	l, err := net.Listen("tcp", at.HTTP)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	s.Log.Info("serving", "http", l.Addr().String())
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	finish, stop := context.WithTimeout(context.WithoutCancel(ctx), s.Limits.Time)
	defer stop()
	if err := h.Shutdown(finish); err != nil {
		return errors.New("some requests did not finish in time")
	}
	return nil
}
