// The moments of ELU, as elu_exact.go of package fn: those of a Normal that is cut at 0.
#pragma once
#include "elem.h"

// A Jet has moments with their derivatives; bend is that of mm by the variance.
struct Jet {
	double m, v, mm, mv, vm, vv, bend;
};

DEVICE double over_one(double t) { // eᵗ − 1
	return magnitude(t) < 1e-4 ? t * (1 + t / 2 * (1 + t / 3)) : expo(t) - 1;
}

// ratio is the upper tail of the Normal at x ≥ 0 over its density, Mills' ratio.
CALLED double ratio(double x) {
	if (x < 3) return upper(x) / density(x);
	double y = x;
	for (int k = 30; k > 0; k--) y = x + k / y;
	return 1 / y;
}

// The first repeated integrals of the tail over the density, as Tail of package special.
struct Tail {
	double i0, i1, i2;
};
CALLED Tail tail(double x) {
	if (x < 1.5) {
		double m = ratio(x), i1 = 1 - x * m;
		return {m, i1, (m - x * i1) / 2};
	}
	if (x > 1e8) return {1 / x, 1 / x / x, 1 / x / x / x};
	int n = (int)(6 + 60 / x + 160 / (x * x));
	double last = 1, next = 2 / (x + root(x * x + 4 * n));
	for (; n > 2; n--) {
		double t = x * last + n * next;
		next = last, last = t;
	}
	double i0 = x * last + 2 * next, scale = 1 / (x * i0 + last);
	return {i0 * scale, last * scale, next * scale};
}

// tail_series fills i with the first n integrals, as TailSeries of package special.
DEVICE void tail_series(double x, int n, double* i) {
	if (x < 1) {
		double before = 1, last = ratio(x);
		for (int k = 0; k < n; k++) {
			i[k] = last;
			double t = (before - x * last) / (k + 1);
			before = last, last = t;
		}
		return;
	}
	double r = 1 / x, p = r;
	if (x > 1e8) {
		for (int k = 0; k < n; k++) i[k] = p, p *= r;
		return;
	}
	int top = n + 8 + (int)(160 / (x * x)) + (int)(60 / x);
	r = 2 / (x + root(x * x + 4.0 * (top + 1)));
	for (int k = top - 1; k >= n; k--) r = 1 / (x + (k + 1) * r);
	for (int k = n - 1; k >= 0; k--) i[k] = r = 1 / (x + (k + 1) * r);
	for (int k = 1; k < n; k++) i[k] *= i[k - 1];
}

// A Cut holds integrals over w(s) = exp(−ys − s²/2), s > 0, of c(s) = 1 − e^{−τs}:
// d1 = ∫cw, d2 = ∫c²w, s1 = ∫scw and g1 = ∫(τs−c)w.
struct Cut {
	double d1, d2, s1, g1;
};
CALLED Cut cut(double y, double tau) {
	if (tau > 0.5) {
		Tail a = tail(y), b = tail(y + tau);
		double d1 = a.i0 - b.i0;
		return {d1, ratio(y + 2 * tau) - b.i0 + d1, a.i1 - b.i1, tau * a.i1 - d1};
	}
	constexpr int MOST = 44;
	double i[MOST], size = magnitude(2 * tau), far = size > 0 ? -loga(size) : 41;
	int n = 5 + (int)(41 / (far > 0.1 ? far : 0.1));
	if (n > MOST) n = MOST;
	tail_series(y, n, i);
	Cut c = {0, 0, 0, 0};
	double t = -tau, two = 2; // (−τ)ᵏ and 2ᵏ
	for (int k = 1; k <= n - 2; k++, t *= -tau, two *= 2) {
		c.d1 -= t * i[k], c.s1 -= t * (k + 1) * i[k + 1], c.d2 += t * (two - 2) * i[k];
		if (k > 1) c.g1 += t * i[k];
	}
	return c;
}

