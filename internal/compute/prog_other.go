//go:build !amd64 && !arm64

package compute

func runVector(code []Instr, at []*float32, n int) { panic(missing) }
