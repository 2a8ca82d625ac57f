package attack

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// An attack does to a server what it should not be able to do. It ends when ctx does.
type attack struct {
	name string
	run  func(ctx context.Context, a *arena)
}

func attacks() []attack {
	all := jsonAttacks()
	all = append(all, httpAttacks()...)
	all = append(all, grpcAttacks()...)
	all = append(all, frameAttacks()...)
	all = append(all, imageAttacks()...)
	return append(all, fileAttacks()...)
}

// wanted says how long to attack: 0 is every attack once.
func wanted(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("UTVI_ATTACKS")
	if text == "" {
		t.Skip("attacks take a minute and both cores: set UTVI_ATTACKS=1, or UTVI_ATTACKS=10m for a mix")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read as Linux tells it")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// Under every attack the server keeps its promise about memory, answers a second client,
// and then serves as before.
func TestAttacks(t *testing.T) {
	if wanted(t) > 0 {
		t.Skip("a mix is asked for")
	}
	folder := build(t)
	a := open(t, folder, nil, "--max-time", "10s")
	all := attacks()
	secure := secureAttacks()
	t.Logf("%d attacks", len(all)+len(secure))
	for _, x := range all {
		a.endure(t, x.name, func(ctx context.Context) { x.run(ctx, a) })
	}
	b := open(t, folder, certify(t, folder), "--max-time", "10s", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	for _, x := range secure {
		b.endure(t, "TLS: "+x.name, func(ctx context.Context) { x.run(ctx, b) })
	}
	a.endure(t, "four of them at a time", func(ctx context.Context) {
		together(4, func(i int) { all[(i*13+7)%len(all)].run(ctx, a) })
	})
}

// A mix of all attacks, for as long as UTVI_ATTACKS says.
func TestMix(t *testing.T) {
	d := wanted(t)
	if d == 0 {
		t.Skip("UTVI_ATTACKS=10m attacks for ten minutes")
	}
	a := open(t, build(t), nil, "--max-time", "10s")
	all := attacks()
	random := rand.New(rand.NewPCG(1, 2))
	for end := time.Now().Add(d); time.Now().Before(end); {
		var some []attack
		for range 4 {
			some = append(some, all[random.IntN(len(all))])
		}
		a.endure(t, some[0].name+" and three more", func(ctx context.Context) {
			together(len(some), func(i int) { some[i].run(ctx, a) })
		})
		if t.Failed() {
			return
		}
	}
}

// A server that is told to end does so soon, whoever holds streams and connections, and
// resets no request.
func TestEnd(t *testing.T) {
	wanted(t)
	folder := build(t)
	for _, x := range []attack{{"idle streams", idleStreams}, {"watchers", watchers}, {"slow headers", slowHeaders}, {"clients", nil}} {
		a := open(t, folder, nil)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		var answered, wrong atomic.Int64
		if x.run != nil {
			wg.Go(func() { x.run(ctx, a) })
			time.Sleep(500 * time.Millisecond)
		} else {
			for range 8 {
				wg.Go(func() { a.load(ctx, &answered, &wrong) })
			}
			for answered.Load() < 100 && wrong.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		begin := time.Now()
		a.process.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-a.ended:
			if err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
			t.Logf("%s: the end took %v; %d requests answered", x.name, time.Since(begin), answered.Load())
		case <-time.After(hang):
			t.Errorf("%s: the server does not end", x.name)
		}
		cancel()
		wg.Wait()
		if wrong.Load() > 0 {
			t.Errorf("%d requests were reset while the server ended", wrong.Load())
		}
	}
}
