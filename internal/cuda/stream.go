package cuda

import (
	"fmt"
	"sync"
	"unsafe"
)

// A Kernel is a function that runs on a card. It takes one argument, a structure. The
// driver compiles it when it is first needed.
type Kernel struct {
	*kernel
	shared  int // bytes of shared memory that a launch asks for
	cluster int // blocks that run together; 0: each runs alone
}

type kernel struct {
	Name   string
	device *Device
	most   int // bytes of shared memory that a launch may ask for
	handle uintptr
	load   func() error
	log    *buildLog // while it is compiled

	// Waits says that the kernel itself waits for the launch before it, and so may start
	// while that one ends.
	Waits bool
}

// Kernel returns the kernel of a text of PTX with that name. Launches ask for the given
// bytes of shared memory, besides what the kernel declares; Sharing lets them ask for fewer.
func (d *Device) Kernel(name string, shared int, text func() ([]byte, error)) Kernel {
	k := &kernel{Name: name, device: d, most: shared}
	k.load = sync.OnceValue(func() error {
		ptx, err := text()
		if err == nil {
			err = k.compile(ptx)
		}
		if err != nil {
			return fmt.Errorf("the kernel %s cannot be compiled for %s: %w", name, d.Name, err)
		}
		return nil
	})
	return Kernel{kernel: k, shared: shared}
}

// Compile compiles the kernel, unless that was done. The driver keeps what it compiled for
// later programs.
func (k Kernel) Compile() error { return k.load() }

// Sharing returns the kernel with launches that ask for so many bytes of shared memory, at
// most those that the kernel was made with.
func (k Kernel) Sharing(bytes int) Kernel {
	k.shared = bytes
	return k
}

// Together returns the kernel with launches in which so many blocks beside one another run
// together, so that they reach into one another's shared memory. Cards need Device.Clusters
// for it.
func (k Kernel) Together(blocks int) Kernel {
	k.cluster = blocks
	return k
}

// A Stream is a queue of work for a card. It belongs to one goroutine at a time.
type Stream struct {
	device *Device
	handle uintptr
	args   [11]uintptr    // of the call under way: a step must not allocate
	memory unsafe.Pointer // that the call uses, so that it stays on the heap
	extra  [5]uintptr
	size   uintptr
	config launchConfig
	ways   [2]launchAttribute
}

// A launchConfig and its launchAttribute are those of cuLaunchKernelEx.
type launchConfig struct {
	grid, block [3]uint32
	shared, _   uint32
	stream      uintptr
	attributes  *launchAttribute
	count, _    uint32
}
type launchAttribute struct {
	id, _ uint32
	value [16]int32
}

// do calls a function with the first n arguments in args.
func (s *Stream) do(fn, n int) error {
	err := s.device.do(fn, s.args[:n]...)
	s.memory = nil
	return err
}

// NewStream returns an empty queue.
func (d *Device) NewStream() (*Stream, error) {
	s := &Stream{device: d}
	return s, d.do(fnStreamCreate, uintptr(unsafe.Pointer(&s.handle)), 1) // 1: does not wait for others
}

// Device returns the card of the stream.
func (s *Stream) Device() *Device { return s.device }

// Close ends a stream whose work has ended.
func (s *Stream) Close() { s.device.do(fnStreamDestroy, s.handle) }

// Sync waits until all work of the stream has ended.
func (s *Stream) Sync() error {
	s.args[0] = s.handle
	return s.do(fnStreamSync, 1)
}

// A Grid says how many blocks a kernel has.
type Grid struct{ X, Y, Z int }

// Launch queues a kernel.
func Launch[T any](s *Stream, k Kernel, g Grid, threads int, args *T) error {
	return s.launch(k, g, threads, unsafe.Pointer(args), unsafe.Sizeof(*args))
}

// LaunchBytes queues a kernel whose argument is given as bytes.
func LaunchBytes(s *Stream, k Kernel, g Grid, threads int, args []byte) error {
	return s.launch(k, g, threads, unsafe.Pointer(&args[0]), uintptr(len(args)))
}

func (s *Stream) launch(k Kernel, g Grid, threads int, args unsafe.Pointer, size uintptr) error {
	if behind := k.Waits && s.device.Behind; behind || k.cluster > 0 {
		return s.launchWith(k, g, threads, args, size, behind)
	}
	if err := k.load(); err != nil {
		return err
	}
	s.memory, s.size = args, size
	s.extra = [5]uintptr{1, uintptr(s.memory), 2, uintptr(unsafe.Pointer(&s.size)), 0} // s is on the heap: what escapes into a call stays there
	s.args = [11]uintptr{k.handle, uintptr(g.X), uintptr(max(1, g.Y)), uintptr(max(1, g.Z)), uintptr(threads), 1, 1, uintptr(k.shared), s.handle, 0, uintptr(unsafe.Pointer(&s.extra))}
	return s.do(fnLaunch, 11)
}

