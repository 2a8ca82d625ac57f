// Operations on rows. A block takes PER rows through a list of operations, so that a
// small network is one launch. Activations lie in global memory, where the gradients
// of the weights find them.
#include "program.h"
#include "closed.h"
#include "likelihood.h"
#include "joint.h"
#include "softmax_points.h"
#include "conditional.h"
#include "image.h"
#include "shared.h"
#include "covariance.h"
#include "embed.h"
#include "periodic.h"

constexpr int THREADS = 512, PER = 8, DEPTH = 128, MOST_OPS = 24;

struct Rows {
	const Op* ops;
	int first, count, rows, per; // per: rows of a block, at most PER
	const Control* control;
	const Result* results; // null in prediction
};

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

// A Sums holds the sums of one element: FORWARD has Σ m·w and Σ m²·s + v·(w²+s), the
// reverse Σ g·w, Σ h·s and Σ h·(w²+s).
struct Sums {
	float a, b, c;
};
// With correlations, c is Σ (m²+v)·s going forward.
enum { THROUGH, BACK, APART };
SHARED Sums others[PER][128]; // of another share of the depth

template <int WAY>
DEVICE void add(Sums& t, float x, float y, float w, float s, float w2) {
	t.a = fma(x, w, t.a);
	if (WAY == APART) t.c = fma(fma(x, x, y), s, t.c);
	if (WAY != BACK) {
		t.b = fma(x * x, s, t.b);
		t.b = fma(y, w2, t.b);
	} else {
		t.b = fma(y, s, t.b);
		t.c = fma(y, w2, t.c);
	}
}

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

// narrow multiplies rows by a matrix of few columns: a warp has a row and four columns, its
// threads share the depth, and their sums are added in a fixed order.
template <int WAY, int COUNT, class Store>
DEVICE void narrow(const float* a0, const float* a1, int rows, int depth, const float* w, const float* s, int width, Store store) {
	constexpr int C = 4, WARPS = COUNT / 32; // columns at a time; COUNT threads
	int lane = thread() % 32, groups = (width + C - 1) / C, tasks = rows * groups, turns = (tasks + WARPS - 1) / WARPS;
	for (int turn = 0; turn < turns; turn++) { // as many for all warps
		int task = turn * WARPS + thread() / 32, r = task < tasks ? task / groups : 0, c0 = task % groups * C;
		const float *p0 = a0 + (long long)r * depth, *p1 = a1 ? a1 + (long long)r * depth : 0;
		Sums t[C];
#pragma unroll
		for (int c = 0; c < C; c++) t[c] = {0, 0, 0};
#pragma unroll 2
		for (int k = lane; k < depth; k += 32) {
			float x = p0[k], y = p1 ? p1[k] : 0.0f;
#pragma unroll
			for (int c = 0; c < C; c++) {
				long long at = (long long)k * width + (c0 + c < width ? c0 + c : 0);
				float u = w[at], e = s ? s[at] : 0.0f;
				add<WAY>(t[c], x, y, u, e, fma(u, u, e));
			}
		}
#pragma unroll
		for (int c = 0; c < C; c++) {
			t[c].a = warp_sum(t[c].a), t[c].b = warp_sum(t[c].b);
			if (WAY != THROUGH) t[c].c = warp_sum(t[c].c);
			if (lane == 0 && task < tasks && c0 + c < width) store(r, c0 + c, t[c]);
		}
	}
}

template <int WAY, class Store>
DEVICE void product(const float* a0, const float* a1, int rows, int depth, const float* w, const float* s, int width, Store store) {
	if (width <= 16) narrow<WAY, THREADS>(a0, a1, rows, depth, w, s, width, store);
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

DEVICE void dense_back(const Op& o, long long r0, int rows) {
	product<BACK>(o.g + r0 * o.out, o.h ? o.h + r0 * o.out : 0, rows, o.out, o.wt, o.st, o.in, [&](int r, int c, Sums t) {
		long long at = (r0 + r) * o.in + c;
		o.dm[at] = fma(2 * o.m[at], t.b, t.a);
		if (o.dv) o.dv[at] = t.c;
	});
	if (!o.tv || !o.st) return;
	// What the weights add counts once more. The same thread has the same element.
	product<BACK>(o.tv + r0 * o.out, 0, rows, o.out, o.st, 0, o.in, [&](int r, int c, Sums t) {
		long long at = (r0 + r) * o.in + c;
		o.dm[at] = fma(2 * o.m[at], t.a, o.dm[at]);
		if (o.dv) o.dv[at] += t.a;
	});
}

DEVICE void apply(const Op& o, const Control& k, long long r0, int rows) {
	Key key = o.f.rule == SAMPLES ? sub_key(k.seed, k.step, o.f.index) : Key{0, 0};
	long long first = r0 * o.in;
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long at = first + i;
		if (!o.v) {
			o.om[at] = value(o.f, o.m[at]).f;
			continue;
		}
		float v = o.v[at];
		Moments p = push_any(o.f, o.m[at], v, key, k.row + r0 + i / o.in, i % o.in);
		o.om[at] = p.m, o.ov[at] = p.v;
		if (o.dm) o.dm[at] = p.slope, o.tape[at] = more(0.0f, p.v - p.slope * p.slope * v);
	}
}

