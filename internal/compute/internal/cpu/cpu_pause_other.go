//go:build !amd64

package cpu

// Pause does nothing where the CPU's instruction for it is not generated.
func Pause() {}
