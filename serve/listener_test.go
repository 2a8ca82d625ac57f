package serve

import (
	"errors"
	"net"
	"runtime"
	"testing"
	"time"
)

// Connections that the kernel has completed when the end comes are accepted, however long
// the machine takes for that; others are not begun.
func TestLastConnections(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not say whether connections wait")
	}
	l, err := listenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := &bounded{TCPListener: l, clients: &clients{limits: Limits{Share: 1}.complete()}, all: &connections{most: 100}, empty: make(chan struct{})}
	const many = 20
	for range many {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	finished := make(chan bool)
	go func() {
		b.finish()
		close(finished)
	}()
	for !b.quiet.Load() {
		time.Sleep(time.Millisecond)
	}
	if runtime.GOOS == "linux" {
		c, err := net.DialTimeout("tcp", l.Addr().String(), 100*time.Millisecond)
		if err == nil {
			c.Close()
			t.Error("a connection is begun while the listener is about to close")
		}
	}
	b.SetDeadline(time.Unix(1, 0)) // long ago
	for n := 0; ; n++ {
		c, err := b.Accept()
		if errors.Is(err, net.ErrClosed) {
			if n != many {
				t.Errorf("%d of %d connections are accepted", n, many)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	<-finished
}
