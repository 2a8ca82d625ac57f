package serve

import (
	"net"
	"sync"
	"sync/atomic"
)

// connections are those of all listeners. While there is room, everybody gets one. When
// there is none, a stranger's makes room: of the client that has most of them, the oldest.
type connections struct {
	most int64

	mu        sync.Mutex
	now       int64
	strangers []*counted // that never asked what needs the token; the oldest first
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	all   *connections
	who   *client
	known atomic.Bool // it is no stranger's
	once  sync.Once
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() {
		c.all.remove(c)
		c.who.connections.Add(-1)
		c.who.leave()
	})
	return c.Conn.Close()
}

// trust notes that a request of the connection had the token. Nil is the connection of a
// server of others, which counts its own.
func (c *counted) trust() {
	if c == nil || c.known.Load() || c.known.Swap(true) {
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.all.strangers = without(c.all.strangers, c)
}

// add counts a connection, and reports whether there was room for it.
func (all *connections) add(c *counted) bool {
	for !all.tryAdd(c) {
		greedy := all.greediest(c.who)
		if greedy == nil {
			return false
		}
		greedy.Close()
	}
	return true
}

func (all *connections) tryAdd(c *counted) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.now >= all.most {
		return false
	}
	all.now++
	all.strangers = append(all.strangers, c)
	return true
}

func (all *connections) remove(c *counted) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.now--
	all.strangers = without(all.strangers, c)
}

// greediest returns the oldest connection of the client that has most as a stranger. It is
// nil if nobody would still have as many as who would.
func (all *connections) greediest(who *client) *counted {
	all.mu.Lock()
	defer all.mu.Unlock()
	count := map[*client]int{}
	for _, c := range all.strangers {
		count[c.who]++
	}
	var out *counted
	most := count[who] + 1
	for _, c := range all.strangers {
		if count[c.who] > most {
			most = count[c.who]
			out = c
		}
	}
	return out
}
