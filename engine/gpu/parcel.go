package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// Trainings side by side begin and end a run together: one launch brings each of them the numbers
// and the rows of its steps from the memory of the host, another one brings the results of all there. A copy
// of its own for each would keep the card waiting.

// A parcel is the part of one training; see kernels/deliver.cu. Addresses on the host are those of
// pinned memory, which the card reaches as its own.
type parcel struct {
	Controls     uintptr
	Control      cuda.Ptr
	Rows         uintptr
	Index        cuda.Ptr
	Results      cuda.Ptr
	Out          uintptr
	Steps, Count int32
}

const sizeParcel = 56

var _ = [1]struct{}{}[unsafe.Sizeof(parcel{})-sizeParcel]

// parcelBlocks is how many blocks bring a training what it needs.
const parcelBlocks = 4

// parcel returns the part of a training in a run of so many steps.
func (t *trainer) parcel(steps int) parcel {
	d := parcel{Controls: address(t.control), Control: t.weights.control, Results: t.results, Out: address(t.result), Steps: int32(steps)}
	if b := &t.batch; b.table != nil {
		d.Rows = address(b.index)
		d.Index = b.gather.Index
		d.Count = int32(steps) * b.gather.Room
	}
	return d
}

func address[T any](s []T) uintptr { return uintptr(unsafe.Pointer(&s[0])) }

// send brings all members what they need for so many steps.
func (p *party) send(steps int) error {
	k := p.runs[0].t.kernels
	for i, x := range p.runs {
		p.parcels[i] = x.t.parcel(steps)
		if x.t.batch.table != nil {
			continue
		}
		if err := x.t.batch.send(k, p.stream, steps); err != nil {
			return err
		}
	}
	if err := cuda.Upload(p.stream, p.list, p.parcels[:len(p.runs)]); err != nil {
		return err
	}
	return cuda.Launch(p.stream, k.deliver, cuda.Grid{X: parcelBlocks, Y: len(p.runs)}, 256, &p.list)
}

// receive brings the results of all members to the host.
func (p *party) receive() error {
	return cuda.Launch(p.stream, p.runs[0].t.kernels.collect, cuda.Grid{X: 1, Y: len(p.runs)}, 128, &p.list)
}
