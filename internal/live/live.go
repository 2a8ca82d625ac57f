// Package live shows work in a browser while it goes on: trainings with their scores, or a
// picture that grows, the time left, and a button that stops. The page is at an address of this machine,
// behind a path that nobody can guess.
package live

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"

	"utvi/internal/pagestyle"
)

//go:embed page
var embedded embed.FS

// A Page is what browsers see. Goroutines may share it.
type Page struct {
	url    string
	server *http.Server
	stop   func()
	begun  time.Time

	mu       sync.Mutex
	now      snapshot
	picture  []byte // PNG
	byName   map[string]*Training
	changed  chan struct{} // closed and replaced at every change
	viewers  int
	patience time.Duration // as the constant
	loaded   time.Time     // when a page was loaded that does not watch yet
}

// Text is what a page says about its work.
type Text struct {
	Title, Subtitle string
	Score           string // what the scores of trainings are
	Stop            string // what the button says
}

// Loopback reports an address that other machines could reach.
func Loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address such as 127.0.0.1:8090", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("the live page is for this machine only; give an address such as 127.0.0.1:8090, not %q", address)
	}
	return nil
}

// Open shows a page at a loopback address; port 0 takes any free port. stop is called
// when a viewer asks for it.
func Open(address string, text Text, stop func()) (*Page, error) {
	if err := Loopback(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot show the live page: %w", err)
	}
	secret := rand.Text()
	p := &Page{url: fmt.Sprintf("http://%s/%s/", l.Addr(), secret), stop: stop, begun: time.Now(), patience: patience, byName: map[string]*Training{}, changed: make(chan struct{})}
	p.now = snapshot{Title: text.Title, Subtitle: text.Subtitle, Score: text.Score, Stop: text.Stop, Trainings: []*Training{}}
	p.server = &http.Server{Handler: p.handler(secret), ReadHeaderTimeout: 10 * time.Second}
	go p.server.Serve(l)
	return p, nil
}

// URL is where the page is.
func (p *Page) URL() string { return p.url }

// Show replaces the training of the same name, or adds it.
func (p *Page) Show(t Training) {
	p.change(func() {
		if old := p.byName[t.Name]; old != nil {
			*old = t
			return
		}
		p.byName[t.Name] = &t
		p.now.Trainings = append(p.now.Trainings, &t)
	})
}

// Progress shows how far the work has come.
func (p *Page) Progress(s Progress) {
	p.change(func() {
		p.now.Stage, p.now.Part = s.Stage, s.Part
		p.now.Left = nil
		if s.Left >= 0 {
			p.now.Left = Num(s.Left.Seconds())
		}
	})
}

// patience is how long the end waits for browsers: to read it, or to watch a page that they have
// only just loaded.
const patience = 4 * time.Second

// Close shows how the work ended, and ends the server when all viewers have seen it.
func (p *Page) Close(e End) {
	p.change(func() { p.now.End, p.now.Left = &e, nil })
	for end := time.Now().Add(p.patience); p.watched() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		p.server.Close()
	}
}

func (p *Page) watched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.viewers > 0 || time.Since(p.loaded) < p.patience
}

// load notes that a browser has loaded the page, watch that it watches, leave that it no longer does.
func (p *Page) load() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loaded = time.Now()
}

func (p *Page) watch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.viewers, p.loaded = p.viewers+1, time.Time{}
}

func (p *Page) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.viewers--
}

func (p *Page) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Page) handler(secret string) http.Handler {
	mux := http.NewServeMux()
	own, err := fs.Sub(embedded, "page")
	if err != nil {
		panic("live: the page is not embedded")
	}
	prefix := "/" + secret + "/"
	mux.HandleFunc("GET "+prefix+"events", p.events)
	mux.HandleFunc("GET "+prefix+"picture.png", p.servePicture)
	mux.HandleFunc("POST "+prefix+"stop", func(w http.ResponseWriter, _ *http.Request) {
		p.change(func() { p.now.Stopping = p.now.End == nil })
		p.stop()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET "+prefix, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		name := r.URL.Path[len(prefix):]
		if name == "" {
			name = "index.html"
			if r.Method == http.MethodGet {
				p.load()
			}
		}
		for _, from := range []fs.FS{own, pagestyle.Files} {
			if _, err := fs.Stat(from, name); !errors.Is(err, fs.ErrNotExist) {
				http.ServeFileFS(w, r, from, name)
				return
			}
		}
		http.NotFound(w, r)
	})
	return mux
}

// often is the least time between two events.
const often = 250 * time.Millisecond

// events sends the state whenever it changes, until the work ends.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	p.watch()
	defer p.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	for {
		p.mu.Lock()
		p.now.Seconds = time.Since(p.begun).Seconds()
		text, err := json.Marshal(&p.now)
		ended, changed := p.now.End != nil, p.changed
		p.mu.Unlock()
		if err != nil {
			panic("live: the state cannot be written")
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil || flush.Flush() != nil || ended {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(often):
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}
