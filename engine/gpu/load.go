package gpu

import (
	"sync"
	"time"

	"utvi/internal/cuda"
	"utvi/internal/cuda/kernels"
)

// A kernelSet holds the kernels that a card runs.
type kernelSet struct {
	rows, rowsAny, thin                            cuda.Kernel // rowsAny: for operations that few networks have, too
	forward32, forward64, backward32, backward64   cuda.Kernel
	gradients32, gradients64                       cuda.Kernel
	norm, adamw, columns, priors, formulas         cuda.Kernel
	convForward, convBackward, convGradients       cuda.Kernel
	convForward16, convBackward16, convGradients16 cuda.Kernel // with few columns
	levels, shared, emitters, quantiles            cuda.Kernel
	deliver, collect                               cuda.Kernel // of trainings side by side
	drawWeights, gatherDraws                       cuda.Kernel

	sensed cuda.Kernel // predictions of plain networks with correlations

	fused, fusedAny, fusedGradients, fusedUpdate cuda.Kernel       // of small networks
	hasFused                                     bool              // from compute capability 8.0 on
	denseNets                                    *denseNetKernels  // from compute capability 9.0 on; else nil
	convNets                                     *convNetKernels   // likewise
	manyDense                                    *manyDenseKernels // nil on other cards than Hopper's

	compiled                formulaKernels
	tilings                 []tiling    // on tensor cores for TF32; nil if there are none
	forwardOdd, backwardOdd cuda.Kernel // of operands that are not aligned
	hopper                  *hopper     // nil on other cards
	slow                    func()      // is called if the driver takes long to compile; may be nil
}

// An entry is a kernel by its name, with the shared memory that its launches ask for.
type entry struct {
	name   string
	to     *cuda.Kernel
	shared int
}

// leastWeights returns how many weights a layer must have to be a product of its own. On tensor
// cores this pays early, though a launch more takes time.
func (k *kernelSet) leastWeights() int {
	if k.tilings != nil {
		return 1 << 13
	}
	return 1 << 15
}

// patience is how long the driver may compile before the user hears of it.
const patience = 2 * time.Second

// loadKernels names the kernels that the card can run. The driver compiles each of them
// when a network first needs it.
func (e *Engine) loadKernels() *kernelSet {
	d, k := e.device, &kernelSet{slow: e.slow}
	take(d, kernels.Base, k.base())
	take(d, kernels.Sensed, k.plain(d))
	if d.Major >= 8 {
		take(d, kernels.Tensor, k.tensor())
		take(d, kernels.Fused, k.small(d))
	}
	if d.Major >= 9 {
		take(d, kernels.DenseNet, k.denseNetEntries(d))
	}
	if d.Clusters {
		take(d, kernels.ConvNet, k.convNetEntries(d))
	}
	if d.Major == 9 {
		if d.Clusters {
			take(d, kernels.ManyDense, k.manyDenseEntries(d))
		}
		all := k.wide()
		take(d, kernels.Hopper, all)
		for _, x := range all {
			x.to.Waits = true
		}
		k.thin, k.norm = k.hopper.thin, k.hopper.norm // the same kernels, which start earlier
	}
	return k
}

// take finds entries in a text.
func take(d *cuda.Device, t kernels.Text, all []entry) {
	for _, x := range all {
		*x.to = d.Kernel(x.name, x.shared, func() ([]byte, error) { return t.Kernel(x.name) })
	}
}

// compile has the driver compile all kernels of a list of calls at the same time. It keeps
// what it compiled, so only the first program on a machine waits.
func (k *kernelSet) compile(calls []launched) error {
	if k.slow != nil {
		defer time.AfterFunc(patience, k.slow).Stop()
	}
	failed := make([]error, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() { failed[i] = c.kernel.Compile() })
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// base lists the kernels that every card runs.
func (k *kernelSet) base() []entry {
	return []entry{
		{"rows", &k.rows, 0}, {"rows_any", &k.rowsAny, 0}, {"thin", &k.thin, 0},
		{"forward32", &k.forward32, 0}, {"forward64", &k.forward64, 0}, {"backward32", &k.backward32, 0}, {"backward64", &k.backward64, 0},
		{"gradients32", &k.gradients32, 0}, {"gradients64", &k.gradients64, 0},
		{"conv_forward", &k.convForward, 0}, {"conv_backward", &k.convBackward, 0}, {"conv_gradients", &k.convGradients, 0},
		{"conv_forward16", &k.convForward16, 0}, {"conv_backward16", &k.convBackward16, 0}, {"conv_gradients16", &k.convGradients16, 0},
		{"levels", &k.levels, 0}, {"shared_gradient", &k.shared, 0},
		{"draw_weights", &k.drawWeights, 0}, {"gather_draws", &k.gatherDraws, 0},
		{"norm", &k.norm, 0}, {"adamw", &k.adamw, 0}, {"columns", &k.columns, 0}, {"prior_moments", &k.priors, 0},
		{"formulas", &k.formulas, 0}, {"emitters", &k.emitters, 0}, {"quantiles", &k.quantiles, 0},
		{"deliver", &k.deliver, 0}, {"collect", &k.collect, 0},
	}
}

// plain lists the kernel of predictions by plain networks.
func (k *kernelSet) plain(d *cuda.Device) []entry {
	return []entry{{"sensed", &k.sensed, d.Shared - sensedStatic}}
}

// small lists the kernels of small networks.
func (k *kernelSet) small(d *cuda.Device) []entry {
	k.hasFused = true
	return []entry{
		{"fused", &k.fused, d.Shared - fusedOverhead}, {"fused_any", &k.fusedAny, d.Shared - fusedOverhead},
		{"fused_gradients", &k.fusedGradients, gradientShared},
		{"fused_update", &k.fusedUpdate, 0},
	}
}

// denseNetEntries lists the kernels of dense nets.
func (k *kernelSet) denseNetEntries(d *cuda.Device) []entry {
	k.denseNets = &denseNetKernels{}
	c := k.denseNets
	return []entry{
		{"chain_three", &c.three, d.Shared - denseNetOverhead}, {"chain_exact", &c.exact, d.Shared - denseNetOverhead},
		{"chain_gradients", &c.gradients, denseNetShared},
		{"chain_update", &c.update, 0},
	}
}

// manyDenseEntries lists the kernels of dense nets beside many others.
func (k *kernelSet) manyDenseEntries(d *cuda.Device) []entry {
	c, most := &manyDenseKernels{}, d.Shared-denseNetOverhead
	k.manyDense = c
	return []entry{
		{"crowd_three", &c.any.three, most}, {"crowd_exact", &c.any.exact, most},
		{"crowd_three_one", &c.one.three, most}, {"crowd_exact_one", &c.one.exact, most},
		{"crowd_learn", &c.learn, learnShared},
	}
}

// convNetEntries lists the kernels of conv nets.
func (k *kernelSet) convNetEntries(d *cuda.Device) []entry {
	k.convNets = &convNetKernels{}
	q, most := k.convNets, d.Shared-convNetOverhead
	return []entry{
		{"quartet_three", &q.four.three, most}, {"quartet_exact", &q.four.exact, most}, {"quartet_any", &q.four.any, most},
		{"pair_three", &q.two.three, most}, {"pair_exact", &q.two.exact, most}, {"pair_any", &q.two.any, most},
		{"quartet_gradients", &q.gradients, convNetTile},
	}
}
