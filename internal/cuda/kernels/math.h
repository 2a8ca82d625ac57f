// Functions in float32, by the formulas and with the bounds of internal/compute, and
// the few that likelihoods need in float64.
#pragma once
#include "gpu.h"

template <int N>
DEVICE float poly(float x, const float (&c)[N]) { // highest power first
	float y = c[0];
#pragma unroll
	for (int i = 1; i < N; i++) y = fma(y, x, c[i]);
	return y;
}

// A Power is e^x = (1+p)·2^n, kept apart so that e^x−1 does not cancel and small
// results are rounded once.
struct Power {
	float p;
	int n;
};

DEVICE float power2(int n) { return from_bits((uint32)(n + 127) << 23); }
DEVICE float scaled(float y, int n) { int h = n >> 1; return y * power2(h) * power2(n - h); }

constexpr float LN2_HI = 0x1.62e43p-1f, LN2_LO = -0x1.05c61p-29f, LOG2E = 0x1.715476p+0f, MAGIC = 12582912.0f;

// expo_reduced ends a reduction of x, of which n·ln 2 is left to be taken away.
DEVICE Power expo_reduced(float t, float x, float lost) {
	float n = t - MAGIC;
	float r = fma(-n, LN2_HI, x) - lost;
	r = fma(-n, LN2_LO, r);
	float q = poly(r, {0.0013926268f, 0.008363247f, 0.041666552f, 0.16666576f, 0.5f});
	return {fma(q, r * r, r), (int)n};
}
DEVICE Power expo_parts(float x) { return expo_reduced(fma(x, LOG2E, MAGIC), x, 0); }

DEVICE float expo(float x) {
	if (x != x) return x;
	x = more(-104.0f, less(89.0f, x));
	Power p = expo_parts(x);
	return scaled(1 + p.p, p.n);
}

// expo_square returns exp(−c·x²) with what rounding x² loses.
DEVICE float expo_square(float c, float x) {
	float sq = x * x, lo = fma(x, x, -sq);
	Power p = expo_reduced(fma(sq, -c * LOG2E, MAGIC), -c * sq, lo * c);
	return scaled(1 + p.p, p.n);
}

DEVICE float expo_less_one(float x) {
	if (x != x) return x;
	Power p = expo_parts(more(-104.0f, less(89.0f, x)));
	if (x > 64) return scaled(1 + p.p, p.n);
	float s = power2(p.n < -126 ? -126 : p.n);
	return fma(p.p, s, s - 1);
}

DEVICE float loga(float x) {
	if (!(x >= 0)) return from_bits(0x7fc00000u);
	if (x == 0) return from_bits(0xff800000u);
	if (!is_finite(x)) return x;
	float down = 0;
	if (x < 0x1p-126f) x *= 0x1p24f, down = 24;
	int e = (int)(bits(x) - 0x3f3504f3u) >> 23;
	float f = from_bits(bits(x) - ((uint32)e << 23)) - 1;
	float n = (float)e - down, f2 = f * f;
	float p = poly(f, {0.087872654f, -0.14159647f, 0.14834787f, -0.16588488f, 0.1997205f, -0.25001147f, 0.3333367f, -0.49999997f});
	float s = fma(f2, p, n * LN2_LO) + f;
	return fma(n, LN2_HI, s);
}

DEVICE float loga_one_more(float x) {
	float u = x + 1, c = (x - (u - 1)) / u;
	float l = loga(u);
	return c == c ? l + c : l;
}

// loga_ratio is ln(1+u)/u for 0 ≤ u ≤ 1.
DEVICE float loga_ratio(float u) {
	return poly(u, {0.0051261024f, -0.029074065f, 0.07751609f, -0.13602248f, 0.19076881f, -0.24835399f, 0.3331812f, -0.49999446f, 0.99999994f});
}

DEVICE float minus_abs(float x, float end) { return more(-end, -magnitude(x)); }

DEVICE float softplus(float x) {
	float u = expo(minus_abs(x, 104));
	return fma(loga_ratio(u), u, more(x, 0.0f));
}
DEVICE float sigmoid(float x) {
	float e = expo(minus_abs(x, 104)), r = 1 / (1 + e);
	return x < 0 ? e * r : r;
}

DEVICE void sine_cosine(float x, float* s, float* c) {
	// Beyond 2^16 the reduction is made in float64, which holds to 2^30.
	float r;
	int n;
	if (magnitude(x) <= 65536.0f) {
		float t = fma(x, 0x1.45f306p-1f, MAGIC);
		float k = t - MAGIC;
		r = fma(-k, 0x1.921fb4p+0f, x);
		r = fma(-k, 0x1.4442dp-24f, r);
		r = fma(-k, 0x1.84698ap-48f, r);
		n = (int)k;
	} else {
		double t = (double)x * 0x1.45f306dc9c883p-1;
		double k = (double)(long long)(t + (t < 0 ? -0.5 : 0.5));
		double q = fma(-k, 0x1.921fb54442d18p+0, (double)x);
		r = (float)fma(-k, 0x1.1a62633145c07p-54, q);
		n = (int)((long long)k & 3);
	}
	float w = r * r;
	float a = fma(poly(w, {2.7238455e-06f, -0.00019839997f, 0.008333332f, -0.16666667f}), w, 1.0f) * r;
	float b = fma(poly(w, {-2.7225192e-07f, 2.479973e-05f, -0.0013888885f, 0.041666668f, -0.5f}), w, 1.0f);
	float sn = n & 1 ? b : a, cs = n & 1 ? a : b;
	*s = n & 2 ? -sn : sn;
	*c = (n ^ (n >> 1)) & 1 ? -cs : cs;
}

