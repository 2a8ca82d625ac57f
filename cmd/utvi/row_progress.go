package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"utvi/table"
)

// A rowProgress is the rows of a table, and says how many of them are done: on a terminal
// in a line, elsewhere every fifth of the work and after each silence. Work of less than
// two seconds goes without.
type rowProgress struct {
	table.Source
	w     io.Writer
	one   string // what is counted
	many  string
	start time.Time
	all   int // rows, about; 0: not known
	rows  atomic.Int64
	end   chan struct{} // closed: no more lines
	ended chan struct{} // closed: nothing more is written

	left  timeLeft
	fifth int
	spoke time.Time
}

// quietStart is how long work may take before its progress is shown.
const quietStart = 2 * time.Second

func newRowProgress(w io.Writer, rows table.Source, all int) *rowProgress {
	p := newCountProgress(w, all, "row", "rows")
	p.Source = rows
	return p
}

// newCountProgress counts other things than the rows of a table.
func newCountProgress(w io.Writer, all int, one, many string) *rowProgress {
	p := &rowProgress{w: w, one: one, many: many, all: all, start: time.Now(), fifth: 1, end: make(chan struct{}), ended: make(chan struct{})}
	p.spoke = p.start
	go p.run()
	return p
}

// Done counts rows.
func (p *rowProgress) Done(rows int) { p.rows.Add(int64(rows)) }

func (p *rowProgress) run() {
	defer close(p.ended)
	terminal, drawn := isTerminal(p.w), false
	for wait := quietStart; ; wait = 200 * time.Millisecond {
		select {
		case <-p.end:
			if drawn {
				fmt.Fprint(p.w, "\r\033[K")
			}
			return
		case now := <-time.After(wait):
			drawn = terminal
			if drawn {
				fmt.Fprintf(p.w, "\r\033[K%s", p.text(now.Sub(p.start)))
			} else if p.due(now) {
				fmt.Fprintln(p.w, p.text(now.Sub(p.start)))
			}
		}
	}
}

// due reports whether it is time for a line where there is no terminal.
func (p *rowProgress) due(now time.Time) bool {
	due := now.Sub(p.spoke) >= longSilence
	for ; p.fifth < 5 && p.part() >= float64(p.fifth)/5; p.fifth++ {
		due = true
	}
	if due {
		p.spoke = now
	}
	return due
}

// part is the share of the rows that are done. Their number is an estimate: only the end
// of the table shows that all are.
func (p *rowProgress) part() float64 {
	if p.all == 0 {
		return 0
	}
	return min(0.99, float64(p.rows.Load())/float64(p.all))
}

func (p *rowProgress) text(ran time.Duration) string {
	s := plural(int(p.rows.Load()), p.one, p.many) + " done"
	if x := p.part(); x > 0 {
		left := p.left.show(time.Duration(float64(ran)*(1-x)/x), ran)
		s += fmt.Sprintf(", %.0f %%, %v left", 100*x, left.Round(time.Second))
	}
	return s
}

// close takes the line off the terminal.
func (p *rowProgress) close() {
	close(p.end)
	<-p.ended
}
