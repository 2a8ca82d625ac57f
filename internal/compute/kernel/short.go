package kernel

import "utvi/internal/compute"

// CopyShort copies slices of the same length, which often have 8 or 16 numbers: a call costs more.
func CopyShort[T compute.Float](dst, src []T) {
	switch len(dst) {
	case 8:
		*(*[8]T)(dst) = *(*[8]T)(src)
	case 16:
		*(*[16]T)(dst) = *(*[16]T)(src)
	default:
		copy(dst, src)
	}
}

// AddShort is Add of slices that are often too short for a call.
func AddShort[T compute.Float](x, y []T) {
	if len(x) >= 16 {
		Add(x, y)
		return
	}
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}
