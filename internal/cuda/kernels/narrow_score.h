// The last layer of many networks and what follows it: few outputs, layers that act on each
// of them, and the score.
#pragma once
#include "chain.h"
#include "ops.h"

struct NarrowScore {
	Product p;
	Rows rows;
};

// narrow_score is narrow_forward, then the operations of a launch of thin for the same rows:
// layers that act on each unit, and the score.
KERNEL_CHAIN(narrow_score, NarrowScore, NARROW_THREADS, 1) {
	SHARED Op all[MOST_OPS];
	const Rows& a = c.rows;
	const Op* ops = a.ops + a.first;
	for (int j = thread(); j < a.count * (int)(sizeof(Op) / 8); j += NARROW_THREADS) ((uint64*)all)[j] = ((const uint64*)ops)[j];
	int batch = fresh(&a.control[fresh(&a.results->slot)].batch);
	follow();
	if (failed(a.results)) return;
	BY_OUTPUTS(narrow_forward_by, c.p)
	long long r0 = (long long)block() * NARROW_ROWS;
	int n = less(NARROW_ROWS, a.rows - (int)r0);
	for (int i = 0; i < a.count; i++) {
		barrier();
		const Op& o = all[i];
		if (o.kind == OP_SCORE) score_rows(o, batch, r0, n);
		else unit(o, r0, n);
	}
}
