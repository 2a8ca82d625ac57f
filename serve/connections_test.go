package serve

import (
	"testing"
	"time"
)

type endedConn struct {
	nopConn
	ended *int
}

func (c endedConn) Close() error {
	*c.ended++
	return nil
}

// Strangers who have most connections make room for others, the oldest first; those who
// had the token keep theirs.
func TestRoom(t *testing.T) {
	clients := &clients{limits: Limits{Connections: 6, Share: 1}.complete()}
	all := &connections{most: 6}
	var order []string
	at := map[string]*int{}
	enter := func(name, ip string) *counted {
		n := 0
		at[name] = &n
		c := &counted{Conn: endedConn{ended: &n}, all: all, who: clients.enter(ip + ":1")}
		c.who.connections.Add(1)
		if !all.add(c) {
			return nil
		}
		order = append(order, name)
		return c
	}
	known := enter("known", "192.0.2.1")
	known.trust()
	known.trust()
	for _, name := range []string{"a1", "a2", "a3"} {
		enter(name, "192.0.2.2")
	}
	for _, name := range []string{"b1", "b2"} {
		enter(name, "192.0.2.3")
	}
	c := enter("c1", "192.0.2.4")
	if c == nil || *at["a1"] != 1 || all.now != 6 {
		t.Fatalf("there is no room for a newcomer, or it is not that of the greediest: %v, %d connections", at, all.now)
	}
	if enter("c2", "192.0.2.4") != nil {
		t.Error("a client takes the place of one that has no more than it would have")
	}
	if enter("d1", "192.0.2.5") == nil || *at["a2"]+*at["b1"] != 1 {
		t.Error("no room for the next")
	}
	if *at["known"] != 0 || *at["c1"] != 0 {
		t.Error("one who is known, or has little, made room")
	}
	c.Close()
	c.Close()
	known.Close()
	if all.now != 4 || len(all.strangers) != 4 || *at["c1"] != 2 {
		t.Errorf("%d connections, %d of strangers", all.now, len(all.strangers))
	}
	var none *counted
	none.trust()
}

// A connection whose answers nobody takes ends, by their number and by their time.
func TestParked(t *testing.T) {
	s := bare(Limits{Time: time.Hour})
	ends := 0
	x := &ticket{s: s, conn: meter(endedConn{ended: &ends})}
	var all []*parked
	for range mostParked {
		p, err := x.park(100)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if want := int64(mostParked * (100 + answerOverhead)); ends != 0 || s.memory.all-s.memory.left.Load() != want {
		t.Errorf("%d answers: the connection ended %d times, %d bytes are taken", mostParked, ends, s.memory.all-s.memory.left.Load())
	}
	p, err := x.park(100)
	if err != nil || ends != 1 {
		t.Errorf("the connection ended %d times, %v", ends, err)
	}
	for _, p := range append(all, p) {
		p.Put(nil)
		p.Put(nil)
	}
	if s.memory.left.Load() != s.memory.all || x.conn.parked.Load() != 0 {
		t.Errorf("%d answers are left, with %d bytes", x.conn.parked.Load(), s.memory.all-s.memory.left.Load())
	}
	short := bare(Limits{Time: 40 * time.Millisecond})
	late := make(chan bool)
	y := &ticket{s: short, conn: meter(tellingConn{ended: late})}
	if _, err := y.park(100); err != nil {
		t.Fatal(err)
	}
	select {
	case <-late:
	case <-time.After(time.Minute): // of 80 milliseconds
		t.Error("an answer may lie for ever")
	}
}

type tellingConn struct {
	nopConn
	ended chan bool
}

func (c tellingConn) Close() error {
	close(c.ended)
	return nil
}
