//go:build !amd64 && !arm64

package kernel

import "utvi/internal/compute/internal/cpu"

func twiceMulVector(dst, x, y []float32)              { panic(cpu.Missing) }
func mulToVector(dst, x, y []float32)                 { panic(cpu.Missing) }
func scaleToVector(dst, x []float32, by float32)      { panic(cpu.Missing) }
func subToVector(dst, x, y []float32)                 { panic(cpu.Missing) }
func addVector(x, y []float32)                        { panic(cpu.Missing) }
func addTwiceMulVector(x, y, z []float32)             { panic(cpu.Missing) }
func anyBelowVector(s, m []float32, rel float32) bool { panic(cpu.Missing) }
func squaresVector(x []float32) float32               { panic(cpu.Missing) }
