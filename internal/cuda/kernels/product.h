// What the products of wide layers have in common: forward, backward and the gradients
// of the weights have the same loop and differ in what they add up.
#pragma once
#include "program.h"

constexpr int TT = 256;

// A Product is one matrix product with moments. Its three kinds:
//
//	FORWARD   A = m, v    B = w, s       a = Σ m·w, b = Σ m²·s + v·(w²+s)
//	BACKWARD  A = g, h    B = wᵀ, sᵀ     a = Σ g·w, b = Σ h·s, c = Σ h·(w²+s)
//	GRADIENT  A = mᵀ, vᵀ  B = g, h       a = Σ m·g, b = Σ m²·h, c = Σ v·h
struct Product {
	const float *a0, *a1, *b0, *b1;
	int rows, cols, depth, split; // split: depth of one part of a gradient
	float *o0, *o1;               // results; part p of a gradient lies p·part further
	const float *e0, *e1;         // bias; m of the input; w
	float *x0, *x1;               // gradients of the bias
	long long part;
	int aligned, pad;             // rows begin at multiples of 16 bytes
	const Result* results;        // null in prediction
	// An elementwise function behind a FORWARD, before a BACKWARD: its moments go to p0
	// and p1; it was applied to q0 and q1.
	int fused, pad2;
	float *p0, *p1;
	const float *q0, *q1;
	Func f;
};
enum { FORWARD, BACKWARD, GRADIENT };

// TileSums are those of the M × N elements of a tile that a thread has.
template <int M, int N>
struct TileSums {
	float a[M][N], b[M][N], c[M][N];
};

template <int M, int N>
DEVICE void clear(TileSums<M, N>& t) {
#pragma unroll
	for (int i = 0; i < M; i++)
#pragma unroll
		for (int j = 0; j < N; j++) t.a[i][j] = t.b[i][j] = t.c[i][j] = 0;
}

// add adds the products of one depth: M elements of A and N of B.
template <int KIND, int M, int N>
DEVICE void add(TileSums<M, N>& t, const float* a0, const float* a1, const float* b0, const float* b1) {
	float x[M], y[M], w[N], s[N], e[N];
#pragma unroll
	for (int i = 0; i < M; i++) x[i] = a0[i], y[i] = a1[i];
#pragma unroll
	for (int j = 0; j < N; j++) w[j] = b0[j], s[j] = b1[j], e[j] = KIND == GRADIENT ? 0.0f : fma(w[j], w[j], s[j]);
#pragma unroll
	for (int i = 0; i < M; i++) {
		float sq = x[i] * x[i];
#pragma unroll
		for (int j = 0; j < N; j++) {
			t.a[i][j] = fma(x[i], w[j], t.a[i][j]);
			if (KIND == FORWARD) t.b[i][j] = fma(y[i], e[j], fma(sq, s[j], t.b[i][j]));
			if (KIND == BACKWARD) t.b[i][j] = fma(y[i], s[j], t.b[i][j]), t.c[i][j] = fma(y[i], e[j], t.c[i][j]);
			if (KIND == GRADIENT) t.b[i][j] = fma(sq, s[j], t.b[i][j]), t.c[i][j] = fma(y[i], s[j], t.c[i][j]);
		}
	}
}

// Finished are moments, or gradients by them.
struct Finished {
	float m, v;
};

// What the function of a product is. Loops for the common ones know it, and call nothing:
// a call takes registers even where it is not made.
enum { ANY, PLAIN, THREE, EXACT };
DEVICE int common(const Product& a, const float* v) { // v: variances, before the function
	if (!a.fused) return PLAIN;
	if (v && a.f.rule == CLOSED_FORM) return EXACT;
	return v && a.f.rule == BY_POINTS && a.f.op == LEAKY_RELU && a.f.points == 3 && a.f.three[0] == 0 ? THREE : ANY;
}
template <int WHAT>
DEVICE Moments push_known(const Product& a, float m, float v) {
	if (WHAT == THREE) return leaky_three(a.f.a, m, v, a.f.three, a.f.three + 3);
	if (WHAT == EXACT) return leaky_exact(a.f.a, m, v);
	return push(a.f, m, v, Key{0, 0}, 0, 0);
}

// behind applies the function behind a FORWARD to the moments of an element; before
// applies the reverse of the function before a BACKWARD to gradients.
template <int WHAT = ANY>
DEVICE Finished behind(const Product& a, float m, float v) {
	if (WHAT == PLAIN || WHAT == ANY && !a.fused) return {m, v};
	if (WHAT == ANY && !a.o1) return {evaluate(a.f.op, a.f.a, m).f, 0};
	Moments p = push_known<WHAT>(a, m, v);
	return {p.m, p.v};
}
template <int WHAT = ANY>
DEVICE Finished before(const Product& a, float g, float h, float m, float v) {
	if (WHAT == PLAIN || WHAT == ANY && !a.fused) return {g, h};
	if (WHAT == ANY && !a.q1) return {g * evaluate(a.f.op, a.f.a, m).d, h};
	Moments p = push_known<WHAT>(a, m, v);
	return {g * p.mm + h * p.vm, g * p.mv + h * p.vv};
}

// finish writes the sums of one element.
template <int KIND>
DEVICE void finish(const Product& a, int bz, int r, int c, float s0, float s1, float s2) {
	if (r >= a.rows || c >= a.cols) return;
	long long at = (long long)r * a.cols + c;
	if (KIND == FORWARD) {
		float m = s0 + (a.e0 ? a.e0[c] : 0.0f), v = s1 + (a.e1 ? a.e1[c] : 0.0f);
		a.o0[at] = m;
		if (a.o1) a.o1[at] = v;
		if (!a.fused) return;
		Finished f = behind(a, m, v);
		a.p0[at] = f.m;
		if (a.o1) a.p1[at] = f.v;
	} else if (KIND == BACKWARD) {
		Finished f = before(a, fma(2 * a.e0[at], s1, s0), s2, a.fused ? a.q0[at] : 0.0f, a.fused && a.q1 ? a.q1[at] : 0.0f);
		a.o0[at] = f.m;
		if (a.o1) a.o1[at] = f.v;
	} else {
		long long part = bz * a.part;
		if (a.o0) a.o0[part + at] = fma(2 * a.e0[at], s2, s0);
		if (a.o1) a.o1[part + at] = s1 + s2;
	}
}

template <int KIND, int M, int N>
DEVICE void finish(const Product& a, int bz, int r, int c, const TileSums<M, N>& t) {
#pragma unroll
	for (int i = 0; i < M; i++)
#pragma unroll
		for (int j = 0; j < N; j++) finish<KIND>(a, bz, r + i, c + j, t.a[i][j], t.b[i][j], t.c[i][j]);
}

DEVICE void finish_bias(const Product& a, int bz, int c, float g0, float g1) {
	if (c >= a.cols) return;
	if (a.x0) a.x0[bz * a.part + c] = g0;
	if (a.x1) a.x1[bz * a.part + c] = g1;
}

// The gradients of all dense layers are one launch: a job is a tile of a layer and a part
// of the rows.
struct Job {
	int product, x, y, z;
};
struct Gradients {
	const Product* products;
	const Job* jobs;
	const Result* results;
};
static_assert(sizeof(Product) == 224 && sizeof(Job) == 16, "");
