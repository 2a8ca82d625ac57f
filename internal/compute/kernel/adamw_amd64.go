package kernel

import "unsafe"

// stepRandomWide is stepRandomVector: gradients and step of a number in one kernel, for ρ first.
func stepRandomWide(a *AdamW, t *Tensor[float32]) (kl, norm2 float64) {
	const chunk = 512
	k := a.factors(a.Clip, 0)
	keepMean, keepRho := float32(1-a.LR*a.DecayMean), float32(1-a.LR*a.DecayRho)
	var room [3*chunk + 15]float32
	g := room[-uintptr(unsafe.Pointer(&room))%64/4:]
	gr := &g[0]
	rest := &g[chunk]
	y := &g[2*chunk]
	for lo := 0; lo < len(t.Mu); lo += chunk {
		n := min(chunk, len(t.Mu)-lo)
		stepRhoAVX512(gr, rest, y, &t.Rho[lo], &t.GVar[lo], &t.M1Rho[lo], &t.M2Rho[lo], n, &k, keepRho)
		x, z := stepMeanAVX512(gr, rest, y, &t.Mu[lo], &t.GMu[lo], &t.M1Mu[lo], &t.M2Mu[lo], n, &k, keepMean)
		kl, norm2 = kl+x, norm2+z
	}
	return kl, norm2
}

// PreparePanels packs Panel rows of w̄, s and w̄²+s into panels of right operands, ps apart, and into
// one panel of each of their transposes.
func PreparePanels(mean, rho []float32, to, turned [3][]float32, ps, panels int) {
	n := panels * Panel
	_, _ = mean[Panel*n-1], rho[Panel*n-1]
	var at, back [3]*float32
	for i := range at {
		_, _ = to[i][(panels-1)*ps+Panel*Panel-1], turned[i][Panel*n-1]
		at[i], back[i] = &to[i][0], &turned[i][0]
	}
	prepareAVX512(&mean[0], &rho[0], n, &at, &back, ps, panels)
}
