package compute

import "unsafe"

// Large pages are hugePage bytes long, and are asked for from hugeFrom bytes on.
const hugePage, hugeFrom = 2 << 20, 1 << 20

// Make returns n zeros for weights, their moments or tapes. Large ones begin at a large
// page, and the system is asked for such pages where it has them: in a step, a dozen
// arrays are read side by side, and small pages cost a look-up every few lines.
func Make[T Float](n int) []T {
	size := int(unsafe.Sizeof(T(0)))
	if n*size < hugeFrom {
		return make([]T, n)
	}
	page := hugePage / size
	whole := (n + page - 1) / page * page
	x := make([]T, whole+page)
	skip := int(-uintptr(unsafe.Pointer(&x[0]))%hugePage) / size
	x = x[skip:][:whole]
	adviseHuge(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), whole*size))
	return x[:n:n]
}
