//go:build !amd64 && !arm64

package kernel

import "utvi/internal/compute/internal/cpu"

func dot3Vector(e, a, b []float32) float32                        { panic(cpu.Missing) }
func restVector(e, total, g, v []float32)                         { panic(cpu.Missing) }
func mulAddVector(dst, x, y []float32)                            { panic(cpu.Missing) }
func injectBackVector(de, db, a, c, e []float32, h float32)       { panic(cpu.Missing) }
func restBackVector(dm, dv, de, v []float32, x *Slope[float32])   { panic(cpu.Missing) }
func leakySlopesVector(gm, gv, mv, m, v []float32)                { panic(cpu.Missing) }
func slopeSumsVector(g, gv, f, ref, d []float32, a, b float32)    { panic(cpu.Missing) }
func slopeEndsVector(g, gv, s, v, m, mm []float32, small float32) { panic(cpu.Missing) }
