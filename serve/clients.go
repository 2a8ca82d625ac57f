package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// clients are those who have connections or requests now. A client is an address of the
// network; of IPv6, the first 64 bits, which one machine can fill as it likes.
type clients struct {
	limits Limits
	mu     sync.Mutex
	all    map[string]*client
}

// A client may hold a share of what the server has, so that others get theirs.
type client struct {
	of   *clients
	key  string
	refs int // connections and requests that refer to it; of.mu guards it

	connections atomic.Int64
	requests    atomic.Int64
	multiplexed atomic.Int64 // requests of HTTP/2
	memory      atomic.Int64
}

// clientKey is the client of an address such as 192.0.2.7:54321.
func clientKey(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if prefix, err := ip.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return ip.String()
}

// enter returns the client of an address. Leave must be called once for it.
func (all *clients) enter(address string) *client {
	key := clientKey(address)
	all.mu.Lock()
	defer all.mu.Unlock()
	c := all.all[key]
	if c == nil {
		c = &client{of: all, key: key}
		if all.all == nil {
			all.all = map[string]*client{}
		}
		all.all[key] = c
	}
	c.refs++
	return c
}

// leave forgets the client if nothing of it is left.
func (c *client) leave() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.refs--
	if c.refs == 0 {
		delete(c.of.all, c.key)
	}
}

// share is the part of n that one client may hold, at least 1.
func (l Limits) share(n int64) int64 { return max(1, int64(l.Share*float64(n))) }

// hold counts one more of something, unless there are most of them already.
func hold(n *atomic.Int64, most int64) bool {
	if n.Add(1) <= most {
		return true
	}
	n.Add(-1)
	return false
}

func (c *client) mostMemory() int64 { return c.of.limits.share(c.of.limits.requestMemory()) }

func (c *client) takeMemory(n int64) bool {
	if c == nil || c.memory.Add(n) <= c.mostMemory() {
		return true
	}
	c.memory.Add(-n)
	return false
}

func (c *client) giveMemory(n int64) {
	if c != nil {
		c.memory.Add(-n)
	}
}

type connectionOf struct{}

// withConnection keeps a connection for its requests.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if c, ok := c.(*counted); ok {
		return context.WithValue(ctx, connectionOf{}, c)
	}
	return ctx
}
