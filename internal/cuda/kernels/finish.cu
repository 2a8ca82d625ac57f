// What follows a product of planes: the bias, the function behind it or before it, and the
// planes for the next product.
#pragma once
#include "planes.h"

struct CutPlanes {
	const float *a, *b; // b may be null
	int rows, cols;
	Cuts cuts;
	const Result* results;
};
KERNEL_MANY(cut_planes, CutPlanes, CUT_THREADS, 6, block_y) {
	if (failed(a.results)) return;
	struct Loaded {
		Two x, y;
	};
	pieces(a.rows, a.cols, [&](int r, int c) { return Loaded{read2(a.a, r, c, a.cols), read2(a.b, r, c, a.cols)}; },
		[&](int r, int c, const Loaded& l) { cut_all(a.cuts, r, c, l.x, l.y); });
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
template <int WHAT>
DEVICE void finish_forward(const Product& p, const Cuts& cuts, int r, int c, Two m, Two v) {
	Two b = read2(p.e0, 0, c, p.cols), s = read2(p.e1, 0, c, p.cols);
	m = {m.x + b.x, m.y + b.y}, v = {v.x + s.x, v.y + s.y};
	write2(p.o0, r, c, p.cols, m);
	write2(p.o1, r, c, p.cols, v);
	if (WHAT != PLAIN) {
		Finished x = behind<WHAT>(p, m.x, v.x), y = behind<WHAT>(p, m.y, v.y);
		m = {x.m, y.m}, v = {x.v, y.v};
		write2(p.p0, r, c, p.cols, m);
		write2(p.p1, r, c, p.cols, v);
	}
	if (c >= p.cols) m.x = v.x = 0;
	if (c + 1 >= p.cols) m.y = v.y = 0;
	cut_all(cuts, r, c, m, v);
}
// Reverse is what the reverse of a product needs of an element besides its sums.
struct Reverse {
	Two x, m, v;
};
DEVICE Reverse load_reverse(const Product& p, int r, int c) {
	return {read2(p.e0, r, c, p.cols), read2(p.fused ? p.q0 : 0, r, c, p.cols), read2(p.fused ? p.q1 : 0, r, c, p.cols)};
}
// finish_backward has the sums of g·w, h·s and h·(w²+s).
template <int WHAT>
DEVICE void finish_backward(const Product& p, const Cuts& cuts, int r, int c, const Reverse& l, Two g, Two s, Two h) {
	Finished a = before<WHAT>(p, fma(2 * l.x.x, s.x, g.x), h.x, l.m.x, l.v.x), b = before<WHAT>(p, fma(2 * l.x.y, s.y, g.y), h.y, l.m.y, l.v.y);
	g = {a.m, b.m}, h = {a.v, b.v};
	write2(p.o0, r, c, p.cols, g);
	write2(p.o1, r, c, p.cols, h);
	if (c >= p.cols) g.x = h.x = 0;
	if (c + 1 >= p.cols) g.y = h.y = 0;
	cut_all(cuts, r, c, g, h);
}
struct WideSums {
	Two x, y, z;
};
DEVICE WideSums load_sums(const WideFinish& a, int r, int c) {
	return {read2(a.sums, r, c, a.pitch), read2(a.sums + a.far, r, c, a.pitch), read2(a.products > 2 ? a.sums + 2 * a.far : 0, r, c, a.pitch)};
}
DEVICE Two plus(Two a, Two b) { return {a.x + b.x, a.y + b.y}; }
template <int WHAT>
DEVICE void wide_finish_forward_by(const WideFinish& a) {
	pieces(a.p.rows, a.p.cols, [&](int r, int c) { return load_sums(a, r, c); },
		[&](int r, int c, const WideSums& s) { finish_forward<WHAT>(a.p, a.cuts, r, c, s.x, plus(s.y, s.z)); });
}
template <int WHAT>
DEVICE void wide_finish_backward_by(const WideFinish& a) {
	struct Loaded {
		WideSums s;
		Reverse l;
	};
	pieces(a.p.rows, a.p.cols, [&](int r, int c) { return Loaded{load_sums(a, r, c), load_reverse(a.p, r, c)}; },
		[&](int r, int c, const Loaded& x) { finish_backward<WHAT>(a.p, a.cuts, r, c, x.l, x.s.x, x.s.y, plus(x.s.y, x.s.z)); });
}
// BY_FUNCTION are two kernels, for common functions and for any, of which so many blocks
// fit into a multiprocessor.
#define BY_FUNCTION(name, v, blocks) \
	KERNEL_MANY(name, WideFinish, CUT_THREADS, blocks, block_y) { \
		if (failed(a.p.results)) return; \
		int what = common(a.p, a.p.v); \
		if (what == PLAIN) name##_by<PLAIN>(a); \
		if (what == THREE) name##_by<THREE>(a); \
		if (what == EXACT) name##_by<EXACT>(a); \
	} \
	KERNEL_MANY(name##_any, WideFinish, CUT_THREADS, blocks, block_y) { \
		if (!failed(a.p.results)) name##_by<ANY>(a); \
	}
BY_FUNCTION(wide_finish_forward, o1, 3)
BY_FUNCTION(wide_finish_backward, q1, 3)
