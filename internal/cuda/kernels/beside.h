// Sums over the rows of a batch that warps compute one by one, beside products: the
// gradients of biases, and of layers with few outputs. norm adds up the parts.
#pragma once
#include "product.h"

// A Slim is the bias of a layer, or the weights of one with few outputs.
struct Slim {
	const float *m, *v; // input; m is null for a bias, v may be
	const float *g, *h; // gradients by the outputs
	const float* w;
	float *o0, *o1;     // results, by mean and variance; o1 may be null
	long long part;     // numbers between parts
	int rows, split;    // split: rows of a part
	int in, out;
};
struct Beside {
	const Slim* all;
	const Job* jobs; // x: 32 outputs of a bias or 32 inputs; y: four outputs; z: part
	int count, pad;
};
static_assert(sizeof(Slim) == 80 && sizeof(Beside) == 24, "");

DEVICE void sum_bias(const Slim& s, const Job& j) {
	constexpr int AHEAD = 16;
	int c = j.x * 32 + thread() % 32, r = j.z * s.split, end = less(s.rows, r + s.split), out = s.out;
	if (c >= out) return;
	const float *g = s.g + c, *h = s.h + c;
	float x = 0, y = 0;
	for (; r < end; r += AHEAD) { // all loads first: they take longest
		float a[AHEAD], b[AHEAD];
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			bool in = r + i < end;
			long long at = (long long)(r + i) * out;
			a[i] = in ? g[at] : 0.0f, b[i] = in ? h[at] : 0.0f;
		}
#pragma unroll
		for (int i = 0; i < AHEAD; i++) x += a[i], y += b[i];
	}
	s.o0[j.z * s.part + c] = x;
	if (s.o1) s.o1[j.z * s.part + c] = y;
}

// four reads neighbours, of which some may be missing.
struct alignas(16) Few {
	float x[4];
};
DEVICE Few four(const float* p, int there, bool aligned) {
	if (aligned) return *(const Few*)p;
	Few f;
#pragma unroll
	for (int i = 0; i < 4; i++) f.x[i] = i < there ? p[i] : 0.0f;
	return f;
}

// sum_slim has an input in each lane. The gradients by the outputs, which all lanes read,
// are near when the inputs arrive.
DEVICE void sum_slim(const Slim& s, const Job& j) {
	constexpr int AHEAD = 8;
	int k = j.x * 32 + thread() % 32, c = j.y * 4, r = j.z * s.split, end = less(s.rows, r + s.split), in = s.in, out = s.out, there = less(4, out - c);
	if (k >= in) return;
	bool aligned = out % 4 == 0;
	const float *m = s.m + k, *v = s.v ? s.v + k : 0, *g = s.g + c, *h = s.h + c;
	float s0[4] = {}, s1[4] = {}, s2[4] = {};
	for (; r < end; r += AHEAD) {
		float x[AHEAD], y[AHEAD];
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			bool live = r + i < end;
			long long at = (long long)(r + i) * in;
			x[i] = live ? m[at] : 0.0f, y[i] = live && v ? v[at] : 0.0f;
		}
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			if (r + i >= end) break;
			Few a = four(g + (long long)(r + i) * out, there, aligned), b = four(h + (long long)(r + i) * out, there, aligned);
			float q = x[i] * x[i];
#pragma unroll
			for (int e = 0; e < 4; e++) s0[e] = fma(x[i], a.x[e], s0[e]), s1[e] = fma(q, b.x[e], s1[e]), s2[e] = fma(y[i], b.x[e], s2[e]);
		}
	}
#pragma unroll
	for (int e = 0; e < 4; e++) {
		if (e >= there) break;
		long long at = (long long)k * out + c + e;
		s.o0[j.z * s.part + at] = fma(2 * s.w[at], s2[e], s0[e]);
		if (s.o1) s.o1[j.z * s.part + at] = s1[e] + s2[e];
	}
}

// sum_beside does the jobs of a warp: every so many from the first on.
DEVICE void sum_beside(const Beside& b, int first, int step) {
#pragma unroll 1
	for (int i = first; i < b.count; i += step) {
		const Job j = b.jobs[i];
		const Slim& s = b.all[j.product];
		if (s.m) sum_slim(s, j);
		else sum_bias(s, j);
	}
}
