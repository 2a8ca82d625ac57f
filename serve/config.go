package serve

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"utvi/model"
)

// A Config says what to serve. Only Models must be set.
type Config struct {
	Models []Source
	Limits Limits

	// Options bring what the files of the models only name, such as functions of the
	// program's own.
	Options []model.Option

	// Token must be sent by every client ("Authorization: Bearer …") that asks for more
	// than health, the page or the OpenAPI document. "" asks for no token.
	Token string

	// Reload is how often the files of the models are looked at; 0: every second, below
	// 0: never.
	Reload time.Duration

	Log         *slog.Logger // nil: slog.Default
	LogRequests bool         // log every request, not only those that failed

	pause func(time.Duration) // time.Sleep, unless a test owns the time
}

// Limits bound what clients can ask for. A zero field stands for its default.
type Limits struct {
	Body        int64         // bytes of a request; 16 MiB
	Rows        int           // of a request; 10,000
	Numbers     int           // of an answer; 4,000,000
	Requests    int           // in progress at a time; 256
	Memory      int64         // bytes of all requests in progress; 256 MiB
	Connections int           // at a time; 256
	Share       float64       // of connections, requests and memory that one client may hold; 0.5
	Time        time.Duration // of a request; 30 s
}

// connectionMemory is what a connection may take before a request of it is looked at: the
// buffers of the connection, its goroutines, and a header of the longest kind, whose lines
// may be as short as three bytes.
const connectionMemory = 256 << 10

// connections is how many connections fit into the quarter of the memory that is set
// aside for them, so that none of them waits for requests of others.
func (l Limits) connections() int64 {
	return max(1, min(int64(l.Connections), l.Memory/4/connectionMemory))
}

// requestMemory is what all requests together may take.
func (l Limits) requestMemory() int64 { return l.Memory - l.connections()*connectionMemory }

func (l Limits) complete() Limits {
	return Limits{
		Body:        cmp.Or(l.Body, 16<<20),
		Rows:        cmp.Or(l.Rows, 10_000),
		Numbers:     cmp.Or(l.Numbers, 4_000_000),
		Requests:    cmp.Or(l.Requests, 256),
		Memory:      cmp.Or(l.Memory, 256<<20),
		Connections: cmp.Or(l.Connections, 256),
		Share:       cmp.Or(l.Share, 0.5),
		Time:        cmp.Or(l.Time, 30*time.Second),
	}
}

// leastMemory has room for four connections and a small request.
const leastMemory = 2 << 20

func (l Limits) check() error {
	for what, v := range map[string]int64{
		"bytes of a request": l.Body, "rows of a request": int64(l.Rows), "numbers of an answer": int64(l.Numbers),
		"requests in progress": int64(l.Requests), "bytes of all requests": l.Memory, "connections": int64(l.Connections),
		"time of a request": int64(l.Time),
	} {
		if v < 0 {
			return fmt.Errorf("the limit of the %s is %d; it must be above 0", what, v)
		}
	}
	if !(l.Share > 0 && l.Share <= 1) {
		return fmt.Errorf("the share of one client is %g; it must be above 0 and at most 1", l.Share)
	}
	if l.Memory < leastMemory {
		return fmt.Errorf("all requests together may take %d bytes; the least is %d", l.Memory, int64(leastMemory))
	}
	if l.Body > l.requestMemory() {
		return fmt.Errorf("a request may have %d bytes, all requests together only %d", l.Body, l.requestMemory())
	}
	return nil
}

func (c *Config) complete() error {
	c.Limits = c.Limits.complete()
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.Reload = cmp.Or(c.Reload, time.Second)
	if c.pause == nil {
		c.pause = time.Sleep
	}
	if len(c.Models) == 0 {
		return errors.New("no model is given; name at least one file")
	}
	return c.Limits.check()
}
