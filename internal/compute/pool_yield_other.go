//go:build !linux

package compute

// yieldCPU does nothing where only the Go scheduler can be asked to yield.
func yieldCPU() {}
