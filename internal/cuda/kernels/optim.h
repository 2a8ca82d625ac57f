// The end of a step: sums of the gradients, KL, norm, and AdamW.
#pragma once
#include "program.h"

constexpr int OPT = 256;

// How the gradient of a learned number follows from what rows leave of it.
enum { BY_VARIANCE, BY_SOFTPLUS, BY_ITSELF };

// A Spread is what a step needs of ρ; see adamw_kl.go of package compute.
struct Spread {
	float sigma, slope, ratio, ln;
};
DEVICE Spread spread(float rho) {
	float e = expo(minus_abs(rho, 104)), h = e > 0 ? loga_ratio(e) : 1.0f;
	if (rho < 0) return {e * h, e / (1 + e), 1 / (e * h + h), rho + loga(h)};
	float s = rho + e * h;
	return {s, 1 / (1 + e), 1 / (s + s * e), loga(s)};
}

struct Norm {
	const float* theta;
	float* grad;              // partial gradients, one behind the other; the first receives the sum
	long long size;           // of one of them
	const Chunk* chunks;
	int count, pad0;
	double* parts;            // KL and squared norm of each chunk
	const Control* control;
	Result* results;          // results[0] is the last one; behind it those the host reads
	const double* nll;
	const int* floored;
	uint32* done;             // blocks that have finished
	int rows, slots;          // slots: steps that are queued at most
};

// copy_words copies a structure into shared memory: each thread from number first on has
// eight bytes.
template <class T>
DEVICE void copy_words(T& to, const T& from, int first) {
	int i = thread() - first;
	if (i >= 0 && i < (int)(sizeof(T) / 8)) ((uint64*)&to)[i] = ((const uint64*)&from)[i];
}

#ifndef EMULATED
DEVICE uint32 count_up(uint32* p) { __nvvm_membar_gl(); return __nvvm_atom_add_gen_i((int*)p, 1); }
#else
DEVICE uint32 count_up(uint32* p) { return (*p)++; }
#endif

// A Weight is a parameter with the gradient of the objective.
struct Weight {
	float mu, rho, g, gr; // mu: from the centre of its prior; g and gr: by mean and ρ
};

// A Prior is what the gradient of the KL needs of a chunk.
struct Prior {
	float mean, by, scale;
};
DEVICE Prior prior_of(const Chunk& t, float kl) {
	float by = (float)(1 / t.prior_var);
	return {(float)t.prior_mean, by, kl * by};
}

// whole adds the gradients of the KL to gm and gs, those of the score by mean and variance.
DEVICE Weight whole(const Chunk& t, const Prior& p, const Spread& s, float kl, float mu, float rho, float gm, float gs) {
	if (!t.random) return {mu, rho, gm, 0};
	return {mu, rho, gm + p.scale * (mu - p.mean), s.slope * s.sigma * (2 * gs + p.scale) - kl * s.ratio};
}

// weigh returns a parameter with its gradient, and adds its KL and its part of the squared
// norm; mu is its distance from the centre of its prior, constant what constant_of returns.
DEVICE double constant_of(const Chunk& t) { return loga(t.prior_var) / 2 - 0.5; }
DEVICE double divergence(const Prior& p, const Spread& s, double constant, float mu) {
	float d = mu - p.mean;
	return 0.5 * (double)p.by * ((double)s.sigma * s.sigma + (double)d * d) + constant - s.ln;
}
DEVICE Weight weigh(const Control& k, const Chunk& t, double constant, float mu, float rho, float gm, float gs, double& kl, double& n2) {
	Prior p = prior_of(t, k.kl);
	Spread s = {};
	if (t.random) s = spread(rho);
	Weight w = whole(t, p, s, k.kl, mu, rho, gm, gs);
	if (t.random) {
		n2 += (double)w.gr * w.gr;
		kl += divergence(p, s, constant, mu);
	}
	n2 += (double)w.g * w.g;
	return w;
}

// sum_weight adds up the partial gradients of element i of a chunk, its KL and its part of
// the squared norm.
DEVICE Weight sum_weight(const Norm& a, const Control& k, const Chunk& t, int i, double& kl, double& n2) {
	float gm = a.grad[t.mean + i], gs = t.random ? a.grad[t.rho + i] : 0.0f;
	float mu = a.theta[t.mean + i] - (t.center ? t.center[i] : 0.0f), rho = t.random ? a.theta[t.rho + i] : 0.0f;
#pragma unroll 8
	for (int p = 1; p < t.parts; p++) {
		const float* g = a.grad + p * a.size + i;
		gm += g[t.mean];
		if (t.random) gs += g[t.rho];
	}
	if (t.parts > 1) {
		a.grad[t.mean + i] = gm;
		if (t.random) a.grad[t.rho + i] = gs;
	}
	return weigh(k, t, constant_of(t), mu, rho, gm, gs, kl, n2);
}