// bends completes a jet with E f″/2 and E f‴/2; e1 is E[eˣ; x<0], p the density of the cut.
DEVICE Jet bends(Jet j, double m, double v, double sd, double alpha, double e1, double p) {
	double beta = 1 - alpha;
	j.mv = (alpha * e1 + beta * p / sd) / 2;
	j.bend = (alpha * e1 - alpha * p / sd - beta * m / v * p / sd) / 2;
	return j;
}

// For m ≥ 0, f = x + r(x) with r = α(eˣ−1) − x on x < 0.
DEVICE Jet elu_above(double m, double v, double alpha) {
	double sd = root(v), z = m / sd, p = density(z), beta = 1 - alpha;
	if (p == 0) return {m, v, 1, 0, 0, 1, 0};
	Tail i = tail(z);
	Cut c = cut(z, sd);
	double e1 = p * ratio(z + sd), e2 = p * ratio(z + 2 * sd), s2 = 2 * i.i2 * v;
	double r = p * (beta * sd * i.i1 + alpha * c.g1);
	double rr = p * (beta * beta * s2 + 2 * alpha * beta * (s2 - sd * c.s1) + alpha * alpha * (s2 - 2 * sd * c.s1 + c.d2));
	double mean = m + r, lost = p * (beta * i.i0 + alpha * c.d1); // 1 − E f′
	Jet j = bends({}, m, v, sd, alpha, e1, p);
	j.m = mean, j.v = v * (1 - 2 * lost) + rr - r * r, j.mm = 1 - lost;
	j.vm = 2 * (p * alpha * (beta * c.d1 + alpha * c.d2) + mean * lost);
	j.vv = 1 - p * i.i0 + alpha * alpha * (e2 - p * (c.d1 - c.d2)) - 2 * mean * j.mv;
	return j;
}

// below is E[e^{kx}; x<0].
CALLED double below(double m, double sd, double y, double k, double p) {
	return k * sd > y ? p * ratio(k * sd - y) : expo(k * m + k * k * sd * sd / 2) * upper(k * sd - y);
}

// For m < 0, f = α(eˣ−1) + r(x) with r = x − α(eˣ−1) on x > 0, or, where σ is large enough
// that nothing cancels, by the moments of f + α.
DEVICE Jet elu_below(double m, double v, double alpha) {
	double sd = root(v), y = -m / sd, beta = 1 - alpha, p = density(y), g, mean, var;
	Tail i = tail(y);
	double e1 = below(m, sd, y, 1, p), e2 = below(m, sd, y, 2, p), s2 = 2 * i.i2 * v;
	if (sd > 0.5) {
		g = alpha * e1 + p * (sd * i.i1 + alpha * i.i0), mean = g - alpha;
		var = alpha * alpha * e2 + p * (s2 + 2 * alpha * sd * i.i1 + alpha * alpha * i.i0) - g * g;
	} else {
		double full = over_one(m + v / 2), r = 0, rr = 0, er = 0; // E r, E r², E[(eˣ−1)·r]
		if (p > 0) {
			Cut c = cut(y, -sd);
			r = p * (beta * sd * i.i1 - alpha * c.g1);
			rr = p * (s2 + 2 * alpha * sd * c.s1 + alpha * alpha * c.d2), er = p * (-sd * c.s1 - alpha * c.d2);
		}
		mean = alpha * full + r, g = alpha * (full + 1) + r;
		var = alpha * alpha * expo(2 * m + v) * over_one(v) + 2 * alpha * (er - full * r) + rr - r * r;
	}
	Jet j = bends({}, m, v, sd, alpha, e1, p);
	j.m = mean, j.v = var, j.mm = p * i.i0 + alpha * e1;
	j.vm = 2 * (var - p * s2 + p * beta * sd * i.i1 + mean * p * (sd * i.i1 - beta * i.i0));
	j.vv = p * i.i0 + alpha * (2 * alpha * e2 - g * e1) - mean * beta * p / sd;
	return j;
}

CALLED Jet elu_jet(double m, double v, double alpha) { return m < 0 ? elu_below(m, v, alpha) : elu_above(m, v, alpha); }
