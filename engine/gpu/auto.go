package gpu

import (
	"errors"
	"fmt"
	"sync"

	"utvi/engine"
	"utvi/internal/cuda"
	"utvi/nn"
)

// Choose returns the engine of a device: "cpu", "cuda", "cuda:1", … or "auto". With auto,
// the first card runs what it can, and the CPU runs the rest. notice, if not nil, is
// called with the reason whenever the CPU is taken, and if the driver takes long to
// compile the kernels. Several goroutines may call it at a time.
func Choose(device string, notice func(reason error)) (engine.Engine[float32], error) {
	switch device {
	case "cpu":
		return engine.CPU[float32](), nil
	case "auto":
		e, err := Open("cuda")
		if err != nil {
			if notice != nil {
				notice(fmt.Errorf("the CPU is used: %w", err))
			}
			return engine.CPU[float32](), nil
		}
		e.Notice(notice)
		return &auto{card: e, notice: notice}, nil
	}
	e, err := Open(device)
	if err != nil {
		return nil, err
	}
	e.Notice(notice)
	return e, nil
}

// Notice sets what is called with what a user waits for if the driver takes long to compile
// the kernels. It belongs before the first use of the engine.
func (e *Engine) Notice(notice func(reason error)) {
	if notice != nil {
		e.slow = sync.OnceFunc(func() {
			notice(fmt.Errorf("the driver compiles the kernels for %s; it keeps them, so this happens once", e.Card()))
		})
	}
}

// auto runs on a card what the card can run, and everything else on the CPU.
type auto struct {
	card   *Engine
	notice func(reason error)
}

func (*auto) Name() string { return "auto" }

// Card implements engine.Carded.
func (a *auto) Card() string { return a.card.Card() }

// Beside implements engine.Crowd.
func (*auto) Beside() int { return beside }

// NewIntervals implements engine.Intervaler.
func (a *auto) NewIntervals(members, most int, shapes []engine.Shape) (engine.Intervals, error) {
	return a.card.NewIntervals(members, most, shapes)
}

// other reports whether the CPU should try, after an error of the card.
func (a *auto) other(err error) bool {
	_, refused := errors.AsType[*Unsupported](err)
	if !refused && !errors.Is(err, cuda.ErrMemory) && !errors.Is(err, cuda.ErrLost) {
		return false
	}
	if a.notice != nil {
		a.notice(fmt.Errorf("the CPU is used: %w", err))
	}
	return true
}

func (a *auto) Compile(n engine.Network[float32], form nn.Form) (engine.Program[float32], error) {
	p, err := a.card.Compile(n, form)
	if err != nil && a.other(err) {
		return engine.CPU[float32]().Compile(n, form)
	}
	return p, err
}

func (a *auto) Train(n engine.Network[float32], j engine.Job) (engine.Trainer, error) {
	t, err := a.card.Train(n, j)
	if err != nil && a.other(err) {
		return engine.CPU[float32]().Train(n, j)
	}
	return t, err
}
