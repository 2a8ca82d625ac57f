// The end of a step of small networks: what norm and adamw do, in one launch.
#pragma once
#include "optim.h"

struct Update {
	Norm norm;
	Adam adam;
	uint32* gate;    // blocks that wait at it, and how often it was opened
	int halves, pad; // which ones a launch runs
};
// Both halves in one launch need all blocks on the card at once.
enum { FIRST_HALF = 1, SECOND_HALF = 2 };

#ifndef EMULATED
// pass_gate waits for all blocks of a network. The last one opens the gate.
DEVICE void pass_gate(uint32* gate, uint32 all) {
	barrier();
	if (thread() == 0) {
		volatile uint32* opened = gate + 1;
		uint32 before = *opened;
		if (count_up(gate) + 1 == all) {
			*gate = 0;
			__nvvm_membar_gl();
			*opened = before + 1;
		} else {
			while (*opened == before) {}
		}
		__nvvm_membar_gl();
	}
	barrier();
}
#else
DEVICE void pass_gate(uint32*, uint32) {} // blocks run one after the other there: no launch has both halves
#endif

// fused_update has a block for each chunk, and one more for the scores of the rows. First
// each sums up its part; then each adds up all parts in the order of the chunks, and
// makes its part of the step. With both halves, what a thread needs of its first element
// stays in registers.
KERNEL_MANY(fused_update, Update, OPT, 2, block_y) {
	const Norm& norm = a.norm;
	bool stop = failed(norm.results), scores = block() == norm.count;
	int slot = norm.results->slot;
	SHARED Chunk t;
	SHARED Control k;
	int word = thread() % 32, warp = thread() / 32;
	if (warp == 0 && word < (int)sizeof(Chunk) / 8) ((uint64*)&t)[word] = scores ? 0 : ((const uint64*)(norm.chunks + block()))[word];
	if (warp == 1 && word < (int)sizeof(Control) / 8) ((uint64*)&k)[word] = ((const uint64*)(norm.control + slot))[word];
	barrier();
	if (stop) return;
	int first = t.lo + thread();
	Weight w = {};
	Moments2 m = {};
	bool both = a.halves == (FIRST_HALF | SECOND_HALF);
	if (a.halves & FIRST_HALF) {
		double x = 0, y = 0;
		if (both && first < t.hi) m = load_moments(a.adam, t, first);
		if (first < t.hi) w = sum_weight(norm, k, t, first, x, y);
		for (int i = first + OPT; i < t.hi; i += OPT) sum_weight(norm, k, t, i, x, y);
		for (int i = thread(); scores && i < norm.rows; i += OPT) x += norm.nll[i], y += norm.floored[i];
		total(x, y);
		if (thread() == 0) norm.parts[2 * block()] = x, norm.parts[2 * block() + 1] = y;
	}
	if (!(a.halves & SECOND_HALF)) return;
	if (both) pass_gate(a.gate, norm.count + 1);
	const volatile double* parts = norm.parts;
	double kl = 0, n2 = 0, nll = parts[2 * norm.count], floored = parts[2 * norm.count + 1];
	for (int i = thread(); i < norm.count; i += OPT) kl += parts[2 * i], n2 += parts[2 * i + 1];
	total(kl, n2);
	if (!scores && is_finite(nll) && is_finite(kl + n2)) {
		float clip = clipping(k, n2);
		if (both && first < t.hi) move_weight(a.adam, k, t, first, clip, w, m);
		update_chunk(a.adam, k, t, t.lo + (both ? OPT : 0), clip);
	}
	// The result replaces that of the step before once no block needs it any more.
	if (thread() != 0) return;
	if (both) {
		if (scores) publish(norm, slot, conclude(k, kl, n2, nll, floored));
	} else if (count_up(norm.done) == (uint32)norm.count) {
		publish(norm, slot, conclude(k, kl, n2, nll, floored));
		*norm.done = 0;
	}
}
