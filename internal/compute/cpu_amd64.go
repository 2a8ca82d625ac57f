package compute

import "golang.org/x/sys/cpu"

var hasVector = cpu.X86.HasAVX2 && cpu.X86.HasFMA
