// The step of one weight of a crowd's network: KL and its gradients, then AdamW. Functions are the machine's, off
// by a bit or two, and nothing branches.
#pragma once
#include "chain_update.h"
#include "crowd_function.h"

#ifndef EMULATED
DEVICE float quick_power(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; } // of two
DEVICE float quick_log(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; } // to the base of two
#else
DEVICE float quick_power(float x) { return exp2f(x); }
DEVICE float quick_log(float x) { return log2f(x); }
#endif

// decayed is exp(−|ρ|); what rounding takes from the exponent is added behind.
DEVICE float decayed(float rho) {
	float x = -lower(size(rho), 104), n = x * LOG2E, lost = fma(x, 0x1.4ae0bfp-26f, fma(x, LOG2E, -n)), e = quick_power(n);
	return fma(e, lost * 0x1.62e43p-1f, e);
}

// A Wide is how spread a weight is: σ; ∂σ/∂ρ; σ over e^min(ρ, 0); and ∂lnσ/∂ρ.
struct Wide {
	float sigma, slope, rest, ratio;
};
DEVICE Wide widen(float rho) {
	float e = decayed(rho), h = loga_ratio(e), r = tiny_inverse(1 + e), s = fma(e, h, rho);
	bool low = rho < 0;
	float rest = low ? h : s;
	return {low ? e * h : s, low ? e * r : r, rest, r * tiny_inverse(rest)};
}

// variance_of has the bits of derive, so that a training which continues has them, too. It finds the whole number of a
// power's parts where MAGIC left it, since conversions take long.
DEVICE float variance_of(float rho) {
	float x = -lower(size(rho), 104), t = fma(x, LOG2E, MAGIC), u = scaled(1 + expo_reduced(t, x, 0).p, (int)(bits(t) - bits(MAGIC)));
	float sigma = fma(loga_ratio(u), u, upper(rho, 0.0f));
	return sigma * sigma;
}

// A Pull is the prior of a tensor, with the factor of the KL.
struct Pull {
	float mean, by, scale, kl;
	METHOD Pull(const Chunk& t, const Control& k) : mean((float)t.prior_mean), by(tiny_inverse((float)t.prior_var)), scale(k.kl * by), kl(k.kl) {}
	// weigh adds the gradients of the KL to those of the score, by mean and variance, and returns the KL; mu is from the centre of the prior.
	METHOD float weigh(float mu, float rho, float& g, float& gr) const {
		Wide w = widen(rho);
		float d = mu - mean;
		g = fma(scale, d, g), gr = fma(w.slope * w.sigma, fma(2.0f, gr, scale), -(kl * w.ratio));
		// (σ²/s² + d²/s² − 1)/2 − ln(σ/s): the logarithm is that of a number neither large nor small.
		return fma(0.5f * by, fma(d, d, w.sigma * w.sigma), -0.5f) - fma(0.5f * 0x1.62e43p-1f, quick_log(w.rest * w.rest * by), less(rho, 0.0f));
	}
};

// A Pace is what AdamW needs of a step.
struct Pace {
	float clip, b1, rest1, b2, rest2, rate, root2, eps;
	METHOD Pace(const Control& k, float clip) : clip(clip), b1(k.b1), rest1(1 - k.b1), b2(k.b2), rest2(1 - k.b2), rate(-k.rate), root2(k.root2), eps(k.eps) {}
	// move is step.
	METHOD void move(float keep, float& x, float g, float& m1, float& m2) const {
		g *= clip;
		m1 = fma(b1, m1, rest1 * g), m2 = fma(b2, m2, rest2 * (g * g));
		x = fma(rate * m1, tiny_inverse(fma(tiny_root(m2), root2, eps)), keep * x);
	}
};
