package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// Trainings side by side begin and end a run together: one launch brings each of them the numbers
// and the rows of its steps from the memory of the host, another one brings the results of all there. A copy
// of its own for each would keep the card waiting.

// A stepTransfer is the part of one training; see kernels/deliver.cu. Addresses on the host are those of
// pinned memory, which the card reaches as its own.
type stepTransfer struct {
	Controls     uintptr
	Control      cuda.Ptr
	Rows         uintptr
	Index        cuda.Ptr
	Results      cuda.Ptr
	Out          uintptr
	Steps, Count int32
}

const sizeStepTransfer = 56

var _ = [1]struct{}{}[unsafe.Sizeof(stepTransfer{})-sizeStepTransfer]

// transferBlocks is how many blocks bring a training what it needs.
const transferBlocks = 4

// stepTransfer returns the part of a training in a run of so many steps.
func (t *trainer) stepTransfer(steps int) stepTransfer {
	d := stepTransfer{Controls: address(t.control), Control: t.weights.control, Results: t.results, Out: address(t.result), Steps: int32(steps)}
	if b := &t.batch; b.table != nil {
		d.Rows = address(b.index)
		d.Index = b.gather.Index
		d.Count = int32(steps) * b.gather.Room
	}
	return d
}

func address[T any](s []T) uintptr { return uintptr(unsafe.Pointer(&s[0])) }

// send brings all members what they need for so many steps.
func (p *groupRun) send(steps int) error {
	k := p.requests[0].t.kernels
	for i, x := range p.requests {
		p.transfers[i] = x.t.stepTransfer(steps)
		if x.t.batch.table != nil {
			continue
		}
		if err := x.t.batch.send(k, p.stream, steps); err != nil {
			return err
		}
	}
	if err := cuda.Upload(p.stream, p.list, p.transfers[:len(p.requests)]); err != nil {
		return err
	}
	return cuda.Launch(p.stream, k.deliver, cuda.Grid{X: transferBlocks, Y: len(p.requests)}, 256, &p.list)
}

// receive brings the results of all members to the host.
func (p *groupRun) receive() error {
	return cuda.Launch(p.stream, p.requests[0].t.kernels.collect, cuda.Grid{X: 1, Y: len(p.requests)}, 128, &p.list)
}
