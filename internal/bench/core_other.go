//go:build !linux

package bench

// onCore calls f, on whatever core the system chooses.
func onCore(_ int, f func()) { f() }
