// Command mul generates the matrix-product kernels of package compute.
package main

import "utvi/compute/gen/out"

func main() {
	for rows := 1; rows <= 6; rows++ {
		tile(rows)
	}
	wide(1, 4)
	wide(2, 2)
	dot()
	pack()
	copyRows()
	transpose()
	outer()
	peak()
	out.Write("mul")
}
