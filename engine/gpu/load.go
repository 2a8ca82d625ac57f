package gpu

import (
	"fmt"
	"sync"
	"time"

	"utvi/internal/cuda"
	"utvi/internal/cuda/kernels"
)

// A kernelSet holds the compiled kernels.
type kernelSet struct {
	rows, thin, forward32, forward64, backward32, backward64 cuda.Kernel
	gradients32, gradients64                                 cuda.Kernel
	norm, adamw, columns, priors, formulas                   cuda.Kernel
	convForward, convBackward, convGradients                 cuda.Kernel
	convForward16, convBackward16, convGradients16           cuda.Kernel // with few columns
	levels, shared, emitters, quantiles                      cuda.Kernel

	sensed cuda.Kernel // predictions of plain networks with correlations

	fused, fusedGradients, fusedUpdate cuda.Kernel // of small networks
	hasFused                           bool        // from compute capability 8.0 on

	compiled                formulaKernels
	tilings                 []tiling    // on tensor cores for TF32; nil if there are none
	forwardOdd, backwardOdd cuda.Kernel // of operands that are not aligned
	hopper                  *hopper     // nil on other cards
}

// An entry is a kernel by its name.
type entry struct {
	name string
	to   *cuda.Kernel
}

// least returns how many weights a layer must have to be a product of its own. On tensor
// cores this pays early, though a launch more takes time.
func (k *kernelSet) least() int {
	if k.tilings != nil {
		return 1 << 13
	}
	return 1 << 15
}

// patience is how long the driver may compile before the user hears of it.
const patience = 2 * time.Second

// loadKernels compiles the kernels for the card. The driver keeps what it compiled, so
// only the first program on a machine waits; it compiles the texts at the same time.
func (e *Engine) loadKernels() (*kernelSet, error) {
	d, k := e.device, &kernelSet{}
	texts := []struct {
		ptx  []byte
		load func(m *cuda.Module) error
	}{
		{kernels.Base, k.loadBase},
		{kernels.Sensed, func(m *cuda.Module) error { return k.loadSensed(d, m) }},
		{kernels.Tensor, k.loadTensor},
		{kernels.Fused, func(m *cuda.Module) error { return k.loadFused(d, m) }},
		{kernels.Hopper, k.loadHopper},
	}
	switch {
	case d.Major < 8:
		texts = texts[:2]
	case d.Major != 9:
		texts = texts[:4]
	}
	if e.slow != nil {
		defer time.AfterFunc(patience, e.slow).Stop()
	}
	failed := make([]error, len(texts))
	var all sync.WaitGroup
	for i, t := range texts {
		all.Go(func() {
			m, err := d.Compile(t.ptx)
			if err != nil {
				failed[i] = fmt.Errorf("the kernels cannot be compiled for %s: %w", d.Name, err)
				return
			}
			failed[i] = t.load(m)
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	if k.hopper != nil { // the same kernels, which start earlier
		k.thin, k.norm = k.hopper.thin, k.hopper.norm
	}
	return k, nil
}

// loadBase loads the kernels that every card runs.
func (k *kernelSet) loadBase(m *cuda.Module) error {
	for _, x := range []entry{
		{"rows", &k.rows}, {"thin", &k.thin}, {"forward32", &k.forward32}, {"forward64", &k.forward64}, {"backward32", &k.backward32}, {"backward64", &k.backward64},
		{"gradients32", &k.gradients32}, {"gradients64", &k.gradients64},
		{"conv_forward", &k.convForward}, {"conv_backward", &k.convBackward}, {"conv_gradients", &k.convGradients},
		{"conv_forward16", &k.convForward16}, {"conv_backward16", &k.convBackward16}, {"conv_gradients16", &k.convGradients16},
		{"levels", &k.levels}, {"shared_gradient", &k.shared},
		{"norm", &k.norm}, {"adamw", &k.adamw}, {"columns", &k.columns}, {"prior_moments", &k.priors},
		{"formulas", &k.formulas}, {"emitters", &k.emitters}, {"quantiles", &k.quantiles},
	} {
		var err error
		if *x.to, err = m.Kernel(x.name); err != nil {
			return fmt.Errorf("the kernel %s cannot be loaded: %w", x.name, err)
		}
	}
	return nil
}

// loadSensed loads the kernel of predictions by plain networks.
func (k *kernelSet) loadSensed(d *cuda.Device, m *cuda.Module) (err error) {
	if k.sensed, err = m.Kernel("sensed"); err == nil {
		err = m.Reserve(&k.sensed, d.Shared-sensedStatic)
	}
	if err != nil {
		return fmt.Errorf("the kernel sensed cannot be loaded: %w", err)
	}
	return nil
}

// loadFused loads the kernels of small networks.
func (k *kernelSet) loadFused(d *cuda.Device, m *cuda.Module) error {
	for _, x := range []struct {
		entry
		shared int
	}{
		{entry{"fused", &k.fused}, d.Shared - fusedOverhead},
		{entry{"fused_gradients", &k.fusedGradients}, gradientShared},
		{entry{"fused_update", &k.fusedUpdate}, 0},
	} {
		var err error
		if *x.to, err = m.Kernel(x.name); err == nil {
			err = m.Reserve(x.to, x.shared)
		}
		if err != nil {
			return fmt.Errorf("the kernel %s cannot be loaded: %w", x.name, err)
		}
	}
	k.hasFused = true
	return nil
}
