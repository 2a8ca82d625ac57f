// A convolution of a network's inputs in the kernel fused: a block has whole images in
// shared memory. The sums forward have the order of image_tile.
#pragma once
#include "ops.h"
#include "near.h"

// window_cell says where cell k of the window at a place lies in an image; −1: outside.
DEVICE int window_cell(const Image& g, int place, int k) {
	int y = place / g.ow * g.down - g.top + k / g.c / g.kw, x = place % g.ow * g.across - g.left + k / g.c % g.kw;
	return y >= 0 && x >= 0 && y < g.h && x < g.w ? (y * g.w + x) * g.c + k % g.c : -1;
}

// fused_conv has a thread for each result.
CALLED void fused_conv(const Op& o, long long r0, int n) {
	const Image& g = o.image;
	int cells = g.kh * g.kw * g.c, features = o.out / (g.oh * g.ow);
	Near m = near(o.m + r0 * o.in), v = near(o.v + r0 * o.in), om = near(o.om + r0 * o.out), ov = near(o.ov + r0 * o.out);
	bool second = o.v, random = o.s, spread = o.ov;
	for (int i = thread(); i < n * o.out; i += THREADS) {
		int r = i / o.out, f = i % features, place = (i - r * o.out) / features;
		float a = 0, b = 0;
#pragma unroll 3
		for (int k = 0; k < cells; k++) {
			int at = window_cell(g, place, k);
			float x = at >= 0 ? m[r * o.in + at] : 0.0f, y = second && at >= 0 ? v[r * o.in + at] : 0.0f;
			float w = o.w[k * features + f], s = random ? o.s[k * features + f] : 0.0f;
			a = fma(x, w, a), b = fma(y, fma(w, w, s), fma(x * x, s, b));
		}
		om[i] = a + (o.b ? o.b[f] : 0.0f);
		if (spread) ov[i] = b + (o.bs ? o.bs[f] : 0.0f);
	}
}

// fused_conv_gradient sums up the gradients of the weights, and of the bias behind them,
// over o.targets rows at a time: a part. Part p begins at o.tape + p·o.room with the
// gradients by means, and those by variances follow. A warp has a weight, its threads share
// the places.
CALLED void fused_conv_gradient(const Op& o, long long r0, int n) {
	const Image& g = o.image;
	int places = g.oh * g.ow, cells = g.kh * g.kw * g.c, features = o.out / places, all = (cells + 1) * features;
	int lane = thread() % 32, turns = (all + THREADS / 32 - 1) / (THREADS / 32);
	Near m = near(o.m + r0 * o.in), v = near(o.v + r0 * o.in), gm = near(o.g + r0 * o.out), gv = near(o.h + r0 * o.out);
	bool second = o.v, spread = o.h;
	for (int first = 0; first < n; first += o.targets) {
		int rows = less(o.targets, n - first);
		float* part = o.tape + (r0 + first) / o.targets * o.room;
		for (int turn = 0; turn < turns; turn++) { // as many for all warps
			int e = turn * (THREADS / 32) + thread() / 32, k = e / features, f = e % features;
			bool live = e < all, weight = k < cells;
			float s0 = 0, s1 = 0, s2 = 0;
			for (int i = lane; live && i < rows * places; i += 32) {
				int r = first + i / places, place = i % places, at = weight ? window_cell(g, place, k) : -1;
				float x = weight ? at >= 0 ? m[r * o.in + at] : 0.0f : 1.0f, y = second && at >= 0 ? v[r * o.in + at] : 0.0f;
				float p = gm[(r * places + place) * features + f], q = spread ? gv[(r * places + place) * features + f] : 0.0f;
				s0 = fma(x, p, s0), s1 = fma(x * x, q, s1), s2 = fma(y, q, s2);
			}
			s0 = warp_sum(s0), s1 = warp_sum(s1), s2 = warp_sum(s2);
			if (lane || !live) continue;
			part[e] = weight ? fma(2 * o.w[e], s2, s0) : s0;
			part[all + e] = s1 + s2;
		}
	}
}
