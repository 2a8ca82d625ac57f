// Command mul generates the matrix-product kernels of package compute.
package main

import "utvi/compute/gen/out"

func main() {
	out.Write("mul")
}
