package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/health"

	"utvi/internal/provenance"
)

// A Server answers requests for predictions.
type Server struct {
	Config
	models  *models
	memory  memory
	active  atomic.Int64 // requests for predictions in progress
	refused atomic.Uint64
	token   [sha256.Size]byte
	guard   bool // refuse clients that reach this machine by another name
	ending  atomic.Bool
	streams atomic.Int64   // requests of gRPC in progress
	health  *health.Server // of gRPC
	cross   *http.CrossOriginProtection
	quiet   sometimes

	ids    atomic.Uint64
	prefix string // of ids
	begun  time.Time
}

// New loads the models and returns a server for them.
func New(c Config) (*Server, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	s := &Server{Config: c, token: sha256.Sum256([]byte(c.Token)), cross: http.NewCrossOriginProtection(), health: health.NewServer(), begun: time.Now()}
	s.memory.left.Store(c.Limits.Memory)
	var salt [6]byte
	rand.Read(salt[:])
	s.prefix = hex.EncodeToString(salt[:]) + "-"
	var err error
	s.models, err = newModels(c.Models, c.Options, s.broken)
	return s, err
}

// broken logs a panic of a prediction.
func (s *Server) broken(err error) { s.Log.Error("internal error", "error", err) }

// newID returns an identifier for a request.
func (s *Server) newID() string { return s.prefix + strconv.FormatUint(s.ids.Add(1), 36) }

// admit counts a request for predictions, or refuses it if too many are in progress.
func (s *Server) admit() error {
	if s.active.Add(1) > int64(s.Limits.Requests) {
		s.active.Add(-1)
		return failf(busy, "the server is busy with %d requests, which is the most that it allows; try again soon", s.Limits.Requests)
	}
	return nil
}

// A sometimes is true at most once a second.
type sometimes struct {
	last    atomic.Int64
	skipped atomic.Int64
}

// now reports whether it is time, and how often it was not since the last time.
func (s *sometimes) now(t time.Time) (skipped int64, ok bool) {
	last := s.last.Load()
	if t.UnixNano()-last < int64(time.Second) || !s.last.CompareAndSwap(last, t.UnixNano()) {
		s.skipped.Add(1)
		return 0, false
	}
	return s.skipped.Swap(0), true
}

func version() string { return provenance.Version() }
