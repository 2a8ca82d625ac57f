package live

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func TestPage(t *testing.T) {
	stopped := make(chan bool, 1)
	p, err := Open("127.0.0.1:0", Text{Title: "Fitting", Stop: "Stop"}, func() { stopped <- true })
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "live.js", "svg.js", "style.css"} {
		if code, text := get(t, p.URL()+name); code != 200 || len(text) < 100 {
			t.Errorf("%s: %d, %d bytes", name, code, len(text))
		}
	}
	root := p.URL()[:strings.Index(p.URL()[len("http://"):], "/")+len("http://")]
	for _, url := range []string{root + "/", root + "/events", root + "/guess/events", p.URL() + "none"} {
		if code, _ := get(t, url); code != 404 {
			t.Errorf("%s: %d", url, code)
		}
	}

	r, err := http.Get(p.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	next := func() (s snapshot) {
		t.Helper()
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(text), &s); err != nil {
					t.Fatal(err)
				}
				return s
			}
		}
		t.Fatal("the events end")
		return s
	}
	if s := next(); s.Title != "Fitting" || len(s.Trainings) != 0 {
		t.Errorf("%+v", s)
	}
	p.Progress(Progress{Stage: "choosing", Part: 0.25, Left: 3 * time.Second})
	p.Show(Training{Name: "a", Part: 0.5})
	p.Show(Training{Name: "b", Curve: []Point{{Step: 1, Train: Num(2)}}})
	p.Show(Training{Name: "a", Part: 1, State: Done})
	s := next()
	for len(s.Trainings) < 2 || s.Trainings[0].Part != 1 {
		s = next()
	}
	if s.Stage != "choosing" || s.Part != 0.25 || *s.Left != 3 || s.Trainings[1].Name != "b" || *s.Trainings[1].Curve[0].Train != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := http.Post(p.URL()+"stop", "", nil); err != nil || !<-stopped {
		t.Error("the button does not stop")
	}
	p.patience = 5 * time.Minute // whatever the pace of the machine
	go p.Close(End{Good: true, Text: "done"})
	for s = next(); s.End == nil; s = next() {
	}
	if !s.Stopping || s.End.Text != "done" || s.Left != nil {
		t.Errorf("%+v", s)
	}
	if lines.Scan(); lines.Scan() {
		t.Errorf("more comes after the end: %q", lines.Text())
	}
}

// A page that was loaded before the end, and watches only afterwards, is shown the end.
func TestLateViewer(t *testing.T) {
	p, err := Open("127.0.0.1:0", Text{Title: "Fitting"}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	p.patience = 5 * time.Minute // whatever the pace of the machine
	get(t, p.URL())
	closed := make(chan bool)
	go func() { p.Close(End{Good: true, Text: "done"}); close(closed) }()
	for ended := false; !ended; {
		p.mu.Lock()
		ended = p.now.End != nil
		p.mu.Unlock()
	}
	if _, events := get(t, p.URL()+"events"); !strings.Contains(events, `"done"`) {
		t.Errorf("events after the end: %q", events)
	}
	<-closed
	if r, err := http.Get(p.URL()); err == nil {
		r.Body.Close()
		t.Error("the server goes on")
	}
}

func TestLoopback(t *testing.T) {
	for _, bad := range []string{"0.0.0.0:80", ":8090", "192.168.1.2:8090", "example.org:80", "8090"} {
		if Loopback(bad) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	for _, good := range []string{"127.0.0.1:0", "localhost:8090", "[::1]:8090"} {
		if err := Loopback(good); err != nil {
			t.Error(err)
		}
	}
}

func TestNumber(t *testing.T) {
	var zero float64
	if b, err := json.Marshal([]*Number{Num(1.5), Num(1 / zero), nil}); string(b) != "[1.5,null,null]" {
		t.Errorf("%s, %v", b, err)
	}
}