// kappa_back is apply_back with a learned κ: the gradients by κ are summed over each row.
DEVICE void kappa_back(const Op& o, long long r0, int rows) {
	for (int r = 0; r < rows; r++) {
		double by_kappa = 0, none = 0;
		for (int i = thread(); i < o.in; i += threads()) {
			long long at = (r0 + r) * o.in + i;
			float g = o.g[at];
			if (!o.v) {
				if (o.dm) o.dm[at] = g * evaluate(o.f.op, o.f.a, o.m[at]).d;
				continue;
			}
			Moments p = push(o.f, o.m[at], o.v[at], Key{0, 0}, 0, 0);
			float h = o.h[at];
			if (o.dm) o.dm[at] = g * p.mm + h * p.vm, o.dv[at] = g * p.mv + h * p.vv;
			by_kappa += (double)g * p.mk + (double)h * p.vk;
		}
		total(by_kappa, none);
		if (thread() == 0) o.tape[r0 + r] = (float)by_kappa;
	}
}

DEVICE void apply_back(const Op& o, const Control& k, long long r0, int rows) {
	Key key = o.f.rule == SAMPLES ? sub_key(k.seed, k.step, o.f.index) : Key{0, 0};
	long long first = r0 * o.in;
	if (o.tape) {
		kappa_back(o, r0, rows);
		return;
	}
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long at = first + i;
		float g = o.g[at];
		if (!o.v) {
			o.dm[at] = g * value(o.f, o.m[at]).d;
			continue;
		}
		Moments p = push_any(o.f, o.m[at], o.v[at], key, k.row + r0 + i / o.in, i % o.in);
		float h = o.h[at], dm = g * p.mm + h * p.vm, dv = g * p.mv + h * p.vv;
		if (o.tv) rest_back(p, o.v[at], o.tm[at], o.tv[at], &dm, &dv);
		o.dm[at] = dm, o.dv[at] = dv;
	}
}

// The layers that act on each unit alone. Where correlations are carried, dm receives
// their slopes and tape what they add.
DEVICE void unit(const Op& o, long long r0, int rows) {
	float keep = 1 - (float)o.p;
	bool addition = o.kind == OP_NOISE || o.kind == OP_DROPOUT;
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long at = r0 * o.in + i;
		int u = i % o.in;
		float m = o.m ? o.m[at] : 0.0f, v = o.v ? o.v[at] : 0.0f, g = o.g ? o.g[at] : 0.0f, h = o.h ? o.h[at] : 0.0f;
		float dg = o.tm ? o.tm[at] : 0.0f, de = o.tv ? o.tv[at] : 0.0f;
		float om = m, ov = v, dm = g, dv = h, adds = 0, a;
		switch (o.kind) {
		case OP_NOISE:
			a = o.raw ? softplus(o.raw[u]) : 0.0f;
			ov = v + a * a, adds = a * a;
			break;
		case OP_NOISE_BACK:
			if (o.tape) o.tape[at] = o.raw ? h + de : 0.0f;
			break;
		case OP_SCALE:
			a = softplus(o.raw[u]);
			om = m / a, ov = v / (a * a), dm = 1 / a;
			break;
		case OP_SCALE_BACK:
			a = softplus(o.raw[u]);
			if (o.tape) o.tape[at] = -(g * (m / a) + 2 * h * (v / (a * a)) + dg / a) / a;
			dm = g / a, dv = h / (a * a);
			break;
		case OP_MULTIPLY:
			om = m * o.raw[u] + (o.b ? o.b[u] : 0.0f), ov = v * (o.raw[u] * o.raw[u]), dm = o.raw[u];
			break;
		case OP_MULTIPLY_BACK:
			dm = g * o.raw[u], dv = h * (o.raw[u] * o.raw[u]);
			break;
		case OP_DROPOUT:
			ov = ((float)o.p * m * m + v) / keep, adds = ov - v;
			break;
		case OP_DROPOUT_BACK:
			a = de * (float)o.p / keep;
			dv = h / keep, dm = g + 2 * (float)o.p * m * dv + 2 * m * a, dv += a;
			break;
		case OP_SENSE_ADD:
			dv = o.dv[at] + de;
			break;
		}
		if (addition && o.tape) o.tape[at] = adds;
		if (o.om) o.om[at] = om;
		if (o.ov) o.ov[at] = ov;
		if (o.dm) o.dm[at] = dm;
		if (o.dv) o.dv[at] = dv;
	}
}

