// Command mul generates the matrix-product kernels of package compute.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/out"
)

func main() {
	for rows := 1; rows <= 6; rows++ {
		tile(rows)
	}
	wide(1, 4)
	wide(2, 2)
	dot()
	pack()
	plain := func(v, m Op) { VMOVUPS(v, m) }
	copyRows("pack1", plain)
	copyRows("stream1", VMOVNTPS)
	transpose("pack16", plain)
	transpose("stream16", VMOVNTPS)
	outer()
	peak()
	out.Write("mul")
}
