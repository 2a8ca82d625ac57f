//go:build amd64 || arm64

package kernel

import "math"

// vectorKernels are the kernels of a CPU with AVX2 and FMA, or NEON: those that gen/elem lists, and
// the identity, which is a leaky ReLU of slope 1.
var vectorKernels = func() [NumOps]kernel {
	all := elemKernels
	all[OpIdentity] = func(_ float32, x, f, df []float32) { elemLeakyReLU(1, x, f, df) }
	return all
}()

// patched completes a kernel that leaves f = x, and says so, where x is out of
// its reach: there |x| exceeds every |f| it computes, which is how such
// elements are known again even if f has overwritten x.
func patched(k func(a float32, x, f, df []float32) (far bool), limit float64, op Op) kernel {
	return func(a float32, x, f, df []float32) {
		if !k(a, x, f, df) {
			return
		}
		for i, v := range f {
			if math.Abs(float64(v)) <= limit {
				continue
			}
			var slope []float32
			if df != nil {
				slope = df[i : i+1]
			}
			goKernels[op](a, f[i:i+1], f[i:i+1], slope)
		}
	}
}

// leakyMomentsVector runs two passes. The first leaves t, φ, σ and 1/σ in the
// planes of the Jacobian, where the second finds them, or in scratch.
func leakyMomentsVector(o *Moments[float32], a float32, m, v []float32) {
	if o.MM != nil {
		elemLeakyStart(m, v, o.MM, o.VV, o.VM, o.MV)
		elemLeakyJacobian(a, m, v, o.Mean, o.Var, o.MM, o.MV, o.VM, o.VV)
		return
	}
	var scratch [4][128]float32
	for mean, variance := o.Mean, o.Var; len(m) > 0; {
		n := min(len(m), len(scratch[0]))
		t := scratch[0][:n]
		φ := scratch[1][:n]
		σ := scratch[2][:n]
		inv := scratch[3][:n]
		elemLeakyStart(m[:n], v[:n], t, φ, σ, inv)
		elemLeakyValue(a, m[:n], v[:n], t, φ, σ, mean[:n], variance[:n])
		m = m[n:]
		v = v[n:]
		mean = mean[n:]
		variance = variance[n:]
	}
}

func leakyThreeVector(o *Moments[float32], a float32, m, v, xi, w []float32) {
	if p, ok := leakyPair(a, xi, w); ok && o.MM == nil {
		p.push(m, v, o.Mean, o.Var)
		return
	}
	turn := math.Float32frombits(math.Float32bits(1) ^ math.Float32bits(a))
	k := [...]float32{w[0], w[1], w[2], w[1] * xi[1] / 2, w[2] * xi[2] / 2, xi[1], xi[2], a, turn, 1 - a}
	if o.MM == nil {
		elemLeakyThree(k[:], m, v, o.Mean, o.Var)
		return
	}
	elemLeakyThreeJacobian(k[:], m, v, o.Mean, o.Var, o.MM, o.MV, o.VM, o.VV)
}
