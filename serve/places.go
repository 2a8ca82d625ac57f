package serve

import "sync/atomic"

// places are the requests that may be in progress, of all clients and of one.
type places struct {
	limits Limits
	now    atomic.Int64
}

// take takes a place for a client, which may be nil. It must be given back once.
func (p *places) take(c *client) error {
	most := int64(p.limits.Requests)
	if !hold(&p.now, most) {
		return failf(busy, "the server is busy with %d requests, which is the most that it allows; try again soon", most)
	}
	if c != nil && !hold(&c.requests, p.limits.share(most)) {
		p.now.Add(-1)
		return failf(busy, "this client has %d requests in progress, which is the most that one client may have; try again soon", p.limits.share(most))
	}
	return nil
}

func (p *places) give(c *client) {
	p.now.Add(-1)
	if c != nil {
		c.requests.Add(-1)
	}
}
