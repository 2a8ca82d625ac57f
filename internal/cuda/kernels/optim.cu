// Gradients of the weights, summed over the rows of a batch, and AdamW.
#include "program.h"

constexpr int OPT = 256;

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

#ifndef EMULATED
DEVICE uint32 count_up(uint32* p) { __nvvm_membar_gl(); return __nvvm_atom_add_gen_i((int*)p, 1); }
#else
DEVICE uint32 count_up(uint32* p) { return (*p)++; }
#endif

// norm adds up the partial gradients and computes the KL and the squared norm of the
// whole gradient. The block that finishes last adds up what the others left, in the
// order of the chunks, and the scores of the rows.
KERNEL_MANY(norm, Norm, OPT, 1, block_y) {
	if (failed(a.results)) return;
	const Control k = a.control[a.results->slot];
	const Chunk t = a.chunks[block()];
	int lo = t.lo, hi = t.hi;
	double kl = 0, n2 = 0;
	float prior = (float)t.prior_mean, by = (float)(1 / t.prior_var), scale = k.kl * by;
	double constant = t.random ? loga(t.prior_var) / 2 - 0.5 : 0.0;
	for (int i = lo + thread(); i < hi; i += OPT) {
		float gm = a.grad[t.mean + i], gs = 0;
#pragma unroll 8
		for (int p = 1; p < t.parts; p++) gm += a.grad[p * a.size + t.mean + i];
		if (t.parts > 1) a.grad[t.mean + i] = gm;
		if (t.random) {
			gs = a.grad[t.rho + i];
#pragma unroll 8
			for (int p = 1; p < t.parts; p++) gs += a.grad[p * a.size + t.rho + i];
			if (t.parts > 1) a.grad[t.rho + i] = gs;
			float mu = a.theta[t.mean + i] - (t.center ? t.center[i] : 0.0f), d = mu - prior;
			Spread s = spread(a.theta[t.rho + i]);
			gm = gm + scale * d;
			float gr = s.slope * s.sigma * (2 * gs + scale) - k.kl * s.ratio;
			n2 += (double)gr * gr;
			kl += 0.5 * (double)by * ((double)s.sigma * s.sigma + (double)d * d) + constant - s.ln;
		}
		n2 += (double)gm * gm;
	}
	total(kl, n2);
	SHARED uint32 before;
	if (thread() == 0) {
		a.parts[2 * block()] = kl, a.parts[2 * block() + 1] = n2;
		before = count_up(a.done);
	}
	barrier();
	if (before + 1 != (uint32)a.count) return;
	const volatile double* parts = a.parts;
	kl = n2 = 0;
	for (int i = thread(); i < a.count; i += OPT) kl += parts[2 * i], n2 += parts[2 * i + 1];
	total(kl, n2);
	double nll = 0, floored = 0;
	for (int i = thread(); i < a.rows; i += OPT) nll += a.nll[i], floored += a.floored[i];
	total(nll, floored);
	if (thread() != 0) return;
	Result r;
	r.nll = nll / k.batch, r.kl = kl, r.norm2 = n2;
	r.floored = (int)floored;
	r.finite = is_finite(nll) ? is_finite(kl + n2) ? 1 : 2 : 0;
	double norm = root(n2);
	r.clip = k.clip > 0 && norm > k.clip ? (float)(k.clip / norm) : 1.0f;
	r.slot = a.results->slot + 1 == a.slots ? 0 : a.results->slot + 1;
	a.results[1 + a.results->slot] = r;
	if (r.finite != 1) r.finite = 0;
	a.results[0] = r;
	*a.done = 0;
}

struct Adam {
	float *theta, *first, *second; // parameters and AdamW's moments
	const float* grad;
	const Chunk* chunks;
	int prepare, slots; // prepare: only what is derived from the parameters
	const Control* control;
	const Result* results;
};

DEVICE float step(const Control& k, float keep, float x, float g, float* m1, float* m2) {
	float p = k.b1 * *m1 + (1 - k.b1) * g, q = k.b2 * *m2 + (1 - k.b2) * (g * g);
	*m1 = p, *m2 = q;
	return keep * x - k.rate * p / (root(q) * k.root2 + k.eps);
}

KERNEL_MANY(adamw, Adam, OPT, 1, block_y) {
	if (!a.prepare && failed(a.results)) return;
	int next = a.prepare ? 0 : a.results->slot; // norm has counted this step
	const Control k = a.control[a.prepare ? 0 : (next ? next : a.slots) - 1];
	float clip = a.results->clip;
	const Chunk t = a.chunks[block()];
	int lo = t.lo, hi = t.hi;
	float prior = (float)t.prior_mean, scale = k.kl * (float)(1 / t.prior_var);
	for (int i = lo + thread(); i < hi; i += OPT) {
		long long at = t.mean + i, ar = t.rho + i;
		float mu = a.theta[at], rho = t.random ? a.theta[ar] : 0.0f, center = t.center ? t.center[i] : 0.0f;
		if (!a.prepare) {
			float g = a.grad[at];
			mu -= center;
			if (t.random) {
				Spread s = spread(rho);
				g += scale * (mu - prior);
				float gr = s.slope * s.sigma * (2 * a.grad[ar] + scale) - k.kl * s.ratio;
				rho = step(k, k.keep_rho, rho, clip * gr, a.first + ar, a.second + ar);
				a.theta[ar] = rho;
			}
			mu = step(k, t.no_decay ? 1.0f : k.keep_mean, mu, clip * g, a.first + at, a.second + at) + center;
			a.theta[at] = mu;
		}
		int back = t.wt ? i % t.cols * t.rows + i / t.cols : 0;
		if (t.wt) t.wt[back] = mu;
		if (t.s) {
			float s = softplus(rho), v = s * s;
			t.s[i] = v;
			if (t.st) t.st[back] = v;
		}
	}
}

// columns adds up the gradients of learned numbers over the rows, and applies the
// chain rule to their raw values.
enum { BY_VARIANCE, BY_SOFTPLUS, BY_ITSELF };
struct Columns {
	const float* tape;
	int rows, width, mode, pad;
	const float* raw;
	float* grad;
	const Result* results;
};
KERNEL_MANY(columns, Columns, OPT, 1, block_y) {
	if (failed(a.results)) return;
	int c = block();
	double s = 0, none = 0;
	for (int r = thread(); r < a.rows; r += OPT) s += a.tape[(long long)r * a.width + c];
	total(s, none);
	if (thread() != 0) return;
	if (a.mode == BY_ITSELF) {
		a.grad[c] = (float)s;
		return;
	}
	double x = a.raw[c], e = expo(-magnitude(x)), slope = x < 0 ? e / (1 + e) : 1 / (1 + e);
	a.grad[c] = (float)(a.mode == BY_VARIANCE ? s * 2 * softplus((float)x) * slope : s * slope);
}

struct Moment2 { // Σ(σ² + (μ−μ₀)²) of each chunk, for fitted priors
	const float* theta;
	const Chunk* chunks;
	double* parts;
};
KERNEL_MANY(prior_moments, Moment2, OPT, 1, block_y) {
	const Chunk t = a.chunks[block()];
	int lo = t.lo, hi = t.hi;
	double s = 0, none = 0;
	if (t.random)
		for (int i = lo + thread(); i < hi; i += OPT) {
			float q = softplus(a.theta[t.rho + i]);
			double d = (double)a.theta[t.mean + i] - t.prior_mean - (t.center ? (double)t.center[i] : 0.0);
			s += (double)(q * q) + d * d;
		}
	total(s, none);
	if (thread() == 0) a.parts[block()] = s;
}
