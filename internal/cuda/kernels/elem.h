// A function of one number, and the moments of a function of a Gaussian by a rule.
#pragma once
#include "math.h"
#include "random.h"

// The functions, in the order of compute.Op.
enum { USER, IDENTITY, LEAKY_RELU, ELU, GELU, SILU, SOFTPLUS, SIGMOID, TANH, ERF, NORMAL_CDF, EXP, SIN, COS, SQUARE, NORMAL_INVERSE };

// The rules.
enum { BY_POINTS, CLOSED_FORM, TANGENT, SAMPLES, LEARNED };

struct Func {
	int op, rule;
	int points;          // or samples; with a closed form, 1: the function is x + f(x)
	uint32 index;        // of the layer, for its random numbers
	float a;             // parameter of the function
	int kinked;          // the slope jumps at 0
	const float* nodes;  // points, then weights
	const float* kappa;  // raw value of a learned κ
	float three[6];      // the nodes again, if there are three
};

struct Value {
	float f, d; // and its slope
};

DEVICE Value gated(float x, float u, float s) { // x·G(x) from t·G(−t), the slope from that at −t
	return {more(x, 0.0f) - u, x < 0 ? s : 1 - s};
}

// far_inverse solves ln Φ(−g) = −t for t ≥ 128 by Newton's method, from the leading terms.
CALLED float far_inverse(float t) {
	if (t > 1e18f) return 1.4142135f * root(t);
	double l = t, g = root(2 * (l - 0.91893853320467274178 - loga(root(2 * l))));
	for (int i = 0; i < 2; i++) {
		double m = 1 / (g + 1 / (g + 2 / (g + 3 / (g + 4 / (g + 5 / g))))); // Mills
		g += (fma(-g / 2, g, l) - 0.91893853320467274178 + loga(m)) * m;
	}
	return (float)g;
}

// normal_inverse is Φ⁻¹(sigmoid(x)); its slope is sigmoid(|x|)·Mills(|f|).
DEVICE Value normal_inverse(float x) {
	if (x != x) return {x, x};
	float t = magnitude(x), g, m;
	if (!is_finite(t)) return {x, 0};
	if (t < 4) {
		g = t * poly(t * t, {5.701799e-15f, -5.690563e-13f, 2.5807774e-11f, -7.169046e-10f, 1.4081915e-08f, -2.189671e-07f, 3.0161314e-06f, -4.1002513e-05f, 0.0006055673f, -0.01120675f, 0.62665707f});
	} else if (t <= 128) {
		float s = root(t) + 3, q = 1 - 6 / s;
		g = s * poly(q, {-11.2434635f, 34.773518f, -44.026352f, 27.534058f, -6.2489753f, -2.924089f, 2.870985f, -1.0829699f, 0.19088471f, 0.061411694f, -0.1743919f, 0.9242561f, 0.6109282f});
	} else {
		g = far_inverse(t);
	}
	m = g < 16 ? mills(upper_tail(g)) : 1 / (g + 1 / (g + 2 / (g + 3 / g)));
	return {x < 0 ? -g : g, sigmoid(t) * m};
}

CALLED Value evaluate(int op, float a, float x) {
	switch (op) {
	case LEAKY_RELU:
		if (x > 0) return {x, 1};
		if (x != x) return {x, x};
		return a == 0 ? Value{0, 0} : Value{a * x, a};
	case ELU:
		if (x > 0) return {x, 1};
		return {a * expo_less_one(x), a * expo(x)};
	case GELU: {
		float t = less(15.0f, magnitude(x)), m = mills(upper_tail(t)), p = density(t);
		return x != x ? Value{x, x} : gated(x, p * m * t, p * (m - t));
	}
	case SILU: {
		float t = less(103.0f, magnitude(x)), e = expo(-t), r = 1 / (1 + e);
		return x != x ? Value{x, x} : gated(x, e * r * t, e * r * (1 - t * r));
	}
	case SOFTPLUS:
		return x != x ? Value{x, x} : Value{softplus(x), sigmoid(x)};
	case SIGMOID: {
		float e = expo(minus_abs(x, 104)), r = 1 / (1 + e), low = e * r;
		return x != x ? Value{x, x} : Value{x < 0 ? low : r, low * r};
	}
	case TANH: {
		if (x != x) return {x, x};
		Power p = expo_parts(2 * minus_abs(x, 53));
		float s = power2(p.n < -126 ? -126 : p.n), m = fma(p.p, s, s - 1); // e − 1
		float r = 1 / (m + 2), f = -m * r;
		return {x < 0 ? -f : f, scaled(4 * r * r * (1 + p.p), p.n)};
	}
	case ERF: {
		if (x != x) return {x, x};
		float c = more(-3.925f, less(3.925f, x)), w = c * c;
		float p = poly(w, {-1.4943478e-08f, 5.0429753e-06f, 0.00039172225f, 0.0038284643f, 0.054425865f, 0.18371765f, 1.1283792f});
		float q = poly(w, {6.6501285e-05f, 0.0013195173f, 0.01546247f, 0.1136151f, 0.49614924f, 1.0f});
		float t = less(10.5f, magnitude(x));
		return {p / q * c, 1.1283791671f * expo_square(1, t)};
	}
	case NORMAL_CDF: {
		if (x != x) return {x, x};
		float t = less(15.0f, magnitude(x)), p = density(t), u = p * mills(upper_tail(t));
		return {x < 0 ? u : 1 - u, p};
	}
	case EXP: {
		float e = expo(x);
		return {e, e};
	}
	case SIN: {
		float s, c;
		sine_cosine(x, &s, &c);
		return {s, c};
	}
	case COS: {
		float s, c;
		sine_cosine(x, &s, &c);
		return {c, -s};
	}
	case SQUARE:
		return {x * x, x + x};
	case NORMAL_INVERSE:
		return normal_inverse(x);
	}
	return {x, 1};
}

