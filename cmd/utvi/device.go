package main

import (
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/internal/device"
)

// A deviceFlag says what networks run on.
type deviceFlag struct{ name string }

func (d *deviceFlag) flag(f *pflag.FlagSet) {
	f.StringVar(&d.name, "device", "cpu", "what networks run on: <cpu>, <cuda> (cuda:1 is the second card), or <auto>, a card where possible; utvi devices lists them")
}

// engine opens the device. With auto, what the CPU does instead of a card is said once.
func (d *deviceFlag) engine(cmd *cobra.Command) (engine.Engine[float32], error) {
	if err := device.Check(d.name); err != nil {
		return nil, misuse(err)
	}
	var mu sync.Mutex
	said := map[string]bool{}
	return device.Choose(d.name, func(reason error) {
		mu.Lock()
		defer mu.Unlock()
		if text := reason.Error(); !said[text] {
			said[text] = true
			tell(cmd, "%s", text)
		}
	})
}

// openCard opens a card for a measurement.
func openCard(cmd *cobra.Command, name string) (*gpu.Engine, error) {
	return device.Card(name, func(reason error) { tell(cmd, "%s", reason) })
}
