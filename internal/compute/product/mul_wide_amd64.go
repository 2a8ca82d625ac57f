package product

// mulWide is mul with the kernels of AVX-512: tiles of twelve rows, two of the left
// operand's, and two panels, so that 24 sums hide the latency of multiply-adds.
func (m *block) mulWide(i, rows int) {
	if m.t.bs != NR { // only the kernels of few rows take what is no panel
		for ; rows > 0; i, rows = i+2, rows-2 {
			m.thinWide(i, min(2, rows))
		}
		return
	}
	full, rest := rows/(2*MR), rows%(2*MR)
	t := m.t // one for all: to copy it takes as long as fifty multiply-adds
	run := func(i, j, rows, count int) {
		t.dst = &m.dst[i*t.ldd+j]
		t.a = &m.a[i/MR*t.step+i%MR*t.rs]
		t.b = &m.b[j/NR*t.ps]
		if m.start != nil {
			t.start = &m.start[i*t.lds+j]
		}
		if m.by != nil {
			t.by = &m.by[i*t.lds+j]
		}
		if m.mid != nil {
			t.mid = &m.mid[i*t.ldd+j]
		}
		if m.a2 != nil {
			t.a2, t.b2 = &m.a2[i/MR*t.step+i%MR*t.rs], &m.b2[j/NR*t.ps]
		}
		t.w, t.count = min(2*NR, m.n-j), count
		t.fewWide(rows)
	}
	low := i + full*2*MR
	for j := 0; j < m.n && rows > 2; j += 2 * NR {
		if full > 0 {
			run(i, j, 2*MR, full)
		}
		if rest == 8 { // of 128 rows
			run(low, j, rest, 1)
			continue
		}
		if rest >= MR {
			run(low, j, MR, 1)
		}
		if rest%MR > 2 {
			run(low+rest/MR*MR, j, rest%MR, 1)
		}
	}
	if rest != 8 && (rest%MR == 1 || rest%MR == 2) {
		m.thinWide(i+rows-rest%MR, rest%MR)
	}
}

// thinWide is thin: eight panels of one row, or four of two.
func (m *block) thinWide(i, rows int) {
	j := 0
	for step := 8 * NR / rows; j+step <= m.n; j += step {
		t := m.at(i, j, 1)
		if rows == 1 {
			mul1x128AVX512(t.ptr())
		} else {
			mul2x64AVX512(t.ptr())
		}
	}
	for ; j < m.n; j += 2 * NR {
		t := m.at(i, j, 1)
		t.fewWide(rows)
	}
}

// fewWide runs the kernel of so many rows and of one or two panels.
func (t *tile) fewWide(rows int) {
	if t.w <= NR {
		t.narrowWide(rows)
		return
	}
	switch rows {
	case 1:
		mul1x32AVX512(t.ptr())
	case 2:
		mul2x32AVX512(t.ptr())
	case 3:
		mul3x32AVX512(t.ptr())
	case 4:
		mul4x32AVX512(t.ptr())
	case 5:
		mul5x32AVX512(t.ptr())
	case MR:
		mul6x32AVX512(t.ptr())
	case 8:
		mul8x32AVX512(t.ptr())
	case 2 * MR:
		mul12x32AVX512(t.ptr())
	}
}

func (t *tile) narrowWide(rows int) {
	switch rows {
	case 1:
		mul1x16AVX512(t.ptr())
	case 2:
		mul2x16AVX512(t.ptr())
	case 3:
		mul3x16AVX512(t.ptr())
	case 4:
		mul4x16AVX512(t.ptr())
	case 5:
		mul5x16AVX512(t.ptr())
	case MR:
		mul6x16AVX512(t.ptr())
	case 8:
		mul8x16AVX512(t.ptr())
	case 2 * MR:
		mul12x16AVX512(t.ptr())
	}
}
