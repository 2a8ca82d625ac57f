package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"
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
	clients clients
	places  places  // of requests for predictions, and of all of gRPC that need a token
	streams streams // of gRPC
	refused atomic.Uint64
	token   [sha256.Size]byte
	ending  atomic.Bool
	health  *health.Server // of gRPC
	cross   *http.CrossOriginProtection
	quiet   sometimes

	oldNames sync.Once // that a client uses names of an earlier version is logged once

	// Refuse clients that reach this machine by another name, by listener.
	guardHTTP bool
	guardGRPC bool

	limited     atomic.Bool  // LimitHeap was called
	multiplexed atomic.Int64 // requests of HTTP/2, of which a connection has many

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
	s.memory.open(c.Limits.requestMemory())
	s.clients.limits = c.Limits
	s.places.limits = c.Limits
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
