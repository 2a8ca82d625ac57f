package product

// The kernels of products, of so many rows and columns, for those who choose among them.

func (t *tile) six()   { mul6AVX2(t.ptr()) }
func (t *tile) one64() { mul1x64AVX2(t.ptr()) }
func (t *tile) one32() { mul1x32AVX2(t.ptr()) }
func (t *tile) two32() { mul2x32AVX2(t.ptr()) }

// packSix copies 8·eights columns of six rows of a into a panel.
func packSix(panel, a *float32, rs, eights int) { pack6AVX2(panel, a, rs, eights) }

// few runs the kernel of fewer than MR rows and one panel.
func (t *tile) few(rows int) {
	switch rows {
	case 1:
		mul1AVX2(t.ptr())
	case 2:
		mul2AVX2(t.ptr())
	case 3:
		mul3AVX2(t.ptr())
	case 4:
		mul4AVX2(t.ptr())
	case 5:
		mul5AVX2(t.ptr())
	}
}
