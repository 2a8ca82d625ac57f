// What follows a product of planes: the bias, the function behind it or before it, and the
// planes for the next product.
#pragma once
#include "chain.h"
#include "planes.h"

// A Gather takes the rows of a batch from a table, or from those of all queued steps. The
// batch is kept with its targets.
struct Gather {
	const int* index; // rows of the table; null: rows of steps, one behind the other
	float *m, *v;
	const float* targets;
	float* y;
	int room, width; // rows of a step, 0: nothing is gathered; targets of a row
};
struct CutPlanes {
	const float *a, *b; // b may be null
	int rows, cols;
	Cuts cuts;
	Gather from;
	const Result* results;
};
KERNEL_CHAIN(cut_planes, CutPlanes, CUT_THREADS, 4) {
	const CutPlanes& a = c;
	const Gather& g = a.from;
	follow();
	bool stop = failed(a.results); // the loads go on meanwhile
	int first = a.results && g.room ? a.results->slot * g.room : 0;
	auto row = [&](int r) { return g.index ? g.index[first + r] : first + r; };
	each_block(a.rows, a.cols, [&](int r, int c, bool in, int turn) {
		int from = in ? row(r) : 0;
		Span x = read4(a.a, from, c, a.cols, in), y = read4(a.b, from, c, a.cols, in);
		if (stop) return;
		cut_all(a.cuts, r, c, in, x, y, turn);
		if (!g.room) return;
		write4(g.m, r, c, a.cols, in, x);
		write4(g.v, r, c, a.cols, in, y);
		if (c >= BLOCK) return;
		for (int i = thread(); i < BLOCK * g.width; i += CUT_THREADS) {
			int k = r - thread() / 8 + i / g.width;
			if (k < a.rows) g.y[k * g.width + i % g.width] = g.targets[(long long)row(k) * g.width + i % g.width];
		}
	});
}

// cut_weights cuts the weights of layers when they are new: their means, variances and squares
// of means. wide_adamw cuts those that it updates.
struct CutTensor {
	const float *mean, *rho;
	int rows, cols, first, chunk; // first: of its blocks, those of all tensors one behind the other; its first chunk
	Planes to[3];
};
DEVICE void cut_weight(const CutTensor& t, int r, int c, bool in, const Span& mean, const Span& rho, int turn) {
	Span s = each_of([&](int j) { return softplus(rho.x[j]); }), x = inside(mean, c, t.cols);
	const Span q[3] = {x, inside(each_of([&](int j) { return s.x[j] * s.x[j]; }), c, t.cols), each_of([&](int j) { return x.x[j] * x.x[j]; })};
	cut_these(t.to, 3, false, r, c, in, q, turn);
}
struct CutWeights {
	const CutTensor* all;
	int count, blocks;
};
KERNEL_CHAIN(cut_weights, CutWeights, CUT_THREADS, 4) {
	const CutWeights& a = c;
	follow();
	for (int i = block(), n = 0, turn = 0; i < a.blocks; i += blocks(), turn++) {
		while (n + 1 < a.count && i >= a.all[n + 1].first) n++;
		const CutTensor& t = a.all[n];
		int cols = t.cols, at = i - t.first, across = (cols + BLOCK - 1) / BLOCK, r = at / across * BLOCK + thread() / 8, c = at % across * BLOCK + thread() % 8 * 4;
		bool in = r < t.rows;
		Span x = read4(t.mean, r, c, cols, in), rho = read4(t.rho, r, c, cols, in);
		cut_weight(t, r, c, in, x, rho, turn);
	}
}

