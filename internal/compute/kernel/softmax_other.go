//go:build !amd64 && !arm64

package kernel

import "utvi/internal/compute/internal/cpu"

func joinAsm(l, a, b, nodes, work *float32)                   { panic(cpu.Missing) }
func joinSlopesAsm(l, a, b, nodes, work *float32)             { panic(cpu.Missing) }
func joinBackAsm(da, db, d, l *float32)                       { panic(cpu.Missing) }
func logisticAsm(y, sum, x, rest, nodes, work *float32)       { panic(cpu.Missing) }
func logisticSlopesAsm(y, sum, x, rest, nodes, work *float32) { panic(cpu.Missing) }
func logisticBackAsm(dx, drest, dy, shared, sum, y *float32)  { panic(cpu.Missing) }
