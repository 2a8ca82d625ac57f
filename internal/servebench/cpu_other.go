//go:build !unix

package servebench

// cpuSeconds is 0: the system does not say.
func cpuSeconds() float64 { return 0 }
