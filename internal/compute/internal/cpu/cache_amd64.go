package cpu

// readCaches asks the CPU: leaf 4 of Intel, 0x8000001D of AMD, which are laid out alike.
func readCaches() (c Caches) {
	for _, leaf := range []uint32{4, 0x8000001d} {
		if last, _, _, _ := cpuid(leaf&0x80000000, 0); last < leaf {
			continue
		}
		for sub := range uint32(16) {
			a, b, sets, _ := cpuid(leaf, sub)
			if a&31 == 0 { // no more caches
				break
			}
			if a&31 == 2 { // instructions
				continue
			}
			ways := int(b>>22) + 1
			parts := int(b>>12&1023) + 1
			line := int(b&4095) + 1
			size := ways * parts * line * (int(sets) + 1)
			switch a >> 5 & 7 {
			case 1:
				c.L1 = size
			case 2:
				c.L2 = size
			case 3:
				c.L3 = size
			}
		}
	}
	return c
}
