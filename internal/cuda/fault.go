package cuda

import (
	"errors"
	"fmt"
	"unsafe"
)

// ErrMemory says that the card has too little free memory.
var ErrMemory = errors.New("the card is out of memory; use a smaller batch, or another card")

// ErrLost says that the card can no longer be used by this process.
var ErrLost = errors.New("the card was lost")

// fault turns a result of the driver into an error.
func fault(r uintptr) error {
	switch r {
	case 2:
		return ErrMemory
	case 100:
		return errors.New("no card was found")
	case 222:
		return errors.New("the driver is too old for these kernels; install a newer one")
	case 46, 101, 214, 700, 702, 716, 719, 999: // unavailable, memory errors, failed kernels
		return fmt.Errorf("%w (CUDA error %d: %s)", ErrLost, r, describeFault(r))
	}
	return fmt.Errorf("CUDA error %d: %s", r, describeFault(r))
}

func describeFault(r uintptr) string {
	var s *byte
	if call(fnErrorString, r, uintptr(unsafe.Pointer(&s))) != 0 || s == nil {
		return "unknown"
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}
