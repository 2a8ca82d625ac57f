// The end of a step of a chain: the sums of the gradients' parts with KL and norm, then AdamW.
// A block has a chunk, and computes what needs no gradient while the launch before it ends.
#pragma once
#include "chain.h"

struct ChainUpdate {
	Norm norm;
	Adam adam;
	const Turn* turn;
	int sums, pad; // sums: the launch adds up; else it makes the step
};

// An Owned is the parameter of a thread: the distance of its mean from the centre of its prior, and
// what its step needs of it; absent ones are zeros.
struct Owned {
	int at;
	bool live;
	float mu, rho;
	Spread spread;
};

// begin reads the chunk of a block, the numbers of the step and a thread's first element.
DEVICE Owned begin(const ChainUpdate& c, int slot, Chunk& t, Control& k) {
	const Norm& norm = c.norm;
	int word = thread() % 32, warp = thread() / 32;
	if (warp == 0 && word < (int)sizeof(Chunk) / 8) ((uint64*)&t)[word] = fresh((const uint64*)(norm.chunks + block()) + word);
	if (warp == 1 && word < (int)sizeof(Control) / 8) ((uint64*)&k)[word] = fresh((const uint64*)(norm.control + slot) + word);
	barrier();
	Owned e = {t.lo + thread(), false, 0, 0, {}};
	if (e.live = e.at < t.hi; e.live) {
		e.mu = fresh(norm.theta + t.mean + e.at) - (t.center ? t.center[e.at] : 0.0f);
		if (t.random) e.rho = fresh(norm.theta + t.rho + e.at);
	}
	if (t.random) e.spread = spread(e.rho);
	return e;
}

// sum_parts adds up the parts of a gradient, in their order; eight are on their way at a time.
DEVICE float sum_parts(const Norm& a, int parts, long long at) {
	float sum = fresh(a.grad + at);
	for (int p = 1; p < parts; p += 8) {
		float x[8];
#pragma unroll
		for (int j = 0; j < 8; j++) x[j] = p + j < parts ? fresh(a.grad + (p + j) * a.size + at) : 0.0f;
#pragma unroll
		for (int j = 0; j < 8; j++)
			if (p + j < parts) sum += x[j];
	}
	return sum;
}

// update_chain adds up the parts of the gradients, KL and squared norm; or it makes the step,
// where every block adds up KL and norm of all chunks, in the same order.
DEVICE void update_chain(const ChainUpdate& c) {
	SHARED Chunk t;
	SHARED Control k;
	CHAIN_STAMP(2, 1);
	const Norm& a = c.norm;
	int slot = fresh(&c.turn->slot), finite = fresh(&c.turn->finite);
	Owned e = begin(c, slot, t, k);
	Prior prior = prior_of(t, k.kl);
	double kl = 0, n2 = 0;
	if (c.sums) {
		double constant = constant_of(t);
		if (e.live && t.random) kl = divergence(prior, e.spread, constant, e.mu);
		CHAIN_STAMP(2, 2);
		follow();
		CHAIN_STAMP(2, 3);
		if (!finite) return;
		for (int i = e.at; i < t.hi; i += OPT) {
			float gm = sum_parts(a, t.parts, t.mean + i), gs = t.random ? sum_parts(a, t.parts, t.rho + i) : 0.0f;
			if (t.parts > 1) {
				a.grad[t.mean + i] = gm;
				if (t.random) a.grad[t.rho + i] = gs;
			}
			if (i > e.at) { // not the first one
				e.mu = a.theta[t.mean + i] - (t.center ? t.center[i] : 0.0f), e.rho = t.random ? a.theta[t.rho + i] : 0.0f;
				if (t.random) e.spread = spread(e.rho), kl += divergence(prior, e.spread, constant, e.mu);
			}
			Weight w = whole(t, prior, e.spread, k.kl, e.mu, e.rho, gm, gs);
			if (t.random) n2 += (double)w.gr * w.gr;
			n2 += (double)w.g * w.g;
		}
		CHAIN_STAMP(2, 4);
		total(kl, n2);
		if (thread() == 0) a.parts[2 * block()] = kl, a.parts[2 * block() + 1] = n2;
		CHAIN_STAMP(2, 15);
		return;
	}
	Moments2 m = {};
	if (e.live) {
		m.m1 = fresh(c.adam.first + t.mean + e.at), m.m2 = fresh(c.adam.second + t.mean + e.at);
		if (t.random) m.r1 = fresh(c.adam.first + t.rho + e.at), m.r2 = fresh(c.adam.second + t.rho + e.at);
	}
	CHAIN_STAMP(3, 2);
	follow();
	CHAIN_STAMP(3, 3);
	if (!finite) return;
	float gm = 0, gs = 0;
	if (e.live) gm = fresh(a.grad + t.mean + e.at), gs = t.random ? fresh(a.grad + t.rho + e.at) : 0.0f;
	double nll = fresh(a.parts + 2 * a.count), floored = fresh(a.parts + 2 * a.count + 1);
	for (int i = thread(); i < a.count; i += OPT) kl += fresh(a.parts + 2 * i), n2 += fresh(a.parts + 2 * i + 1);
	total(kl, n2);
	CHAIN_STAMP(3, 4);
	if (is_finite(nll) && is_finite(kl + n2)) {
		float clip = clipping(k, n2);
		if (e.live) move_weight(c.adam, k, t, e.at, clip, whole(t, prior, e.spread, k.kl, e.mu, e.rho, gm, gs), m);
		update_chunk(c.adam, k, t, t.lo + OPT, clip);
	}
	if (block() == 0 && thread() == 0) publish(a, slot, conclude(k, kl, n2, nll, floored));
	CHAIN_STAMP(3, 15);
}