// curvature is the second derivative.
CALLED float curvature(int op, float a, float x) {
	switch (op) {
	case ELU:
		return x > 0 ? 0.0f : a * expo(x);
	case GELU:
		return density(magnitude(x)) * (2 - less(x * x, 1e9f));
	case SILU: {
		float s = sigmoid(x), c = sigmoid(-x), g = s * c;
		return g == 0 ? 0.0f : g * (2 + x * (c - s));
	}
	case SOFTPLUS:
		return sigmoid(x) * sigmoid(-x);
	case SIGMOID: {
		float s = sigmoid(x), c = sigmoid(-x);
		return s * c * (c - s);
	}
	case TANH: {
		Value v = evaluate(TANH, 0, x);
		return -2 * v.f * v.d;
	}
	case ERF:
		return -2 * x * evaluate(ERF, 0, x).d;
	case NORMAL_CDF:
		return -x * density(magnitude(x));
	case EXP:
		return expo(x);
	case SIN:
		return -evaluate(SIN, 0, x).f;
	case COS:
		return -evaluate(COS, 0, x).f;
	case SQUARE:
		return 2;
	case NORMAL_INVERSE: {
		Value v = normal_inverse(x);
		float t = magnitude(x), g = magnitude(v.f), s = sigmoid(t);
		float one = g < 16 ? upper_first(upper_tail(g)) : 1 / (g * g);
		float c = v.d * s * (expo(-t) - one);
		return x < 0 ? -c : c;
	}
	}
	return 0;
}

// The moments of a function, and their derivatives by mean, variance and κ.
struct Moments {
	float m, v, mm, mv, vm, vv, mk, vk;
	float slope;  // of the straight line that fits best, Cov(f, x)/v
	float sm, sv; // the slope's derivatives by mean and variance
};

// leaky_exact is LeakyMoments of package compute.
DEVICE Moments leaky_exact(float a, float m, float v) {
	bool right = m > 0;
	float c = right ? 1.0f : a, f = right ? m : (a == 0 ? 0.0f : a * m);
	if (v == 0) return {f, 0, c, 0, 0, c * c, 0, 0, c};
	float sd = root(v), inv = 1 / sd;
	float z = m * inv;
	float lost = fma(-z, sd, m) * inv;
	float half = fma(-sd, sd, v) * inv * (inv * 0.5f);
	lost = fma(-z, half, lost);
	float t = magnitude(z), phi = 0;
	if (t < 15) {
		phi = density(t);
		phi = fma(-phi, lost * z, phi);
	} else if (t > 15) {
		t = 15;
	}
	Upper u = upper_tail(t);
	float K = upper_first(u), J = upper_second(u), tK = t * K, M = J + tK;
	float b = 1 - a, bp = b * phi, sb = right ? bp : -bp, c2 = c * c, plus = 1 + a;
	Moments o;
	o.m = fma(bp * K, sd, f);
	o.v = v * fma(-sb, fma(sb * K, K, fma(c + c, tK, plus * J)), c2);
	o.mm = fma(-sb, M, c);
	o.mv = 0.5f * (bp * inv);
	float pK = phi * K;
	o.vm = fma(fma(-pK, M, K), plus - c, (t + pK) * M * c) * (bp + bp) * sd;
	o.vv = fma(-sb, fma(sb, K, fma(c, t, plus * M)), c2);
	o.mk = o.vk = 0;
	o.slope = o.mm; // Stein
	o.sm = 2 * o.mv, o.sv = -o.mv * m / v;
	return o;
}

// tiny reports whether σ is so small beside m that differences of values resolve nothing.
DEVICE bool tiny(float m, float s) { return s < 1e-4f * (1 + magnitude(m)); }

