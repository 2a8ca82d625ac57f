package product

import "utvi/internal/compute/internal/cpu"

// The kernels of products, of so many rows and columns, for those who choose among them.

func (t *tile) six()   { mul6NEON(t.ptr()) }
func (t *tile) one64() { mul1x64NEON(t.ptr()) }
func (t *tile) one32() { mul1x32NEON(t.ptr()) }
func (t *tile) two32() { mul2x32NEON(t.ptr()) }

// packSix copies 8·eights columns of six rows of a into a panel.
func packSix(panel, a *float32, rs, eights int) { pack6NEON(panel, a, rs, eights) }

// few runs the kernel of fewer than MR rows and one panel.
func (t *tile) few(rows int) {
	switch rows {
	case 1:
		mul1NEON(t.ptr())
	case 2:
		mul2NEON(t.ptr())
	case 3:
		mul3NEON(t.ptr())
	case 4:
		mul4NEON(t.ptr())
	case 5:
		mul5NEON(t.ptr())
	}
}

// mulWide is that of AVX-512.
func (m *block) mulWide(i, rows int) { panic(cpu.NotWide) }
