// Operations on rows. A block takes PER rows through a list of operations, so that a
// small network is one launch. Activations lie in global memory, where the gradients
// of the weights find them.
#include "ops.h"

constexpr int DEPTH = 128;

struct alignas(16) Quad {
	float x[4];
};
SHARED Quad left0[DEPTH * PER / 4], left1[DEPTH * PER / 4]; // operands of PER rows, a row of PER for each k

DEVICE void stage(const float* a0, const float* a1, int rows, int depth, int k0, int kn) {
	barrier();
	for (int i = thread(); i < kn * PER; i += THREADS) {
		int r = i / kn, k = i % kn;
		left0[(k * PER + r) / 4].x[r % 4] = r < rows ? a0[(long long)r * depth + k0 + k] : 0.0f;
		left1[(k * PER + r) / 4].x[r % 4] = r < rows && a1 ? a1[(long long)r * depth + k0 + k] : 0.0f;
	}
	barrier();
}

SHARED Sums others[PER][128]; // of another share of the depth

// wide multiplies PER rows by a matrix of many columns. A thread has one column, all
// rows, and its share of the depth; the shares are added in order.
template <int WAY, class Store>
DEVICE void wide(const float* a0, const float* a1, int rows, int depth, const float* w, const float* s, int width, Store store) {
	constexpr int COLS = 128, SHARES = THREADS / COLS, SHARE = DEPTH / SHARES;
	int c = thread() % COLS, share = thread() / COLS;
	for (int base = 0; base < width; base += COLS) {
		int col = base + c, safe = col < width ? col : 0;
		Sums t[PER];
#pragma unroll
		for (int r = 0; r < PER; r++) t[r] = {0, 0, 0};
		for (int k0 = 0; k0 < depth; k0 += DEPTH) {
			int kn = less(DEPTH, depth - k0);
			if (base == 0 || depth > DEPTH) stage(a0, a1, rows, depth, k0, kn);
			int per = (kn + SHARES - 1) / SHARES, k = share * per, end = less(kn, k + per);
			const float *pw = w + (long long)k0 * width + safe, *ps = s ? s + (long long)k0 * width + safe : pw;
			constexpr int AHEAD = SHARE / 2;
			for (; k < end; k += AHEAD) { // all loads first: they take longest
				float x[AHEAD], y[AHEAD];
#pragma unroll
				for (int i = 0; i < AHEAD; i++) {
					bool in = k + i < end;
					x[i] = in ? pw[(long long)(k + i) * width] : 0.0f, y[i] = in && s ? ps[(long long)(k + i) * width] : 0.0f;
				}
#pragma unroll
				for (int i = 0; i < AHEAD; i++) {
					float w2 = fma(x[i], x[i], y[i]);
					int at = (k + i < end ? k + i : 0) * PER / 4;
#pragma unroll
					for (int q = 0; q < PER / 4; q++) {
						Quad m = left0[at + q], v = left1[at + q];
#pragma unroll
						for (int r = 0; r < 4; r++) add<WAY>(t[4 * q + r], m.x[r], v.x[r], x[i], y[i], w2);
					}
				}
			}
		}
		for (int i = 1; i < SHARES; i++) {
			barrier();
			if (share == i)
#pragma unroll
				for (int r = 0; r < PER; r++) others[r][c] = t[r];
			barrier();
			if (share == 0)
#pragma unroll
				for (int r = 0; r < PER; r++) t[r].a += others[r][c].a, t[r].b += others[r][c].b, t[r].c += others[r][c].c;
		}
		if (share == 0 && col < width)
#pragma unroll
			for (int r = 0; r < PER; r++)
				if (r < rows) store(r, col, t[r]);
	}
}

template <int WAY, class Store>
DEVICE void product(const float* a0, const float* a1, int rows, int depth, const float* w, const float* s, int width, Store store) {
	if (width <= SHALLOW) narrow<WAY, THREADS>(a0, a1, rows, depth, {w, s, width, 1}, width, store);
	else wide<WAY>(a0, a1, rows, depth, w, s, width, store);
}

