// Command mul generates the matrix-product kernels of package compute.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/out"
)

func main() {
	if isa.AVX512 {
		for _, rows := range []int{1, 2, 3, 4, 5, 6, 8, 12} {
			block(rows, 1)
			block(rows, 2)
		}
		wide(1, 8)
		wide(2, 4)
	} else {
		for rows := 1; rows <= 6; rows++ {
			tile(rows)
		}
		wide(1, 4)
		wide(1, 2)
		wide(2, 2)
		pack()
	}
	dot()
	second()
	packLeft()
	plain := func(v, m Op) { VMOVUPS(v, m) }
	copyRows("pack1", plain)
	copyRows("stream1", VMOVNTPS)
	transpose("pack16", plain)
	transpose("stream16", VMOVNTPS)
	outer()
	peak()
	out.Write("mul", "product", "isa", "lane")
}
