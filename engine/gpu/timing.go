package gpu

import (
	"errors"
	"slices"

	"utvi/engine"
	"utvi/internal/cuda"
)

// A Timing says how long a card is busy, in microseconds: the median of many runs.
type Timing struct {
	Forward float64 // one batch, moments of the outputs
	Step    float64 // one step of training
	Kernels []KernelTime
}

// A KernelTime is one launch of a step, on its own.
type KernelTime struct {
	Kernel string  `json:"kernel"`
	Blocks int     `json:"blocks"`
	US     float64 `json:"us"`
}

// Time measures a network and a job on the card: launches of the recorded work, one
// behind the other, without the host.
func (e *Engine) Time(n engine.Network[float32], j engine.Job) (Timing, error) {
	var r Timing
	tr, err := e.Train(n, j)
	if err != nil {
		return r, err
	}
	t := tr.(*trainer)
	defer t.Close()
	var updates [slots]engine.Update
	for i := range updates {
		updates[i] = engine.Update{Step: i + 1, Rate: 1e-6}
	}
	var out [slots]engine.Outcome
	for _, o := range out[:t.Run(updates[:], out[:])] {
		if o.Err != nil || !o.Change.Finite {
			return r, errors.Join(o.Err, errors.New("the first steps are not finite"))
		}
	}
	step, steps := t.whole, 1
	if t.several != nil {
		step, steps = t.several, t.queue.together()
	}
	r.Step, err = t.busy(step, windows, launchesEach)
	if err != nil {
		return r, err
	}
	r.Step /= float64(steps)
	forward, err := t.stream.Record(t.queue.forward)
	if err != nil {
		return r, err
	}
	defer forward.Close()
	r.Forward, err = t.busy(forward, windows, launchesEach)
	if err != nil {
		return r, err
	}
	calls, err := t.recorded(false)
	if err != nil {
		return r, err
	}
	for i := range calls {
		k, err := t.single(&calls[i])
		if err != nil {
			return r, err
		}
		r.Kernels = append(r.Kernels, k)
	}
	return r, nil
}

// single measures a kernel of a step, many launches behind one another.
func (t *trainer) single(c *launched) (KernelTime, error) {
	args := append(slices.Clone(c.args), make([]byte, 8)...)
	k := KernelTime{Kernel: c.kernel.Name, Blocks: max(1, c.grid.X) * max(1, c.grid.Y)}
	g, err := t.stream.Record(func() error {
		for range repeats {
			queue := cuda.LaunchBytes
			if c.gated {
				queue = cuda.LaunchTogether
			}
			if err := queue(t.stream, c.kernel, c.grid, c.threads, args); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return k, err
	}
	defer g.Close()
	k.US, err = t.busy(g, windows/2+1, launchesEach/3+1)
	k.US /= float64(repeats)
	return k, err
}

// What is measured is launched so often: in each of several windows, and a single kernel
// in each launch of a graph.
var windows, launchesEach, repeats = 21, 30, 5

// busy returns the microseconds of one launch of a graph: the median of the windows.
func (t *trainer) busy(g *cuda.Graph, windows, launches int) (float64, error) {
	clock, err := t.stream.NewTimer()
	if err != nil {
		return 0, err
	}
	defer clock.Close()
	var all []float64
	for range windows {
		if err := clock.Begin(); err != nil {
			return 0, err
		}
		for range launches {
			if err := g.Launch(t.stream); err != nil {
				return 0, err
			}
		}
		ms, err := clock.End()
		if err != nil {
			return 0, err
		}
		all = append(all, 1e3*ms/float64(launches))
	}
	slices.Sort(all)
	return all[windows/2], nil
}
