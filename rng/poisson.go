package rng

import "math"

// Poisson returns the i-th Poisson number of k with the given mean. Small means use
// inversion. From 10 on, Hörmann's transformed rejection (PTRS, 1993) makes as many
// attempts as it needs, each with its own counter.
func Poisson(k Key, i uint64, mean float64) int {
	switch {
	case !(mean >= 0 && mean < 1<<53):
		panic("rng: the mean of a Poisson number is negative or too large")
	case mean < 10:
		return poissonInverse(Uniform(k, i), mean)
	}
	b := 0.931 + float64(2.53*math.Sqrt(mean))
	a := float64(0.02483*b) - 0.059
	alpha := 1.1239 + 1.1328/(b-3.4)
	vr := 0.9277 - 3.6224/(b-2)
	ln := math.Log(mean)
	for try := uint32(0); ; try++ {
		w := draw(k, i, try)
		u, v := unit(w[0], w[1])-0.5, 1-unit(w[2], w[3])
		us := 0.5 - math.Abs(u)
		n := math.Floor(float64((2*a/us+b)*u) + mean + 0.43)
		if us >= 0.07 && v <= vr {
			return int(n)
		}
		if n < 0 || us < 0.013 && v > us {
			continue
		}
		lg, _ := math.Lgamma(n + 1)
		if math.Log(v*alpha/(a/(us*us)+b)) <= float64(n*ln)-mean-lg {
			return int(n)
		}
	}
}

// poissonInverse returns the smallest n whose distribution function exceeds u.
func poissonInverse(u, mean float64) int {
	p := math.Exp(-mean)
	n := 0
	for ; u >= p && p > 0; n++ {
		u -= p
		p = float64(p * (mean / float64(n+1)))
	}
	return n
}