// input gathers the rows of a step: those of a table that index names, or the ones that
// the host sent.
DEVICE void input(const Op& o, int slot, long long r0, int rows) {
	long long first = (long long)slot * o.room + r0;
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long row = first + i / o.in, from = (o.index ? o.index[row] : row) * o.in + i % o.in;
		o.om[r0 * o.in + i] = o.tm[from];
		if (o.ov) o.ov[r0 * o.in + i] = o.tv[from];
	}
	for (int i = thread(); i < rows * o.targets; i += threads()) {
		long long row = first + i / o.targets;
		o.yo[r0 * o.targets + i] = o.ty[(o.index ? o.index[row] : row) * o.targets + i % o.targets];
	}
}

KERNEL_MANY(rows, Rows, THREADS, 1, block_y) {
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
			if (o.tape) dense<APART>(o, r0, n);
			else dense<THROUGH>(o, r0, n);
			break;
		case OP_DENSE_BACK: dense_back(o, r0, n); break;
		case OP_APPLY: apply(o, k, r0, n); break;
		case OP_APPLY_BACK: apply_back(o, k, r0, n); break;
		case OP_SCORE:
			if (thread() % 32 == 0 && thread() / 32 < n) score(o, k.batch, r0 + thread() / 32);
			break;
		case OP_ADD: add(o, r0, n); break;
		case OP_PIECEWISE: piecewise(o, r0, n); break;
		case OP_PIECEWISE_BACK: piecewise_back(o, r0, n); break;
		case OP_PERIODIC: periodic(o, r0, n); break;
		case OP_PERIODIC_BACK: periodic_back(o, r0, n); break;
		case OP_APPEND: append(o, r0, n); break;
		case OP_APPEND_BACK: append_back(o, r0, n); break;
		case OP_LAYER_NORM: layer_norm(o, r0, n); break;
		case OP_LAYER_NORM_BACK: layer_norm_back(o, r0, n); break;
		case OP_SOFTMAX: softmax(o, r0, n); break;
		case OP_SOFTMAX_BACK: softmax_back(o, r0, n); break;
		case OP_SOFTMAX_POINTS: softmax_points(o, k, r0, n); break;
		case OP_SOFTMAX_POINTS_BACK: softmax_points_back(o, k, r0, n); break;
		case OP_CONDITIONAL: conditional(o, r0, n); break;
		case OP_CONDITIONAL_BACK: conditional_back(o, r0, n); break;
		case OP_EMBED: embed(o, r0, n); break;
		case OP_EMBED_BACK: embed_back(o, r0, n); break;
		case OP_COV: scale_cov(o, r0, n); break;
		case OP_COV_BACK: scale_cov_back(o, r0, n); break;
		case OP_AVG_POOL: avg_pool(o, r0, n); break;
		case OP_AVG_POOL_BACK: avg_pool_back(o, r0, n); break;
		case OP_MAX_POOL: max_pool(o, r0, n); break;
		case OP_MAX_POOL_BACK: max_pool_back(o, r0, n); break;
		case OP_APART: apart(o, r0, n); break;
		case OP_APART_BACK: apart_back(o, r0, n); break;
		case OP_SENSE_START:
		case OP_SENSE_DENSE:
		case OP_SENSE_UNITS:
		case OP_SENSE_END: sense(o, r0, n); break;
		case OP_SENSE_BACK:
		case OP_SENSE_DENSE_BACK: sense_back(o, r0, n); break;
		case OP_SENSE_SUM:
		case OP_SENSE_AVG:
		case OP_SENSE_AVG_BACK:
		case OP_SENSE_MAX:
		case OP_SENSE_MAX_BACK:
		case OP_SENSE_CONV:
		case OP_SENSE_CONV_BACK:
		case OP_SENSE_NORM:
		case OP_SENSE_NORM_BACK: sense_other(o, r0, n); break;
		default: unit(o, r0, n);
		}
	}
}
