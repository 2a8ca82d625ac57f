//go:build !amd64 && !arm64

package bytecode

import "utvi/internal/compute/internal/cpu"

func runVector(code []Instr, at []*float32, n int) { panic(cpu.Missing) }
