// Gradients of the weights, summed over the rows of a batch, and AdamW.
#include "optim.h"

// norm adds up the partial gradients and computes the KL and the squared norm of the
// whole gradient. The block that finishes last adds up what the others left, in the
// order of the chunks, and the scores of the rows.
KERNEL_MANY(norm, Norm, OPT, 1, block_y) {
	if (failed(a.results)) return;
	const Control k = a.control[a.results->slot];
	const Chunk t = a.chunks[block()];
	double kl = 0, n2 = 0;
	for (int i = t.lo + thread(); i < t.hi; i += OPT) sum_weight(a, k, t, i, kl, n2);
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
