//go:build !linux || !(amd64 || arm64) || nocuda

package kernels

// Embedded says whether the program has the PTX: where package cuda can call a driver.
const Embedded = false

var base, formula, tensor, fused, chain, crowd, quartet, hopper, sensed []byte
