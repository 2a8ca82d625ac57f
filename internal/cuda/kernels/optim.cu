// Gradients of the weights, summed over the rows of a batch, and AdamW.
#include "optim.h"

// sum_chunk is sum_weight for all elements of a chunk. A thread loads AHEAD of them before
// it computes; the order of the sums does not depend on it.
template <int AHEAD>
DEVICE void sum_chunk(const Norm& a, const Control& k, const Chunk& t, double& kl, double& n2) {
	Prior prior = prior_of(t, k.kl);
	double constant = t.random ? loga(t.prior_var) / 2 - 0.5 : 0.0;
	const float *mean = a.theta + t.mean, *rho = a.theta + t.rho, *center = t.center;
	float *gmean = a.grad + t.mean, *grho = a.grad + t.rho;
	long long size = a.size;
	int parts = t.parts, hi = t.hi;
	bool random = t.random;
	for (int first = t.lo + thread(); first < hi; first += AHEAD * OPT) {
		float gm[AHEAD], gs[AHEAD], mu[AHEAD], ro[AHEAD], mid[AHEAD];
#pragma unroll
		for (int j = 0; j < AHEAD; j++) {
			int i = first + j * OPT;
			bool in = i < hi, both = in && random;
			gm[j] = in ? gmean[i] : 0.0f, gs[j] = both ? grho[i] : 0.0f;
			mu[j] = both ? mean[i] : 0.0f, ro[j] = both ? rho[i] : 0.0f, mid[j] = both && center ? center[i] : 0.0f;
		}
#pragma unroll 3
		for (int p = 1; p < parts; p++)
#pragma unroll
			for (int j = 0; j < AHEAD; j++) {
				int i = first + j * OPT;
				if (i >= hi) continue;
				gm[j] += gmean[p * size + i];
				if (random) gs[j] += grho[p * size + i];
			}
		Spread s[AHEAD];
#pragma unroll
		for (int j = 0; j < AHEAD; j++) s[j] = spread(ro[j]);
#pragma unroll
		for (int j = 0; j < AHEAD; j++) {
			int i = first + j * OPT;
			if (i >= hi) continue;
			if (parts > 1) gmean[i] = gm[j];
			if (parts > 1 && random) grho[i] = gs[j];
			Weight w = whole(t, prior, s[j], k.kl, mu[j] - mid[j], ro[j], gm[j], gs[j]);
			if (random) {
				float d = w.mu - prior.mean;
				n2 += (double)w.gr * w.gr;
				kl += 0.5 * (double)prior.by * ((double)s[j].sigma * s[j].sigma + (double)d * d) + constant - s[j].ln;
			}
			n2 += (double)w.g * w.g;
		}
	}
}

// norm adds up the partial gradients and computes the KL and the squared norm of the
// whole gradient. The block that finishes last adds up what the others left, in the
// order of the chunks, and the scores of the rows.
KERNEL_MANY(norm, Norm, OPT, 3, block_y) {
	if (failed(a.results)) return;
	SHARED Control k; // registers are for what is loaded ahead
	SHARED Chunk t;
	copy_words(t, a.chunks[block()], 0), copy_words(k, a.control[a.results->slot], 32);
	barrier();
	double kl = 0, n2 = 0;
	sum_chunk<4>(a, k, t, kl, n2);
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
#pragma unroll 2
	for (int i = thread(); i < a.count; i += OPT) kl += parts[2 * i], n2 += parts[2 * i + 1];
	total(kl, n2);
	double nll = 0, floored = 0;
#pragma unroll 4
	for (int i = thread(); i < a.rows; i += OPT) nll += a.nll[i], floored += a.floored[i];
	total(nll, floored);
	if (thread() != 0) return;
	publish(a, a.results->slot, conclude(k, kl, n2, nll, floored));
	*a.done = 0;
}

KERNEL_MANY(adamw, Adam, OPT, 1, block_y) {
	if (!a.prepare && failed(a.results)) return;
	int next = a.prepare ? 0 : a.results->slot; // norm has counted this step
	const Control k = a.control[a.prepare ? 0 : (next ? next : a.slots) - 1];
	const Chunk t = a.chunks[block()];
	update_chunk(a, k, t, t.lo, a.results->clip);
}

// columns adds up the gradients of learned numbers over the rows, and applies the
// chain rule to their raw values.
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