// The upper tail of the Normal at t over its density: the Mills ratio, 1 − t·M, and
// M − t·(1−t·M), in d = 1/(t+2.5) and q = (t−2.5)·d, for 0 ≤ t ≤ 17.
struct Upper {
	float d, q;
};
DEVICE Upper upper_tail(float t) { float d = 1 / (t + 2.5f); return {d, (t - 2.5f) * d}; }
DEVICE float mills(Upper u) {
	return u.d * poly(u.q, {-0.0004048351f, -0.0007969343f, 0.0017201849f, 0.0063430965f, -0.004011155f, -0.041079577f, 0.023150038f, 0.33084288f, -1.0871046f, 1.7713256f});
}
DEVICE float upper_first(Upper u) {
	return u.d * u.d * poly(u.q, {-0.0013514439f, -0.0048137363f, -0.0012956541f, 0.02107469f, 0.031009149f, -0.062484644f, -0.18499655f, 0.25696295f, 0.9230471f, -2.835896f, 2.8584306f});
}
DEVICE float upper_second(Upper u) {
	return u.d * (u.d * u.d) * poly(u.q, {0.003913572f, 0.004203354f, -0.023975033f, -0.04836365f, 0.03532655f, 0.2065064f, 0.09936198f, -0.6254322f, -0.79748553f, 2.0250463f, 2.9213045f, -10.353791f, 8.552757f});
}

constexpr float INV_SQRT_2PI = 0.3989422804f;
DEVICE float density(float t) { return t < 15 ? INV_SQRT_2PI * expo_square(0.5f, t) : 0.0f; }

// float64

CALLED double expo(double x) {
	if (x != x) return x;
	if (x > 709.7) return x * 1e300 * 1e300;
	if (x < -745) return 0;
	double n = (double)(long long)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
	double r = fma(-n, 0x1.62e42fefa39efp-1, x);
	r = fma(-n, 0x1.abc9e3b39803fp-56, r);
	double y = 1;
#pragma unroll
	for (int k = 13; k > 0; k--) y = fma(y * r, 1.0 / k, 1.0);
	int e = (int)n, h = e >> 1;
	return y * from_bits((uint64)(h + 1023) << 52) * from_bits((uint64)(e - h + 1023) << 52);
}

DEVICE double loga_inlined(double x) {
	if (!(x >= 0)) return from_bits(0x7ff8000000000000ull);
	if (x == 0) return from_bits(0xfff0000000000000ull);
	if (!is_finite(x)) return x;
	double down = 0;
	if (x < 0x1p-1022) x *= 0x1p54, down = 54;
	int e = (int)((long long)(bits(x) - 0x3fe6a09e667f3bcdull) >> 52);
	double m = from_bits(bits(x) - ((uint64)(long long)e << 52));
	double s = (m - 1) / (m + 1), w = s * s, p = 0;
#pragma unroll
	for (int k = 23; k > 1; k -= 2) p = fma(p, w, 1.0 / k);
	double n = (double)e - down;
	return fma(n, 0x1.62e42fefa39efp-1, fma(2 * s * w, p, 2 * s));
}
CALLED double loga(double x) { return loga_inlined(x); }

// log_gamma is ln Γ(x) for x > 0: Stirling's series from 10 on.
CALLED double log_gamma(double x) {
	double product = 1;
	while (x < 10) product *= x, x += 1;
	double r = 1 / (x * x);
	double s = (1. / 12 - r * (1. / 360 - r * (1. / 1260 - r * (1. / 1680 - r * (1. / 1188 - r * (691. / 360360)))))) / x;
	return (x - 0.5) * loga(x) - x + 0.91893853320467274178 + s - loga(product);
}
DEVICE double log_factorial(double y) { return log_gamma(y + 1); }

// digamma is the slope of ln Γ(x), x > 0.
CALLED double digamma(double x) {
	double below = 0;
	while (x < 10) below += 1 / x, x += 1;
	double r = 1 / (x * x);
	return loga(x) - 0.5 / x - r * (1. / 12 - r * (1. / 120 - r * (1. / 252 - r * (1. / 240 - r * (1. / 132 - r * (691. / 32760)))))) - below;
}

DEVICE double density(double z) { return 0.39894228040143267794 * expo(-0.5 * z * z); }

// upper is 1 − Φ(z), to 1e-12: a series with positive terms, or a continued fraction. upper_by
// is the same, given p, the density at upper_at(z).
DEVICE double upper_at(double z) {
	double t = magnitude(z);
	return t > 40 ? 40.0 : t;
}
CALLED double upper_by(double z, double p) {
	double t = upper_at(z), q, y = 1;
	if (t < 3) {
		double w = t * t;
#pragma unroll
		for (int n = 28; n > 0; n--) y = fma(y * w, 1.0 / (2 * n + 1), 1.0);
		q = 0.5 - p * t * y;
	} else {
		double over = 1; // the fraction is y/over: one division
		y = t;
#pragma unroll
		for (int k = 30; k > 0; k--) {
			double next = fma(t, y, k * over);
			over = y, y = next;
		}
		q = p * over / y;
	}
	return z < 0 ? 1 - q : q;
}
DEVICE double upper(double z) { return upper_by(z, density(upper_at(z))); }
