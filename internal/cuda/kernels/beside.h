// Sums over the rows of a batch that warps compute one by one, beside products: the
// gradients of biases, and of layers with few outputs. norm adds up the parts.
#pragma once
#include "chain.h"
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
	const Job* jobs; // x: 32 outputs of a bias or 32 inputs; y: SLIM outputs; z: part
	int count, pad;
};
static_assert(sizeof(Slim) == 80 && sizeof(Beside) == 24, "");

DEVICE void sum_bias(const Slim& s, const Job& j) {
	constexpr int AHEAD = 26; // a fifth of the rows that most parts have
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

constexpr int SLIM = 8; // outputs at a time

// SlimRows are gradients by SLIM outputs, by mean and variance, of a row for each lane.
struct alignas(16) SlimRows {
	float x[32][2][SLIM];
};

// sum_slim has an input in each lane. The lanes read the gradients of 32 rows by the outputs,
// which all of them need, a row each.
DEVICE void sum_slim(const Slim& s, const Job& j, SlimRows& near) {
	constexpr int AHEAD = 8;
	int lane = thread() % 32, k = j.x * 32 + lane, c = j.y * SLIM, r0 = j.z * s.split, end = less(s.rows, r0 + s.split), in = s.in, out = s.out, there = less(SLIM, out - c);
	bool live = k < in;
	const float *m = s.m + (live ? k : 0), *v = s.v ? s.v + (live ? k : 0) : 0;
	float s0[SLIM] = {}, s1[SLIM] = {}, s2[SLIM] = {};
	for (; r0 < end; r0 += 32) {
		int n = less(32, end - r0);
		float x[AHEAD], y[AHEAD];
		auto load = [&](int r) { // all loads first: they take longest
#pragma unroll
			for (int i = 0; i < AHEAD; i++) {
				long long at = (long long)(r0 + r + i) * in;
				x[i] = r + i < n ? m[at] : 0.0f, y[i] = r + i < n && v ? v[at] : 0.0f;
			}
		};
		const float *g = s.g + (long long)(r0 + lane) * out + c, *h = s.h + (long long)(r0 + lane) * out + c;
		float a[SLIM], b[SLIM];
#pragma unroll
		for (int i = 0; i < SLIM; i++) {
			bool in = lane < n && i < there;
			a[i] = in ? g[i] : 0.0f, b[i] = in ? h[i] : 0.0f;
		}
		load(0);
		warp_ready(); // the rows before are read
#pragma unroll
		for (int i = 0; i < SLIM; i++) near.x[lane][0][i] = a[i], near.x[lane][1][i] = b[i];
		warp_ready();
#pragma unroll 1
		for (int r = 0; r < n; r += AHEAD) {
			if (r > 0) load(r);
#pragma unroll
			for (int i = 0; i < AHEAD; i++) { // behind the last row there are zeros
				const float *g = near.x[r + i][0], *h = near.x[r + i][1];
				float q = x[i] * x[i];
#pragma unroll
				for (int e = 0; e < SLIM; e++) s0[e] = fma(x[i], g[e], s0[e]), s1[e] = fma(q, h[e], s1[e]), s2[e] = fma(y[i], h[e], s2[e]);
			}
		}
	}
	if (!live) return;
	long long at = (long long)k * out + c;
	const float* w = s.w + at;
	float *o0 = s.o0 + j.z * s.part + at, *o1 = s.o1 ? s.o1 + j.z * s.part + at : 0;
#pragma unroll
	for (int e = 0; e < SLIM; e++) s0[e] = e < there ? fma(2 * w[e], s2[e], s0[e]) : 0.0f;
#pragma unroll
	for (int e = 0; e < SLIM; e++) {
		if (e >= there) break;
		o0[e] = s0[e];
		if (o1) o1[e] = s1[e] + s2[e];
	}
}

// sum_beside does the jobs of a warp: every so many from the first on. It is one of WARPS of
// a block.
template <int WARPS>
DEVICE void sum_beside(const Beside& b, int warp) {
	SHARED SlimRows near[WARPS];
#pragma unroll 1
	for (int i = block() * WARPS + warp; i < b.count; i += blocks() * WARPS) {
		const Job j = b.jobs[i];
		const Slim& s = b.all[j.product];
		if (s.m) sum_slim(s, j, near[warp]);
		else sum_bias(s, j);
	}
}