// leaky_three is LeakyThree of package compute: three points, the first at the mean.
DEVICE Moments leaky_three(float a, float m, float v, const float* xi, const float* w) {
	float s = root(v), d1 = xi[1] * s, d2 = xi[2] * s;
	float g0 = m > 0 ? 1.0f : a, g1 = m + d1 > 0 ? 1.0f : a, g2 = m + d2 > 0 ? 1.0f : a;
	float e1 = d1 * g1 + (g1 - g0) * m, e2 = d2 * g2 + (g2 - g0) * m;
	float M = w[1] * e1 + w[2] * e2, r1 = e1 - M, r2 = e2 - M;
	float q0 = w[0] * M, q1 = w[1] * r1, q2 = w[2] * r2;
	Moments o;
	o.m = m * g0 + M;
	o.v = q0 * M + q1 * r1 + q2 * r2;
	o.mk = o.vk = 0;
	o.sm = o.sv = 0;
	if (s == 0) {
		o.mm = o.slope = g0, o.mv = 0, o.vm = 0, o.vv = g0 * g0;
		return o;
	}
	o.slope = (w[1] * xi[1] * e1 + w[2] * xi[2] * e2) / s;
	float t1 = q1 * g1, t2 = q2 * g2;
	o.mm = w[0] * g0 + w[1] * g1 + w[2] * g2;
	o.mv = (w[1] * xi[1] * g1 + w[2] * xi[2] * g2) / (2 * s);
	o.vm = 2 * (t1 + t2 - q0 * g0);
	o.vv = (t1 * xi[1] + t2 * xi[2]) / s;
	o.sm = 2 * o.mv;
	if (!tiny(m, s)) o.sv = (w[1] * xi[1] * xi[1] * g1 + w[2] * xi[2] * xi[2] * g2 - o.slope) / (v + v);
	return o;
}

// taylor replaces what differences cannot resolve when σ is tiny beside m.
DEVICE bool taylor(const Func& f, float m, float v, float s, Moments* o) {
	if (s == 0 || !tiny(m, s)) return false;
	if (f.kinked && magnitude(m) <= 8 * s) return false;
	Value at = evaluate(f.op, f.a, m);
	float c = curvature(f.op, f.a, m);
	o->m = at.f + 0.5f * c * v, o->v = at.d * at.d * v;
	o->mm = o->slope = at.d, o->mv = 0.5f * c, o->vm = 2 * at.d * c * v, o->vv = at.d * at.d;
	o->sm = c;
	return true;
}

// kappa_parts adds the derivatives by κ of three points m, m−cσ, m+cσ.
DEVICE void kappa_parts(Moments* o, float p, float s, Value v0, Value vm, Value vp, float quarter) {
	float even = (vp.f + vm.f) / 2 - v0.f, odd = (vp.f - vm.f) / 2;
	float even_k = s * (vp.d - vm.d) * quarter, odd_k = s * (vp.d + vm.d) * quarter;
	o->mk = -p * p * even + p * even_k;
	o->vk = -p * p * odd * odd + 2 * p * odd * odd_k - p * p * (1 - 2 * p) * even * even + 2 * p * (1 - p) * even * even_k;
}

// by_points is the combination of fixed points. The mean must be known before the squares
// are summed, and registers are few: the values of the first points lie in local memory
// meanwhile, those of the others are computed twice.
constexpr int KEPT_POINTS = 16;
template <class At>
DEVICE Moments combine_points(const Func& f, float m, float v, float s, int n, const float* xi, const float* w, At at) {
	Moments o;
	o.mk = o.vk = o.sm = o.sv = 0;
	Value v0 = at(0);
	float M = 0;
	for (int p = 1; p < n; p++) M += w[p] * (at(p).f - v0.f);
	float var = 0, mm = 0, ms = 0, vm = 0, vs = 0, fs = 0, ds = 0;
	for (int p = 0; p < n; p++) {
		Value x = at(p);
		float r = (x.f - v0.f) - M, wr = w[p] * r, wg = w[p] * x.d, wrg = wr * x.d;
		var += wr * r, fs += w[p] * xi[p] * (x.f - v0.f);
		mm += wg, ms += xi[p] * wg, ds += xi[p] * (xi[p] * wg), vm += wrg, vs += xi[p] * wrg;
	}
	o.m = v0.f + M, o.v = var;
	if (s == 0) {
		o.mm = o.slope = v0.d, o.mv = 0, o.vm = 0, o.vv = v0.d * v0.d;
		return o;
	}
	float h = 0.5f / s;
	o.mm = mm, o.mv = ms * h, o.vm = 2 * vm, o.vv = 2 * vs * h;
	o.slope = mm, o.sm = 2 * o.mv;
	if (!tiny(m, s)) o.slope = fs / s, o.sv = (ds - o.slope) / (v + v);
	taylor(f, m, v, s, &o);
	return o;
}
CALLED Moments by_points(const Func& f, float m, float v, int n, const float* xi, const float* w) {
	float s = root(v);
	Value kept[KEPT_POINTS];
	for (int p = 0; p < n && p < KEPT_POINTS; p++) kept[p] = evaluate(f.op, f.a, m + xi[p] * s);
	return combine_points(f, m, v, s, n, xi, w, [&](int p) { return p < KEPT_POINTS ? kept[p] : evaluate(f.op, f.a, m + xi[p] * s); });
}

