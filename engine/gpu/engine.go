// Package gpu runs networks on NVIDIA cards: the engine "cuda".
//
// A network becomes a list of operations on rows. One kernel takes a few rows through as
// many operations as there are, so a small network is one launch; only wide layers are
// products of their own. A training step is a recorded graph: the parameters, the state
// of the optimiser and the table stay on the card, the host sends the numbers of the
// rows in the batch and reads the loss. All sums have a fixed order: same card, same
// seed, same bits.
//
// A layer, function, rule or likelihood that the engine cannot run is refused when the
// network is compiled, by an Unsupported error.
package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"utvi/engine"
	"utvi/internal/cuda"
)

// An Unsupported error says what of a network the engine cannot run.
type Unsupported struct {
	Layer string // its name; "" for the likelihood
	What  string // and what would run
}

// Error says what cannot run, and what would.
func (e *Unsupported) Error() string {
	if e.Layer == "" {
		return "the cuda engine cannot train this network: " + e.What
	}
	return fmt.Sprintf("layer %s: the cuda engine cannot run it: %s", e.Layer, e.What)
}

// Lost reports whether an error says that a card was lost: the process cannot use it any
// more, but another process may, and continue from checkpoints.
func Lost(err error) bool { return errors.Is(err, cuda.ErrLost) }

// An Engine runs networks on one card. Goroutines may share it.
type Engine struct {
	device *cuda.Device
	tile   string // the tiling of all products; "" lets the engine choose
	load   func() *kernelSet
	slow   func() // is called if the driver takes long to compile the kernels; may be nil

	mu       sync.Mutex
	groups   []*trainGroup // trainings that can run side by side
	trainers int           // that were made
}

var _ engine.Engine[float32] = (*Engine)(nil)

// Open returns the engine of a device: "cuda" or "cuda:0" is the first card, "cuda:1"
// the second.
func Open(device string) (*Engine, error) {
	number, err := Number(device)
	if err != nil {
		return nil, err
	}
	d, err := cuda.Open(number)
	if err != nil {
		return nil, fmt.Errorf("device %s: %w", device, err)
	}
	e := &Engine{device: d, tile: startTile()}
	e.load = sync.OnceValue(e.loadKernels)
	return e, nil
}

// Number returns the number of the card that a device's name stands for.
func Number(device string) (int, error) {
	kind, number, numbered := strings.Cut(device, ":")
	n := 0
	if numbered {
		var err error
		n, err = strconv.Atoi(number)
		if err != nil || n < 0 {
			kind = ""
		}
	}
	if kind != "cuda" {
		return 0, fmt.Errorf("unknown device %q; use cpu, cuda, cuda:n with the number of a card, or auto (utvi devices lists them)", device)
	}
	return n, nil
}

// Name implements engine.Engine.
func (*Engine) Name() string { return "cuda" }

// Notice sets what is called with what a user waits for if the driver takes long to compile
// the kernels. It belongs before the first use of the engine.
func (e *Engine) Notice(notice func(reason error)) {
	if notice != nil {
		e.slow = sync.OnceFunc(func() {
			notice(fmt.Errorf("the driver compiles the kernels for %s; it keeps them, so this happens once", e.Card()))
		})
	}
}

// Abilities implements engine.Engine.
func (e *Engine) Abilities() engine.Abilities[float32] {
	return engine.Abilities[float32]{Card: e.Card(), Concurrent: beside, NewEnsemble: e.newEnsemble, NewIntervals: e.newIntervals}
}

// Card returns the name of the card.
func (e *Engine) Card() string { return e.device.Name }

// Remarks returns what the driver said of the kernels that it compiled for this process.
func (e *Engine) Remarks() []string { return e.device.Remarks() }

// memory is what was allocated on a card for a program, with its stream.
type memory struct {
	device *cuda.Device
	stream *cuda.Stream
	held   []cuda.Ptr
	pinned []func()
	err    error // the first one
	once   sync.Once
}

func newMemory(d *cuda.Device) (*memory, error) {
	s, err := d.NewStream()
	return &memory{device: d, stream: s}, err
}

// alloc allocates n numbers of the given size. Errors are kept for the end of a series.
func (m *memory) alloc(n, size int) cuda.Ptr {
	if m.err != nil {
		return 0
	}
	p, err := m.device.Alloc(n * size)
	for wait := time.Millisecond; errors.Is(err, cuda.ErrMemory) && wait < 32*time.Millisecond; wait *= 4 {
		runtime.GC() // predictors that nobody uses free their memory soon after
		time.Sleep(wait)
		p, err = m.device.Alloc(n * size)
	}
	if err != nil {
		m.err = err
		return 0
	}
	m.held = append(m.held, p)
	return p
}

func (m *memory) floats(n int) cuda.Ptr { return m.alloc(n, 4) }

// zeros allocates n numbers that are 0.
func (m *memory) zeros(n int) cuda.Ptr {
	p := m.floats(n)
	if m.err == nil {
		m.err = m.stream.Zero(p, 4*n)
	}
	return p
}

// place allocates memory for values and copies them there.
func place[T any](m *memory, values []T, size int) cuda.Ptr {
	p := m.alloc(len(values), size)
	if m.err == nil {
		m.err = cuda.Upload(m.stream, p, values)
	}
	return p
}

// release frees everything, once.
func (m *memory) release() {
	m.once.Do(func() {
		m.stream.Sync()
		for _, p := range m.held {
			m.device.Release(p)
		}
		for _, free := range m.pinned {
			free()
		}
		m.stream.Close()
	})
}

// pinned allocates memory of the host that the card reads and writes directly.
func pinned[T any](m *memory, n int) []T {
	if m.err != nil {
		return nil
	}
	s, err := cuda.Pinned[T](m.device, n)
	if err != nil {
		m.err = err
		return nil
	}
	m.pinned = append(m.pinned, func() { cuda.FreePinned(m.device, s) })
	return s
}
