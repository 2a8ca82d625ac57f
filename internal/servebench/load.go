package servebench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A load is clients that send one request again and again over connections that stay
// open. They write and read bytes, and little else, so that they do not hide what the
// server costs.
type load struct {
	address     string
	request     []byte
	connections int
	perSecond   float64 // requests of all; 0: the next one when the last is answered
	want        []byte  // the right answer; nil: that of the first request
}

// A tally is what came back.
type tally struct {
	answered, refused, wrong int64
	seconds                  float64   // that it took
	cpu                      float64   // seconds of this process, its clients included
	took                     []float64 // by the answered ones, since they were due, ascending
	example                  string    // of a wrong answer
}

func (t *tally) rate() float64 { return float64(t.answered) / t.seconds }

// cost is the processor time of an answer, in microseconds.
func (t *tally) cost() float64 { return 1e6 * t.cpu / float64(max(1, t.answered)) }

func (t *tally) quantile(p float64) float64 {
	if len(t.took) == 0 {
		return 0
	}
	return t.took[min(int(p*float64(len(t.took))), len(t.took)-1)]
}

func post(path, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// run sends requests for a while.
func (l load) run(ctx context.Context, window time.Duration) (*tally, error) {
	if l.want == nil {
		c, err := dial(l.address)
		if err != nil {
			return nil, err
		}
		code, body, err := c.ask(l.request)
		c.Close()
		if err != nil || code != 200 {
			return nil, fmt.Errorf("the first request got %d %s %w", code, body, err)
		}
		l.want = body
	}
	all := &tally{}
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	var stop atomic.Bool
	begin, cpu := time.Now(), cpuSeconds()
	for i := range l.connections {
		wg.Go(func() {
			t, err := l.client(i, begin, &stop)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			all.answered = all.answered + t.answered
			all.refused = all.refused + t.refused
			all.wrong = all.wrong + t.wrong
			all.took = append(all.took, t.took...)
			if t.example != "" {
				all.example = t.example
			}
		})
	}
	select {
	case <-time.After(window):
	case <-ctx.Done():
	}
	stop.Store(true)
	wg.Wait()
	all.seconds, all.cpu = time.Since(begin).Seconds(), cpuSeconds()-cpu
	slices.Sort(all.took)
	if ctx.Err() != nil {
		failed = ctx.Err()
	}
	return all, failed
}

// client sends the requests of connection i.
func (l load) client(i int, begin time.Time, stop *atomic.Bool) (t tally, err error) {
	c, err := dial(l.address)
	if err != nil {
		return t, err
	}
	defer func() { c.Close() }()
	var gap time.Duration
	if l.perSecond > 0 {
		gap = time.Duration(float64(l.connections) / l.perSecond * 1e9)
	}
	due := begin.Add(gap * time.Duration(i) / time.Duration(l.connections))
	for !stop.Load() {
		if wait := time.Until(due); gap > 0 && wait > -gap {
			time.Sleep(wait)
		} else { // what could not be sent in time is not sent
			due = time.Now()
		}
		code, body, err := c.ask(l.request)
		switch {
		case err != nil:
			return t, err
		case code == 200 && bytes.Equal(body, l.want):
			t.answered++
			t.took = append(t.took, time.Since(due).Seconds())
		case code == 429 || code == 503:
			t.refused++
		default:
			t.wrong++
			t.example = fmt.Sprintf("%d %.200s", code, body)
		}
		due = due.Add(gap)
	}
	return t, nil
}

// A conn is a connection to a server of HTTP.
type conn struct {
	net.Conn
	r    *bufio.Reader
	body []byte
}

func dial(address string) (*conn, error) {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 16<<10)}, nil
}

var lengthHeader = []byte("Content-Length: ")

// ask sends a request and reads the answer, which is valid until the next call.
func (c *conn) ask(request []byte) (code int, body []byte, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, nil, err
	}
	line, err := c.r.ReadSlice('\n')
	if err != nil || len(line) < 12 {
		return 0, nil, fmt.Errorf("no answer: %w", err)
	}
	code, err = strconv.Atoi(string(line[9:12]))
	if err != nil {
		return 0, nil, err
	}
	size := -1
	for {
		line, err = c.r.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		if len(line) <= 2 {
			break
		}
		if bytes.HasPrefix(line, lengthHeader) {
			size, err = strconv.Atoi(string(bytes.TrimSpace(line[len(lengthHeader):])))
			if err != nil {
				return 0, nil, err
			}
		}
	}
	if size < 0 {
		return 0, nil, errors.New("an answer without its length")
	}
	c.body = slices.Grow(c.body[:0], size)[:size]
	_, err = io.ReadFull(c.r, c.body)
	return code, c.body, err
}
