//go:build !amd64 && !arm64

package kernel

import "utvi/internal/compute/internal/cpu"

func differencesVector(mean, variance []float32, c *Couples[float32])             { panic(cpu.Missing) }
func largerMomentsVector(m, v []float32, c *Couples[float32], mu, u []float32)    { panic(cpu.Missing) }
func largerSlopesVector(l *Larger[float32], c *Couples[float32], mu, u []float32) { panic(cpu.Missing) }
func largerBackVector(dm, dv, g, h []float32, l *Larger[float32])                 { panic(cpu.Missing) }
