package pixels

import (
	"fmt"

	"utvi/internal/memory"
)

// mostPixels is how many pixels an image may have: more than a camera takes, and no more than
// fit into memory several at a time.
const mostPixels = 50_000_000

// Fits refuses a size that no memory should be taken for.
func Fits(s Size) error {
	if s.Width < 1 || s.Height < 1 {
		return fmt.Errorf("it has %d × %d pixels", s.Width, s.Height)
	}
	count := float64(s.Width) * float64(s.Height) // which an int may not hold
	if count > mostPixels {
		return fmt.Errorf("it has %d × %d pixels, %.0f million; at most %d million are read: make it smaller", s.Width, s.Height, count/1e6, mostPixels/1_000_000)
	}
	if need := float64(s.Memory()); need > memory.Available() {
		return fmt.Errorf("it has %d × %d pixels, which need %.1f GB of memory, more than is free", s.Width, s.Height, need/1e9)
	}
	return nil
}
