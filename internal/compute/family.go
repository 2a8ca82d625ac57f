package compute

import "utvi/internal/compute/internal/cpu"

// Family names the kernels that run: "avx512", "avx2", "neon" or "go". Results are
// bit-identical within a family and agree to rounding between families.
func Family() string { return cpu.Family() }

// Caches are the sizes of a core's caches in bytes. The third one is that of all cores
// that share it, or of the host of a virtual machine.
type Caches = cpu.Caches

// MachineCaches returns the caches of this machine, or what is usual where it is silent.
func MachineCaches() Caches { return cpu.Cache }
