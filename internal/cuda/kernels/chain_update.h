// The end of a step of a chain: AdamW, given the sums of chain_gradients.
#pragma once
#include "chain.h"

struct ChainUpdate {
	Norm norm;
	Adam adam;
	const Turn* turn;
};

// chain_update has a block for each chunk. It loads the parameters and their moments while
// the launch before it ends. Every block adds up the regions, in the same order.
KERNEL_CHAIN(chain_update, ChainUpdate, OPT, 2) {
	SHARED Chunk t;
	SHARED Control k;
	const Norm& norm = c.norm;
	Turn turn = {fresh(&c.turn->slot), fresh(&c.turn->finite)};
	int word = thread() % 32, warp = thread() / 32;
	if (warp == 0 && word < (int)sizeof(Chunk) / 8) ((uint64*)&t)[word] = fresh((const uint64*)(norm.chunks + block()) + word);
	if (warp == 1 && word < (int)sizeof(Control) / 8) ((uint64*)&k)[word] = fresh((const uint64*)(norm.control + turn.slot) + word);
	barrier();
	int first = t.lo + thread();
	bool live = first < t.hi;
	float mu = 0, rho = 0, gm = 0, gs = 0;
	Moments2 m = {};
	if (live) {
		long long at = t.mean + first, ar = t.rho + first;
		mu = fresh(norm.theta + at) - (t.center ? t.center[first] : 0.0f), m.m1 = fresh(c.adam.first + at), m.m2 = fresh(c.adam.second + at);
		if (t.random) rho = fresh(norm.theta + ar), m.r1 = fresh(c.adam.first + ar), m.r2 = fresh(c.adam.second + ar);
	}
	Spread s = {};
	if (t.random) s = spread(rho);
	Prior prior = prior_of(t, k.kl);
	follow();
	if (!turn.finite) return;
	if (live) gm = norm.grad[t.mean + first], gs = t.random ? norm.grad[t.rho + first] : 0.0f;
	double kl = 0, n2 = 0, nll = norm.parts[2 * norm.count], floored = norm.parts[2 * norm.count + 1];
	for (int i = thread(); i < norm.count; i += OPT) kl += norm.parts[2 * i], n2 += norm.parts[2 * i + 1];
	total(kl, n2);
	if (is_finite(nll) && is_finite(kl + n2)) {
		float clip = clipping(k, n2);
		if (live) move_weight(c.adam, k, t, first, clip, whole(t, prior, s, k.kl, mu, rho, gm, gs), m);
		update_chunk(c.adam, k, t, t.lo + OPT, clip);
	}
	if (block() == 0 && thread() == 0) publish(norm, turn.slot, conclude(k, kl, n2, nll, floored));
}
