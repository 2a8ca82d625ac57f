package cpu

import "golang.org/x/sys/cpu"

var (
	hasVector = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasWide   = hasVector && cpu.X86.HasBMI2 && cpu.X86.HasAVX512F &&
		cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
)