// by_samples is Samples of package compute, in chunks of twelve draws as there.
CALLED Moments by_samples(const Func& f, float m, float v, Key key, uint64 row, uint32 unit) {
	float s = root(v), ref = 0, e = 0, ee = 0, g = 0, xg = 0, eg = 0, exg = 0, slope = 0;
	int first = f.points < 12 ? f.points : 12;
	for (int pass = 0; pass < 2; pass++) {
		float f0 = 0, sum = 0;
		int n = pass == 0 ? first : f.points;
		Four z;
		for (int p = 0; p < n; p++) {
			if (p % 4 == 0) z = normals(key, row, unit, p / 4);
			float xi = p % 4 == 0 ? z.a : p % 4 == 1 ? z.b : p % 4 == 2 ? z.c : z.d;
			Value at = evaluate(f.op, f.a, m + xi * s);
			if (pass == 0) {
				if (p == 0) f0 = at.f, slope = at.d;
				sum += at.f - f0;
				continue;
			}
			float d = at.f - ref, t = d * at.d;
			e += d, ee += d * d, g += at.d, xg += xi * at.d, eg += t, exg += xi * t;
		}
		if (pass == 0) ref = f0 + (1 / (float)n) * sum;
	}
	float w = 1 / (float)f.points, c = 1 / (float)(f.points - 1), mean = w * e;
	Moments o;
	o.mk = o.vk = o.slope = o.sm = o.sv = 0;
	o.m = ref + mean;
	o.v = c * more(0.0f, ee - mean * e);
	if (s == 0) {
		o.mm = slope, o.mv = 0, o.vm = 0, o.vv = slope * slope;
		return o;
	}
	float h = 0.5f / s;
	o.mm = w * g, o.mv = w * xg * h;
	o.vm = 2 * c * (eg - mean * g), o.vv = 2 * c * (exg - mean * xg) * h;
	return o;
}

CALLED Moments push_other(int op, int rule, int points, float a, int kinked, const float* nodes, const float* kappa, float m, float v, Key key, uint64 row, uint32 unit) {
	Func f = {op, rule, points, 0, a, kinked, nodes, kappa, {}};
	switch (f.rule) {
	case TANGENT: {
		Value at = evaluate(f.op, f.a, m);
		float d = at.d, c = curvature(f.op, f.a, m);
		return {at.f, d * d * v, d, 0, 2 * d * c * v, d * d, 0, 0, d, c, 0};
	}
	case SAMPLES:
		return by_samples(f, m, v, key, row, unit);
	case LEARNED: {
		double k = softplus(*f.kappa);
		float c = (float)root(k + 1), p = (float)(1 / (k + 1));
		float xi[3] = {0, -c, c}, w[3] = {(float)(k / (k + 1)), p / 2, p / 2};
		Moments o = by_points(f, m, v, 3, xi, w);
		float s = root(v);
		kappa_parts(&o, p, s, evaluate(f.op, f.a, m), evaluate(f.op, f.a, m - c * s), evaluate(f.op, f.a, m + c * s), (float)(0.25 / root(k + 1)));
		return o;
	}
	}
	return by_points(f, m, v, f.points, f.nodes, f.nodes + f.points);
}

// push returns the moments of f(x), x ~ N(m, v). The common cases are inlined.
DEVICE Moments push(const Func& f, float m, float v, Key key, uint64 row, uint32 unit) {
	if (f.rule == CLOSED_FORM) return leaky_exact(f.a, m, v);
	if (f.rule == BY_POINTS && f.op == LEAKY_RELU && f.points == 3 && f.three[0] == 0) return leaky_three(f.a, m, v, f.three, f.three + 3);
	return push_other(f.op, f.rule, f.points, f.a, f.kinked, f.nodes, f.kappa, m, v, key, row, unit); // number by number: a copy would move kernels' arguments to memory
}

// rest_back adds the gradients by the mean and the variance of a nonlinearity's input that
// come through its slope, dg, and through what it adds, e = V − g²v.
DEVICE void rest_back(const Moments& p, float v, float dg, float de, float* dm, float* dv) {
	float t = dg - 2 * p.slope * v * de;
	*dm += t * p.sm + de * p.vm;
	*dv += t * p.sv + de * (p.vv - p.slope * p.slope);
}