// wide_finish ends a product: it adds the bias and applies a function, or its reverse, to
// the sums of each element, and cuts the results for the next product.
struct WideFinish {
	Product p;
	const float* sums; // of up to three products, one behind the other
	long long far;
	int pitch, products;
	Cuts cuts;
};
// Reverse is what the reverse of a product needs of an element besides its sums.
struct Reverse {
	Span x, m, v;
};
DEVICE Reverse load_reverse(const Product& p, int r, int c, bool in) {
	return {read4(p.e0, r, c, p.cols, in), read4(p.fused ? p.q0 : 0, r, c, p.cols, in), read4(p.fused ? p.q1 : 0, r, c, p.cols, in)};
}
// finish_backward has the sums of g·w, h·s and h·(w²+s).
template <int WHAT>
DEVICE void finish_backward(const WideFinish& a, int r, int c, bool in, int turn, const Reverse& l, Span g, const Span& s, Span h) {
	const Product& p = a.p;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		Finished f = before<WHAT>(p, fma(2 * l.x.x[i], s.x[i], g.x[i]), h.x[i], l.m.x[i], l.v.x[i]);
		g.x[i] = f.m, h.x[i] = f.v;
	}
	write4(p.o0, r, c, p.cols, in, g);
	write4(p.o1, r, c, p.cols, in, h);
	cut_all(a.cuts, r, c, in, inside(g, c, p.cols), inside(h, c, p.cols), turn);
}
struct WideSums {
	Span x, y, z;
};
DEVICE WideSums load_sums(const WideFinish& a, int r, int c, bool in) {
	return {read4(a.sums, r, c, a.pitch, in), read4(a.sums + a.far, r, c, a.pitch, in), read4(a.products > 2 ? a.sums + 2 * a.far : 0, r, c, a.pitch, in)};
}
template <int WHAT>
DEVICE void wide_finish_forward_by(const WideFinish& a, bool stop) {
	const Product& p = a.p;
	each_block(p.rows, p.cols, [&](int r, int c, bool in, int turn) {
		WideSums l = load_sums(a, r, c, in);
		Span m = plus(l.x, read4(p.e0, 0, c, p.cols, in)), v = plus(plus(l.y, l.z), read4(p.e1, 0, c, p.cols, in));
		if (stop) return;
		write4(p.o0, r, c, p.cols, in, m);
		write4(p.o1, r, c, p.cols, in, v);
		if (WHAT != PLAIN) {
#pragma unroll
			for (int i = 0; i < 4; i++) {
				Finished f = behind<WHAT>(p, m.x[i], v.x[i]);
				m.x[i] = f.m, v.x[i] = f.v;
			}
			write4(p.p0, r, c, p.cols, in, m);
			write4(p.p1, r, c, p.cols, in, v);
		}
		cut_all(a.cuts, r, c, in, inside(m, c, p.cols), inside(v, c, p.cols), turn);
	});
}
template <int WHAT>
DEVICE void wide_finish_backward_by(const WideFinish& a, bool stop) {
	each_block(a.p.rows, a.p.cols, [&](int r, int c, bool in, int turn) {
		WideSums s = load_sums(a, r, c, in);
		Reverse l = load_reverse(a.p, r, c, in);
		if (!stop) finish_backward<WHAT>(a, r, c, in, turn, l, s.x, s.y, plus(s.y, s.z));
	});
}
// BY_FUNCTION are two kernels: for common functions, of which so many blocks fit into a
// multiprocessor, and for any.
#define BY_FUNCTION(name, v, blocks) \
	KERNEL_CHAIN(name, WideFinish, CUT_THREADS, blocks) { \
		int what = common(c.p, c.p.v); \
		follow(); \
		bool stop = failed(c.p.results); /* the loads go on meanwhile */ \
		if (what == PLAIN) name##_by<PLAIN>(c, stop); \
		if (what == THREE) name##_by<THREE>(c, stop); \
		if (what == EXACT) name##_by<EXACT>(c, stop); \
	} \
	KERNEL_CHAIN(name##_any, WideFinish, CUT_THREADS, 2) { \
		follow(); \
		if (!failed(c.p.results)) name##_by<ANY>(c, false); \
	}
BY_FUNCTION(wide_finish_forward, o1, 4)
BY_FUNCTION(wide_finish_backward, q1, 4)
