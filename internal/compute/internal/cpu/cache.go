package cpu

// Caches are the sizes of a core's caches in bytes. The third one is that of all cores
// that share it, or of the host of a virtual machine.
type Caches struct{ L1, L2, L3 int }

// Cache are the caches of this machine, or what is usual where it is silent.
var Cache = readCaches().orUsual()

// orUsual fills what is not known, or cannot be.
func (c Caches) orUsual() Caches {
	usual := Caches{32 << 10, 512 << 10, 8 << 20}
	if c.L1 < 8<<10 || c.L1 > 1<<20 {
		c.L1 = usual.L1
	}
	if c.L2 < c.L1 || c.L2 > 1<<26 {
		c.L2 = max(usual.L2, c.L1)
	}
	if c.L3 < c.L2 {
		c.L3 = max(usual.L3, c.L2)
	}
	return c
}
