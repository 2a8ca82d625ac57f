package compute

// vector tells whether the vector kernels run: the CPU has AVX2 and FMA, and
// GODEBUG=cpu.avx2=off does not deny it. Tests switch it to run both families.
var vector = hasVector

// Family names the kernels that run: "avx2" or "go". Results are bit-identical
// within a family and agree to rounding between families.
func Family() string {
	if vector {
		return "avx2"
	}
	return "go"
}
