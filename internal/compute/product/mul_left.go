package product

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// PackLeft packs a row-major rows × width matrix into panels of MR columns:
// element (i, k) goes to dst[(k/MR*rows+i)*MR + k%MR]; missing columns are zero.
func PackLeft[T compute.Float](dst, src []T, rows, width int) {
	src = src[:rows*width]
	k := 0
	if cpu.Is32[T]() && cpu.Vector && rows > 0 && width >= MR {
		k = packLeftVector(cpu.As32(dst), cpu.As32(src), rows, width)
	}
	for ; k < width; k += MR {
		n := min(MR, width-k)
		panel := dst[k*rows:][:rows*MR]
		for i := range rows {
			to := (*[MR]T)(panel[i*MR:])
			*to = [MR]T{}
			for c := range n { // too few to call copy
				to[c] = src[i*width+k+c]
			}
		}
	}
}
