package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
	"utvi/nn"
)

// Predictions by plain networks with correlations run in the kernel sensed: one launch takes
// rows through all networks of a team, with weights and signals in shared memory. The kernel
// rows, which runs any network, waits for global memory in every operation.

// sensedRows is how many rows a block takes at a time, sensedThreads the threads of a block,
// and sensedStatic about what the kernel declares of shared memory itself.
const sensedRows, sensedThreads, sensedStatic = 32, 256, 7 << 10

// mostSensed is how many dense layers the kernel takes; sensedPoints how many points of a rule
// it keeps the values of, and sensedCols the columns that a warp takes at a time.
const mostSensed, sensedPoints, sensedCols = 8, 16, 8

type sensedLayer struct {
	W, S, B, BS            cuda.Ptr
	In, Out, Pitch         int32
	Means, Variances, Bias int32 // places in shared memory, in numbers
	Adds, Rest, Slope, _   int32
	F                      function
}

// What may stand behind the last dense layer; 0 stands for nothing.
const sensedAppended, sensedNoise = 1, 2

type sensedArgs struct {
	X, OM, OV, Raw                cuda.Ptr
	Control, Layers               cuda.Ptr
	Count, Outputs, Width, Behind int32
	Near, Far, Tall, Ends         int32
}

const sizeSensedLayer, sizeSensed = 136, 80

var _ = [1]struct{}{}[unsafe.Sizeof(sensedLayer{})-sizeSensedLayer]
var _ = [1]struct{}{}[unsafe.Sizeof(sensedArgs{})-sizeSensed]

// plain reports whether a plan is one that the kernel sensed takes: numbers go in; dense
// layers with a function behind each, and a last one without; noise or numbers that are
// appended may follow.
func (p *plan) plain() (dense int, ok bool) {
	n := len(p.layers)
	if k := p.layers[n-1].kind; n > 1 && (k == opAppend || k == opNoise) {
		n--
	}
	if p.form != nn.Fixed || n < 3 || n%2 == 0 || n/2+1 > mostSensed {
		return 0, false
	}
	for i := range p.layers {
		l := &p.layers[i]
		if l.input != i || l.cov || l.needs || l.formula != nil || i < n && !p.inPlain(l, i) {
			return 0, false
		}
	}
	return n/2 + 1, true
}

// inPlain reports whether a layer can be number i of a plain network: dense layers and functions
// alternate.
func (p *plan) inPlain(l *layer, i int) bool {
	switch {
	case !l.sense:
		return false
	case i%2 == 0:
		return l.kind == opDense && p.params.Tensors[l.tensors[0]].Random && (i == 0) == (l.from == nn.Fixed)
	}
	return l.kind == opApply && (l.f.Rule == byPoints || l.f.Rule == closedForm || l.f.Rule == byTangent)
}

// sensed returns the arguments of the kernel for a network, and the bytes of shared memory
// that it needs; 0 bytes: the kernel does not take the network.
func (w *weights) sensed(in, out signal) (a sensedArgs, bytes int) {
	count, ok := w.plan.plain()
	if !ok {
		return a, 0
	}
	at := 0
	take := func(n int) int32 { at += n; return int32(at - n) }
	layers := make([]sensedLayer, count)
	acts := make([]signal, len(w.plan.layers))
	tall := w.plan.inputs
	for i := range layers {
		l, c := &w.plan.layers[2*i], &layers[i]
		o := w.operation(l, acts, signal{})
		pitch := tiles(l.out, sensedCols) * sensedCols
		*c = sensedLayer{W: o.W, S: o.S, B: o.B, BS: o.BS, In: int32(l.in), Out: int32(l.out), Pitch: int32(pitch)}
		c.Means = take(l.in * pitch)
		c.Variances = take(l.in * pitch)
		c.Bias = take(2 * pitch)
		tall = max(tall, l.out)
		if i == count-1 {
			continue
		}
		f := &w.plan.layers[2*i+1]
		c.F = w.operation(f, acts, signal{}).F
		if f.f.Points <= sensedPoints { // their values wait where a signal lay
			tall = max(tall, tiles(sensedThreads*int(f.f.Points), 2*sensedRows))
		}
	}
	for i := range layers[:count-1] {
		c, n := &layers[i], sensedRows*int(layers[i].Out)
		c.Adds = take(n)
		c.Rest = take(n)
		c.Slope = take(n)
	}
	last := &w.plan.layers[2*count-2]
	a = sensedArgs{X: in.m, OM: out.m, OV: out.v, Control: w.control, Count: int32(count), Outputs: int32(last.out), Width: int32(w.plan.graph.Out.Size()),
		Near: take(2 * sensedRows * tall), Far: take(2 * sensedRows * tall), Tall: int32(tall), Ends: take(2 * sensedRows * last.out)}
	bytes = 4 * at
	if bytes > w.device.Shared-sensedStatic {
		return a, 0
	}
	if n := len(w.plan.layers); n == 2*count {
		a.Raw = w.operation(&w.plan.layers[n-1], append(acts, signal{}), signal{}).Raw
		a.Behind = sensedNoise
		if w.plan.layers[n-1].kind == opAppend {
			a.Behind = sensedAppended
		}
	}
	a.Layers = place(w.memory, layers, sizeSensedLayer)
	return a, bytes
}

// sensedNetworks are the networks of a stream that run in the kernel sensed, all in one launch.
type sensedNetworks struct {
	kernel cuda.Kernel
	all    many[sensedArgs]
	count  int
}

// takeSensed takes the networks of a stream that the kernel sensed runs; outs are their outputs.
func (q *predictStream) takeSensed(outs []signal) {
	var all []sensedArgs
	most := 0
	for i := range q.networks {
		n := &q.networks[i]
		a, bytes := n.weights.sensed(q.in, outs[i])
		if bytes > 0 {
			n.sensed, most = true, max(most, bytes)
			all = append(all, a)
		}
	}
	q.sensed.count = len(all)
	if len(all) == 0 {
		return
	}
	q.sensed.kernel, q.sensed.all.One = q.networks[0].weights.kernels.sensed.Sharing(most), all[0]
	if len(all) > 1 {
		q.sensed.all.List = place(q.memory, all, sizeSensed)
	}
}

// compile has the driver compile the kernel, if there are such networks.
func (c *sensedNetworks) compile(k *kernelSet) error {
	if c.count == 0 {
		return nil
	}
	return k.compile([]launched{{kernel: c.kernel}})
}

// run queues the launch, if there are such networks. A block keeps its weights for two turns
// where that leaves enough blocks for all multiprocessors.
func (c *sensedNetworks) run(m *memory, rows int) error {
	if c.count == 0 {
		return nil
	}
	blocks := tiles(rows, sensedRows)
	if blocks*c.count > 4*m.device.Processors {
		blocks = tiles(blocks, 2)
	}
	return cuda.Launch(m.stream, c.kernel, cuda.Grid{X: blocks, Y: c.count}, sensedThreads, &c.all)
}
