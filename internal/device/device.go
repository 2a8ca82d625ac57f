// Package device finds the engine that a name stands for: the processor, one of the cards, or
// whichever of them can run a network.
package device

import (
	"errors"
	"fmt"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/internal/cuda"
	"utvi/nn"
)

// Check reports a name that stands for no device, without opening one.
func Check(name string) error {
	if name == "cpu" || name == "auto" {
		return nil
	}
	_, err := gpu.Number(name)
	return err
}

// Choose returns the engine of a device: "cpu", "cuda", "cuda:1", … or "auto". With auto,
// the first card runs what it can, and the CPU runs the rest. notice, if not nil, is
// called with the reason whenever the CPU is taken, and if the driver takes long to
// compile the kernels. Several goroutines may call it at a time.
func Choose(name string, notice func(reason error)) (engine.Engine[float32], error) {
	if notice == nil {
		notice = func(error) {}
	}
	switch name {
	case "cpu":
		return engine.CPU[float32](), nil
	case "auto":
		card, err := Card("cuda", notice)
		if err != nil {
			notice(fmt.Errorf("the CPU is used: %w", err))
			return engine.CPU[float32](), nil
		}
		return &auto{card, notice}, nil
	}
	card, err := Card(name, notice)
	if err != nil {
		return nil, err // not a nil card in an interface
	}
	return card, nil
}

// Card opens a card: "cuda" or "cuda:0" is the first, "cuda:1" the second. notice is called if the
// driver takes long to compile the kernels.
func Card(name string, notice func(reason error)) (*gpu.Engine, error) {
	e, err := gpu.Open(name)
	if err != nil {
		return nil, err
	}
	e.Notice(notice)
	return e, nil
}

// auto runs on a card what the card can run, and everything else on the CPU. Its abilities are
// those of the card.
type auto struct {
	*gpu.Engine
	notice func(reason error)
}

func (*auto) Name() string { return "auto" }

// other reports whether the CPU should try, after an error of the card.
func (a *auto) other(err error) bool {
	_, refused := errors.AsType[*gpu.Unsupported](err)
	if !refused && !errors.Is(err, cuda.ErrMemory) && !errors.Is(err, cuda.ErrLost) {
		return false
	}
	a.notice(fmt.Errorf("the CPU is used: %w", err))
	return true
}

func (a *auto) Compile(n engine.Network[float32], form nn.Form) (engine.Program[float32], error) {
	p, err := a.Engine.Compile(n, form)
	if err != nil && a.other(err) {
		return engine.CPU[float32]().Compile(n, form)
	}
	return p, err
}

func (a *auto) Train(n engine.Network[float32], j engine.Job) (engine.Trainer, error) {
	t, err := a.Engine.Train(n, j)
	if err != nil && a.other(err) {
		return engine.CPU[float32]().Train(n, j)
	}
	return t, err
}
