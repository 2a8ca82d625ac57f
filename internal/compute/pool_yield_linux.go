package compute

import "syscall"

// yieldCPU lets another thread have this CPU. A woken worker often starts on
// the CPU of the caller that woke it; spinning there would keep the caller out.
func yieldCPU() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
