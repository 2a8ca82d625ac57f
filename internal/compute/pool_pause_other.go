//go:build !amd64

package compute

// pause does nothing where the CPU's instruction for it is not generated.
func pause() {}