template <int WAY>
DEVICE void dense(const Op& o, long long r0, int rows) {
	product<WAY>(o.m + r0 * o.in, o.v ? o.v + r0 * o.in : 0, rows, o.in, o.w, o.s, o.out, [&](int r, int c, Sums t) {
		long long at = (r0 + r) * o.out + c;
		float more = o.bs ? o.bs[c] : 0.0f;
		o.om[at] = t.a + (o.b ? o.b[c] : 0.0f);
		if (o.ov) o.ov[at] = t.b + more;
		if (WAY == APART) o.tape[at] = t.c + more;
	});
}

#include "sense.h"

template <bool ALL>
DEVICE void dense_back(const Op& o, long long r0, int rows) {
	product<BACK>(o.g + r0 * o.out, o.h ? o.h + r0 * o.out : 0, rows, o.out, o.wt, o.st, o.in, [&](int r, int c, Sums t) {
		long long at = (r0 + r) * o.in + c;
		o.dm[at] = fma(2 * o.m[at], t.b, t.a);
		if (o.dv) o.dv[at] = t.c;
	});
	if (!ALL || !o.tv || !o.st) return;
	// What the weights add counts once more. The same thread has the same element.
	product<BACK>(o.tv + r0 * o.out, 0, rows, o.out, o.st, 0, o.in, [&](int r, int c, Sums t) {
		long long at = (r0 + r) * o.in + c;
		o.dm[at] = fma(2 * o.m[at], t.a, o.dm[at]);
		if (o.dv) o.dv[at] += t.a;
	});
}

// correlated runs the operations of correlations.
DEVICE void correlated(const Op& o, long long r0, int n) {
	switch (o.kind) {
	case OP_APART: apart(o, r0, n); break;
	case OP_APART_BACK: apart_back(o, r0, n); break;
	case OP_SENSE_START:
	case OP_SENSE_DENSE:
	case OP_SENSE_UNITS:
	case OP_SENSE_END: sense(o, r0, n); break;
	case OP_SENSE_BACK:
	case OP_SENSE_DENSE_BACK: sense_back(o, r0, n); break;
	default: sense_other(o, r0, n);
	}
}

template <bool ALL>
DEVICE void take_rows(const Rows& a) {
	if (failed(a.results)) return;
	long long r0 = (long long)block() * a.per;
	int n = less(a.per, a.rows - (int)r0);
	const Op* ops = a.ops + a.first;
	int slot = a.results ? a.results->slot : 0;
	const Control k = a.control[slot];
	SHARED Op all[MOST_OPS]; // read again and again
	for (int j = thread(); j < a.count * (int)(sizeof(Op) / 8); j += THREADS) ((uint64*)all)[j] = ((const uint64*)ops)[j];
	for (int i = 0; i < a.count; i++) {
		barrier();
		const Op& o = all[i];
		switch (o.kind) {
		case OP_INPUT: input(o, slot, r0, n); break;
		case OP_DENSE:
			if (!o.tape) dense<THROUGH>(o, r0, n);
			else if constexpr (ALL) dense<APART>(o, r0, n);
			else __builtin_trap();
			break;
		case OP_DENSE_BACK: dense_back<ALL>(o, r0, n); break;
		case OP_APPLY: apply(o, k, r0, n); break;
		case OP_APPLY_BACK: apply_back(o, k, r0, n); break;
		case OP_SCORE:
			if (thread() % 32 == 0 && thread() / 32 < n) score(o, k.batch, r0 + thread() / 32);
			break;
		case OP_APART:
		case OP_APART_BACK:
		case OP_SENSE_START:
		case OP_SENSE_DENSE:
		case OP_SENSE_UNITS:
		case OP_SENSE_END:
		case OP_SENSE_BACK:
		case OP_SENSE_DENSE_BACK:
		case OP_SENSE_SUM:
		case OP_SENSE_AVG:
		case OP_SENSE_AVG_BACK:
		case OP_SENSE_MAX:
		case OP_SENSE_MAX_BACK:
		case OP_SENSE_CONV:
		case OP_SENSE_CONV_BACK:
		case OP_SENSE_NORM:
		case OP_SENSE_NORM_BACK:
			if constexpr (ALL) correlated(o, r0, n);
			else __builtin_trap();
			break;
		default: other<ALL ? RARE : COMMON>(o, k, r0, n);
		}
	}
}
KERNEL_MANY(rows, Rows, THREADS, 1, block_y) { take_rows<false>(a); }
KERNEL_MANY(rows_any, Rows, THREADS, 1, block_y) { take_rows<true>(a); }
