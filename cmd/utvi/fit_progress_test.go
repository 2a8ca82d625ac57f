package main

import (
	"strings"
	"testing"
	"time"

	"utvi/internal/tabular"
)

// TestTimeLeft lets the total jump up at a third of the work, as when a costly network is
// chosen: the time shown must hardly rise.
func TestTimeLeft(t *testing.T) {
	var l timeLeft
	last := time.Duration(0)
	for s := 1; s <= 500; s++ {
		ran, total := time.Duration(s)*time.Second, 300.
		if s > 100 {
			total = 500
		}
		done := float64(s)
		got := l.show(time.Duration(float64(ran)/done*(total-done)), ran)
		if s > 1 && got > last+300*time.Millisecond {
			t.Errorf("after %v the time left rose from %v to %v", ran, last, got)
		}
		if want := time.Duration(total-done) * time.Second; s > 300 && got > want || s < 100 && got != want {
			t.Errorf("after %v the time left is %v, in truth %v", ran, got, want)
		}
		last = got
	}
	p := fitProgress{start: time.Now().Add(-40 * time.Second), budget: time.Minute, now: tabular.Progress{Done: 1, Total: 100}}
	if left := p.remaining(); left > 20*time.Second {
		t.Errorf("20 s before the end of its budget %v are left", left)
	}
	p = fitProgress{start: time.Now().Add(-10 * time.Second), now: tabular.Progress{Done: 50, Found: 49, Total: 100}}
	if left := p.remaining(); left < 450*time.Second {
		t.Errorf("work that an earlier fit did counts as fast: %v are left", left)
	}
	if last != 0 {
		t.Errorf("at the end %v are left", last)
	}
}

// The scoring of many held-out rows says how far it is.
func TestScoringProgress(t *testing.T) {
	var out strings.Builder
	p := &fitProgress{w: &out, begun: true, timer: time.NewTimer(time.Hour), now: tabular.Progress{Done: 1, Total: 1}}
	p.speak()
	p.scoring(960, 5000)
	p.speak()
	p.scoring(5000, 5000)
	p.speak()
	want := "training is done; scoring the held-out rows\nscored 960 of 5000 held-out rows\nthe held-out rows are scored; finding out which columns matter\n"
	if out.String() != want {
		t.Error(out.String())
	}
}
