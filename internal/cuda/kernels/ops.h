// Operations on a few rows that rows, thin and fused have in common.
#pragma once
#include "program.h"
#include "sums.h"
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

constexpr int MOST_OPS = 24;

struct Rows {
	const Op* ops;
	int first, count, rows, per; // per: rows of a block, at most PER
	const Control* control;
	const Result* results; // null in prediction
};

// A Matrix holds the moments of weights; element (k, c) lies at k·down + c·across.
struct Matrix {
	const float *w, *s; // s is null if they are numbers
	int down, across;
};

// narrow multiplies rows by a matrix of few columns: a warp has a row and four columns, its
// threads share the depth, and their sums are added in a fixed order.
template <int WAY, int COUNT, class Store>
DEVICE void narrow(const float* a0, const float* a1, int rows, int depth, Matrix b, int width, Store store) {
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
				long long at = (long long)k * b.down + (long long)(c0 + c < width ? c0 + c : 0) * b.across;
				float u = b.w[at], e = b.s ? b.s[at] : 0.0f;
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

// shallow multiplies rows by a matrix of few rows: a thread has an element.
template <int WAY, int COUNT, class Store>
DEVICE void shallow(const float* a0, const float* a1, int rows, int depth, Matrix b, int width, Store store) {
	for (int i = thread(); i < rows * width; i += COUNT) {
		int r = i / width, c = i % width;
		Sums t = {0, 0, 0};
#pragma unroll 4
		for (int k = 0; k < depth; k++) {
			float x = a0[r * depth + k], y = a1 ? a1[r * depth + k] : 0.0f;
			long long at = (long long)k * b.down + (long long)c * b.across;
			float u = b.w[at], e = b.s ? b.s[at] : 0.0f;
			add<WAY>(t, x, y, u, e, fma(u, u, e));
		}
		store(r, c, t);
	}
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

// Operations that few networks have take the driver long to compile, so kernels exist with
// them and without. The kernel fused never has those that are RARE. A kernel that meets an
// operation that it does not have stops.
enum { COMMON, COUPLED, RARE };

DEVICE void rare(const Op& o, const Control& k, long long r0, int n) {
	switch (o.kind) {
	case OP_SOFTMAX_POINTS: softmax_points(o, k, r0, n); break;
	case OP_SOFTMAX_POINTS_BACK: softmax_points_back(o, k, r0, n); break;
	case OP_COV: scale_cov(o, r0, n); break;
	case OP_COV_BACK: scale_cov_back(o, r0, n); break;
	case OP_AVG_POOL: avg_pool(o, r0, n); break;
	case OP_AVG_POOL_BACK: avg_pool_back(o, r0, n); break;
	case OP_MAX_POOL: max_pool(o, r0, n); break;
	case OP_MAX_POOL_BACK: max_pool_back(o, r0, n); break;
	default: __builtin_trap();
	}
}

template <int MOST>
DEVICE void coupled(const Op& o, const Control& k, long long r0, int n) {
	switch (o.kind) {
	case OP_SOFTMAX: softmax(o, r0, n); break;
	case OP_SOFTMAX_BACK: softmax_back(o, r0, n); break;
	case OP_CONDITIONAL: conditional(o, r0, n); break;
	case OP_CONDITIONAL_BACK: conditional_back(o, r0, n); break;
	default:
		if constexpr (MOST == RARE) rare(o, k, r0, n);
		else __builtin_trap();
	}
}

// other runs the operations that no kernel has code of its own for, up to those of MOST.
template <int MOST>
DEVICE void other(const Op& o, const Control& k, long long r0, int n) {
	switch (o.kind) {
	case OP_ADD: add(o, r0, n); break;
	case OP_PIECEWISE: piecewise(o, r0, n); break;
	case OP_PIECEWISE_BACK: piecewise_back(o, r0, n); break;
	case OP_PERIODIC: periodic(o, r0, n); break;
	case OP_PERIODIC_BACK: periodic_back(o, r0, n); break;
	case OP_APPEND: append(o, r0, n); break;
	case OP_APPEND_BACK: append_back(o, r0, n); break;
	case OP_LAYER_NORM: layer_norm(o, r0, n); break;
	case OP_LAYER_NORM_BACK: layer_norm_back(o, r0, n); break;
	case OP_EMBED: embed(o, r0, n); break;
	case OP_EMBED_BACK: embed_back(o, r0, n); break;
	case OP_NOISE:
	case OP_NOISE_BACK:
	case OP_SCALE:
	case OP_SCALE_BACK:
	case OP_MULTIPLY:
	case OP_MULTIPLY_BACK:
	case OP_DROPOUT:
	case OP_DROPOUT_BACK:
	case OP_SENSE_ADD: unit(o, r0, n); break;
	default:
		if constexpr (MOST > COMMON) coupled<MOST>(o, k, r0, n);
		else __builtin_trap();
	}
}