// LaunchTogether queues a kernel whose blocks wait for one another: all of them run at
// once, or the launch fails.
func LaunchTogether(s *Stream, k Kernel, g Grid, threads int, args []byte) error {
	if err := k.load(); err != nil {
		return err
	}
	s.memory = unsafe.Pointer(&args[0])
	s.extra = [5]uintptr{uintptr(s.memory)}
	s.args = [11]uintptr{k.handle, uintptr(g.X), uintptr(max(1, g.Y)), uintptr(max(1, g.Z)), uintptr(threads), 1, 1, uintptr(k.shared), s.handle, uintptr(unsafe.Pointer(&s.extra))}
	return s.do(fnLaunchTogether, 10)
}

// LaunchBehind queues a kernel that may start while the kernel before it in the stream
// ends: it waits itself for what that one writes. On cards that cannot do so, it starts
// behind it.
func LaunchBehind(s *Stream, k Kernel, g Grid, threads int, args []byte) error {
	if !s.device.Behind {
		return LaunchBytes(s, k, g, threads, args)
	}
	return s.launchWith(k, g, threads, unsafe.Pointer(&args[0]), uintptr(len(args)), true)
}

// launchWith queues a kernel that starts behind the one before it or while that one ends, and
// whose blocks may run together.
func (s *Stream) launchWith(k Kernel, g Grid, threads int, args unsafe.Pointer, size uintptr, behind bool) error {
	if err := k.load(); err != nil {
		return err
	}
	s.memory, s.size = args, size
	s.extra = [5]uintptr{1, uintptr(s.memory), 2, uintptr(unsafe.Pointer(&s.size)), 0}
	n := 0
	if behind {
		s.ways[n] = launchAttribute{id: 6} // programmatic stream serialization
		s.ways[n].value[0] = 1
		n++
	}
	if k.cluster > 0 {
		s.ways[n] = launchAttribute{id: 4} // cluster dimension
		s.ways[n].value = [16]int32{int32(k.cluster), 1, 1}
		n++
	}
	s.config = launchConfig{grid: [3]uint32{uint32(g.X), uint32(max(1, g.Y)), uint32(max(1, g.Z))}, block: [3]uint32{uint32(threads), 1, 1},
		shared: uint32(k.shared), stream: s.handle, attributes: &s.ways[0], count: uint32(n)}
	s.args = [11]uintptr{uintptr(unsafe.Pointer(&s.config)), k.handle, 0, uintptr(unsafe.Pointer(&s.extra))}
	return s.do(fnLaunchWith, 4)
}

// A Graph is work that was recorded and can be queued as a whole.
type Graph struct {
	device *Device
	handle uintptr
}

// Record records what run queues, instead of queueing it.
func (s *Stream) Record(run func() error) (*Graph, error) {
	d := s.device
	if err := d.do(fnBeginCapture, s.handle, 2); err != nil { // 2: other threads are not affected
		return nil, err
	}
	failed := run()
	var recorded uintptr
	if err := d.do(fnEndCapture, s.handle, uintptr(unsafe.Pointer(&recorded))); failed != nil || err != nil {
		if failed == nil {
			failed = err
		}
		return nil, failed
	}
	defer d.do(fnGraphDestroy, recorded)
	g := &Graph{device: d}
	return g, d.do(fnInstantiate, uintptr(unsafe.Pointer(&g.handle)), recorded, 0)
}

// Launch queues the recorded work.
func (g *Graph) Launch(s *Stream) error {
	s.args[0], s.args[1] = g.handle, s.handle
	return s.do(fnGraphLaunch, 2)
}

// Close frees the graph.
func (g *Graph) Close() { g.device.do(fnExecDestroy, g.handle) }

// A Timer measures the time that the card needs for a stretch of a stream.
type Timer struct {
	stream     *Stream
	begin, end uintptr
}

// NewTimer returns a timer of the stream.
func (s *Stream) NewTimer() (*Timer, error) {
	t := &Timer{stream: s}
	if err := s.device.do(fnEventCreate, uintptr(unsafe.Pointer(&t.begin)), 0); err != nil {
		return nil, err
	}
	return t, s.device.do(fnEventCreate, uintptr(unsafe.Pointer(&t.end)), 0)
}

// Begin marks the begin of the stretch.
func (t *Timer) Begin() error { return t.stream.device.do(fnEventRecord, t.begin, t.stream.handle) }

// End marks its end, waits for it, and returns the milliseconds between the two.
func (t *Timer) End() (float64, error) {
	d := t.stream.device
	if err := d.do(fnEventRecord, t.end, t.stream.handle); err != nil {
		return 0, err
	}
	if err := d.do(fnEventSync, t.end); err != nil {
		return 0, err
	}
	var ms float32
	err := d.do(fnEventElapsed, uintptr(unsafe.Pointer(&ms)), t.begin, t.end)
	return float64(ms), err
}

// Close frees the timer.
func (t *Timer) Close() {
	t.stream.device.do(fnEventDestroy, t.begin)
	t.stream.device.do(fnEventDestroy, t.end)
}
