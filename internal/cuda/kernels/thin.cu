// Operations on rows that need few registers: layers with few inputs or few outputs, and
// what acts on each unit. The kernel is rows without its wide layers; several of its
// blocks fit into a multiprocessor and hide each other's waiting.

constexpr int THIN = 256; // threads of a block

template <int WAY, class Store>
DEVICE void thin_product(const float* a0, const float* a1, int rows, int depth, const float* w, const float* s, int width, Store store) {
	Matrix b = {w, s, width, 1};
	if (depth <= SHALLOW) shallow<WAY, THIN>(a0, a1, rows, depth, b, width, store);
	else narrow<WAY, THIN>(a0, a1, rows, depth, b, width, store);
}

// Each operation is a function of its own, so that one does not take registers from the
// others.
CALLED void thin_dense(const Op& o, long long r0, int n) {
	thin_product<THROUGH>(o.m + r0 * o.in, o.v ? o.v + r0 * o.in : 0, n, o.in, o.w, o.s, o.out, [&](int r, int c, Sums t) {
		long long at = (r0 + r) * o.out + c;
		o.om[at] = t.a + (o.b ? o.b[c] : 0.0f);
		if (o.ov) o.ov[at] = t.b + (o.bs ? o.bs[c] : 0.0f);
	});
}
CALLED void thin_dense_back(const Op& o, long long r0, int n) {
	thin_product<BACK>(o.g + r0 * o.out, o.h ? o.h + r0 * o.out : 0, n, o.out, o.wt, o.st, o.in, [&](int r, int c, Sums t) {
		long long at = (r0 + r) * o.in + c;
		o.dm[at] = fma(2 * o.m[at], t.b, t.a);
		if (o.dv) o.dv[at] = t.c;
	});
}
CALLED void thin_apply(const Op& o, const Control& k, long long r0, int n) { apply(o, k, r0, n); }
CALLED void thin_apply_back(const Op& o, const Control& k, long long r0, int n) { apply_back(o, k, r0, n); }
CALLED void thin_unit(const Op& o, long long r0, int n) { unit(o, r0, n); }

KERNEL_MANY(thin, Rows, THIN, 3, block_y) {
	SHARED Op all[MOST_OPS];
	SHARED Control k;
	SHARED int slot;
	bool stop = failed(a.results); // the loads go on meanwhile
	const Op* ops = a.ops + a.first;
	for (int j = thread(); j < a.count * (int)(sizeof(Op) / 8); j += THIN) ((uint64*)all)[j] = ((const uint64*)ops)[j];
	if (thread() == 0) slot = a.results ? a.results->slot : 0, k = a.control[slot];
	if (stop) return;
	long long r0 = (long long)block() * a.per;
	int n = less(a.per, a.rows - (int)r0);
	for (int i = 0; i < a.count; i++) {
		barrier();
		const Op& o = all[i];
		switch (o.kind) {
		case OP_INPUT: input(o, slot, r0, n); break;
		case OP_DENSE: thin_dense(o, r0, n); break;
		case OP_DENSE_BACK: thin_dense_back(o, r0, n); break;
		case OP_APPLY: thin_apply(o, k, r0, n); break;
		case OP_APPLY_BACK: thin_apply_back(o, k, r0, n); break;
		case OP_SCORE:
			if (thread() < n) score(o, k.batch, r0 + thread());
			break;
		default: thin_unit(o, r0, n);
		}
	}
}
