package serve

import (
	"testing"
	"time"

	"net/http/httptest"
)

// What may be said once a second is said with how often it was not.
func TestSometimes(t *testing.T) {
	var s sometimes
	begin := time.Unix(1000, 0)
	for _, c := range []struct {
		after   time.Duration
		skipped int64
		ok      bool
	}{{0, 0, true}, {time.Millisecond, 0, false}, {time.Second - 1, 0, false}, {time.Second, 2, true}, {1500 * time.Millisecond, 0, false}, {3 * time.Second, 1, true}, {4 * time.Second, 0, true}} {
		if skipped, ok := s.now(begin.Add(c.after)); skipped != c.skipped || ok != c.ok {
			t.Errorf("after %v: %v, %d not said; want %v, %d", c.after, ok, skipped, c.ok, c.skipped)
		}
	}
}

// Requests of HTTP/2 give their places back: there are many more of them than places.
func TestMultiplexedPlaces(t *testing.T) {
	s := bare(Limits{Connections: 8})
	h := s.Handler()
	for i := range 50 {
		r := httptest.NewRequest("GET", "/v2/health/live", nil)
		r.ProtoMajor = 2
		r.RemoteAddr = []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1"}[i%3]
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatalf("request %d: %d %s", i, w.Code, w.Body)
		}
	}
	if n := s.multiplexed.Load(); n != 0 {
		t.Errorf("%d places are not given back", n)
	}
}
