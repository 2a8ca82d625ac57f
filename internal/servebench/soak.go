package servebench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Soak says how a server of its own process stands twice the load that fits.
type Soak struct {
	Fits     float64 `json:"requests_per_second_that_fit"`
	Seconds  float64 `json:"seconds"`
	Answered int64   `json:"answered"`
	Refused  int64   `json:"refused"`
	Wrong    int64   `json:"wrong"`
	Example  string  `json:"wrong_example,omitempty"`
	P99      float64 `json:"answered_p99_ms"`

	// Memory of the process in MB: the most in the second quarter of the time, and in the
	// last one. 0 where the system does not say.
	Early float64 `json:"memory_early_mb"`
	Late  float64 `json:"memory_late_mb"`

	// Recovery is how long after the load a single request took at most three times what
	// it took before.
	Recovery float64 `json:"recovery_seconds"`
}

const overloaded = 128 // connections: more requests than the server lets in at a time

// Overload starts the program's own command serve and sends it twice the load that fits.
func Overload(ctx context.Context, program string, window time.Duration) (*Soak, error) {
	folder, err := os.MkdirTemp("", "utvi-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := folder + "/strength.utvi"
	if err := Model(ctx, path); err != nil {
		return nil, err
	}
	address, server, err := start(ctx, program, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	l := load{address: address, request: post("/predict/strength", Row), connections: connections}
	short := min(window, 3*time.Second)
	fits, err := l.run(ctx, short)
	if err != nil {
		return nil, err
	}
	before, err := lone(address)
	if err != nil {
		return nil, err
	}
	out := &Soak{Fits: fits.rate()}
	l.connections, l.perSecond = overloaded, 2*fits.rate()
	watched := make(chan []float64)
	done := make(chan struct{})
	go func() { watched <- watch(server.Process.Pid, done) }()
	t, err := l.run(ctx, window)
	close(done)
	memory := <-watched
	if err != nil {
		return nil, err
	}
	out.Recovery, err = recovery(address, 3*before)
	if err != nil {
		return nil, err
	}
	out.Seconds = t.seconds
	out.Answered = t.answered
	out.Refused = t.refused
	out.Wrong = t.wrong
	out.Example = t.example
	out.P99 = 1000 * t.quantile(0.99)
	if n := len(memory); n >= 4 {
		out.Early, out.Late = slices.Max(memory[n/4:n/2]), slices.Max(memory[n-n/4:])
	}
	return out, nil
}

// recovery waits until a lone request takes at most the usual seconds again, or half a minute, and
// returns the seconds that went by.
func recovery(address string, usual float64) (float64, error) {
	start := time.Now()
	for {
		took, err := lone(address)
		if err != nil {
			return 0, err
		}
		seconds := time.Since(start).Seconds()
		if took <= usual || seconds > 30 {
			return seconds, nil
		}
	}
}

// start starts a server and waits for its address.
func start(ctx context.Context, program, model string) (string, *exec.Cmd, error) {
	c := exec.CommandContext(ctx, program, "serve", model, "--http", "127.0.0.1:0", "--grpc", "none", "--max-requests", strconv.Itoa(overloaded/8), "--client-share", "1")
	log, err := c.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(log)
	address := regexp.MustCompile(`http=(\S+)`)
	for lines.Scan() {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			go func() { // the log must not fill its pipe
				for lines.Scan() {
				}
			}()
			return m[1], c, nil
		}
	}
	c.Process.Kill()
	return "", nil, errors.Join(errors.New("the server did not start"), c.Wait())
}

// lone is the median time of single requests, one after the other.
func lone(address string) (float64, error) {
	c, err := dial(address)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var all []float64
	for range 21 {
		begin := time.Now()
		code, body, err := c.ask(post("/predict/strength", Row))
		if err != nil || code != 200 && code != 429 {
			return 0, fmt.Errorf("a single request got %d %s %w", code, body, err)
		}
		all = append(all, time.Since(begin).Seconds())
	}
	return median(all), nil
}

// watch returns the memory of a process now and then, in MB.
func watch(pid int, done <-chan struct{}) (all []float64) {
	if runtime.GOOS != "linux" {
		<-done
		return nil
	}
	for {
		select {
		case <-done:
			return all
		case <-time.After(250 * time.Millisecond):
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			return all
		}
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseFloat(fields[1], 64)
			all = append(all, pages*float64(os.Getpagesize())/1e6)
		}
	}
}