// clipping is the factor of all gradients, given the squared norm.
DEVICE float clipping(const Control& k, double n2) {
	if (!(k.clip > 0)) return 1;
	double norm = root(n2);
	return norm > k.clip ? (float)(k.clip / norm) : 1.0f;
}

// conclude returns the result of a step, given the sums over all chunks and all rows.
DEVICE Result conclude(const Control& k, double kl, double n2, double nll, double floored) {
	Result r;
	r.nll = nll / k.batch, r.kl = kl, r.norm2 = n2;
	r.floored = (int)floored;
	r.finite = is_finite(nll) ? is_finite(kl + n2) ? 1 : 2 : 0;
	r.clip = clipping(k, n2);
	return r;
}

// publish writes the result of the step in a slot, and counts the step.
DEVICE void publish(const Norm& a, int slot, Result r) {
	r.slot = slot + 1 == a.slots ? 0 : slot + 1;
	a.results[1 + slot] = r;
	if (r.finite != 1) r.finite = 0;
	a.results[0] = r;
}

struct Adam {
	float *theta, *first, *second; // parameters and AdamW's moments
	const float* grad;
	const Chunk* chunks;
	int prepare, slots; // prepare: only what is derived from the parameters
	const Control* control;
	const Result* results;
};

// Moments2 are AdamW's of a mean and of a ρ.
struct Moments2 {
	float m1, m2, r1, r2;
};
DEVICE Moments2 load_moments(const Adam& a, const Chunk& t, int i) {
	long long at = t.mean + i, ar = t.rho + i;
	Moments2 m = {a.first[at], a.second[at], 0, 0};
	if (t.random) m.r1 = a.first[ar], m.r2 = a.second[ar];
	return m;
}

DEVICE float step(const Control& k, float keep, float x, float g, float& m1, float& m2) {
	m1 = k.b1 * m1 + (1 - k.b1) * g, m2 = k.b2 * m2 + (1 - k.b2) * (g * g);
	return keep * x - k.rate * m1 / (root(m2) * k.root2 + k.eps);
}

// derive writes what is derived from element i of a chunk.
DEVICE void derive(const Chunk& t, int i, float mu, float rho) {
	int back = t.wt ? i % t.cols * t.rows + i / t.cols : 0;
	if (t.wt) t.wt[back] = mu;
	if (t.s) {
		float s = softplus(rho), v = s * s;
		t.s[i] = v;
		if (t.st) t.st[back] = v;
	}
}

// move_weight makes the step of element i of a chunk.
DEVICE void move_weight(const Adam& a, const Control& k, const Chunk& t, int i, float clip, Weight w, Moments2 m) {
	long long at = t.mean + i, ar = t.rho + i;
	if (t.random) {
		w.rho = step(k, k.keep_rho, w.rho, clip * w.gr, m.r1, m.r2);
		a.theta[ar] = w.rho, a.first[ar] = m.r1, a.second[ar] = m.r2;
	}
	float mu = step(k, t.no_decay ? 1.0f : k.keep_mean, w.mu, clip * w.g, m.m1, m.m2) + (t.center ? t.center[i] : 0.0f);
	a.theta[at] = mu, a.first[at] = m.m1, a.second[at] = m.m2;
	derive(t, i, mu, w.rho);
}

// update_chunk makes the step of a chunk, from element lo on, whose gradients are added up.
DEVICE void update_chunk(const Adam& a, const Control& k, const Chunk& t, int lo, float clip) {
	if (lo >= t.hi) return;
	Prior p = prior_of(t, k.kl);
	for (int i = lo + thread(); i < t.hi; i += OPT) {
		float mu = a.theta[t.mean + i], rho = t.random ? a.theta[t.rho + i] : 0.0f;
		if (a.prepare) {
			derive(t, i, mu, rho);
			continue;
		}
		Spread s = {};
		if (t.random) s = spread(rho);
		mu -= t.center ? t.center[i] : 0.0f;
		move_weight(a, k, t, i, clip, whole(t, p, s, k.kl, mu, rho, a.grad[t.mean + i], t.random ? a.grad[t.rho + i] : 0.0f), load_moments(a, t, i));
	}
}
