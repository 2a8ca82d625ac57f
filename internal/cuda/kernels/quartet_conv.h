// The convolution of a quartet: own rows are gathered, convolved and, on the way back, weighed.
#pragma once
#include "quartet_tail.h"

// What the two functions inside are.
enum { BY_ANY, BY_THREE, BY_FORM };
template <int WHAT>
DEVICE Moments pass(const Func& f, float m, float v, const Control& k, long long row, int unit) {
	if (WHAT == BY_FORM) return leaky_exact(f.a, m, v);
	if (WHAT == BY_THREE) {
		float xi[3] = {0, f.three[1], f.three[2]}, w[3] = {f.three[3], f.three[4], f.three[5]};
		return leaky_three(f.a, m, v, xi, w);
	}
	return push(f, m, v, f.rule == SAMPLES ? sub_key(k.seed, k.step, f.index) : Key{0, 0}, k.row + row, unit);
}

// Picked are the numbers of own rows in the table.
struct Picked {
	long long at[EACH];
};
DEVICE Picked pick(const Quartet& c, int slot, long long r0, int n) {
	long long first = (long long)slot * c.room + r0;
	Picked p;
#pragma unroll
	for (int r = 0; r < EACH; r++) p.at[r] = c.index && r < n ? c.index[first + r] : first + r;
	return p;
}

// gather reads own rows, with borders of zeros, and their targets; rows that are not there
// are zeros.
DEVICE void gather(const Quartet& c, const Floor& f, const Picked& p, int n) {
	const Image& g = c.image;
	int line = c.wide * g.c, all = c.high * line;
	for (int i = thread(); i < EACH * all; i += CONVOLVE) {
		int r = i >= all, e = i - r * all, y = e / line, x = e - y * line - g.left * g.c;
		bool in = r < n && y >= g.top && y < g.top + g.h && x >= 0 && x < g.w * g.c;
		on(f.images)[i] = in ? c.x[(r ? p.at[1] : p.at[0]) * c.pixels + (y - g.top) * g.w * g.c + x] : 0.0f;
	}
	int t = CONVOLVE - 1 - thread(), r = t / SHALLOW, e = t % SHALLOW; // others than those that have pixels
	if (c.back && r < EACH && e < c.targets) on(f.y)[t] = r < n ? c.y[(r ? p.at[1] : p.at[0]) * c.targets + e] : 0.0f;
}

// convolve has, in each of so many threads, two features of a place in both rows.
template <int WHAT>
DEVICE void convolve(const Quartet& c, const Floor& f, const Control& k, int rank, long long r0, int threads) {
	const Image& g = c.image;
	int pairs = c.features / 2, weights = c.cells * c.features, line = g.kw * g.c, pitch = c.wide * g.c, all = c.high * pitch;
	for (int i = thread(); i < c.in / 2; i += threads) {
		int p = i / pairs, o = 2 * (i - p * pairs), y = p / g.ow, x = p - y * g.ow, at = p * c.features + o;
		Near from = on(f.images) + y * g.down * pitch + x * g.across * g.c, w = on(f.conv) + o, s = w + weights + c.features;
		float a[EACH][2] = {}, b[EACH][2] = {};
		for (int d = 0; d < g.kh; d++, from += pitch)
#pragma unroll 3
			for (int e = 0; e < line; e++, w += c.features, s += c.features) {
#pragma unroll
				for (int r = 0; r < EACH; r++) {
					float v = from[r * all + e], q = v * v;
#pragma unroll
					for (int j = 0; j < 2; j++) a[r][j] = fma(v, w[j], a[r][j]), b[r][j] = fma(q, s[j], b[r][j]);
				}
			}
		float m[EACH][2], v[EACH][2];
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int r = 0; r < EACH; r++) { // w and s are at the bias now
				float z = a[r][j] + w[j], u = b[r][j] + s[j];
				on(f.zm)[r * c.in + at + j] = z, on(f.zv)[r * c.in + at + j] = u;
				Moments q = pass<WHAT>(c.inner, z, u, k, r0 + r, at + j);
				m[r][j] = q.m, v[r][j] = q.v;
			}
#pragma unroll 1
		for (int b = 0; b < f.team; b++) {
			Peer to = on(f.rows, b);
#pragma unroll
			for (int j = 0; j < 2; j++) {
				put(to, (at + j) * f.all + EACH * rank, m[0][j], m[1][j]);
				put(to, (c.in + at + j) * f.all + EACH * rank, v[0][j], v[1][j]);
			}
		}
	}
}

// weigh sums up the gradients of the convolution's weights and of its bias over own rows: a
// part. A thread has four features of a cell, and a line of places of a row; then one element,
// for which it adds up the lines. The inputs have no variances.
DEVICE void weigh(const Quartet& c, const Floor& f, long long r0, int n) {
	const Image& g = c.image;
	int quads = c.features / 4, all = (c.cells + 1) * c.features, lines = n * g.oh, pitch = c.wide * g.c, image = c.high * pitch, each = (c.cells + 1) * quads;
	Near sums = on(f.lines);
	for (int task = thread(); task < lines * each; task += QUARTET) {
		int l = task / each, e = task - l * each, k = e / quads, o = 4 * (e - k * quads), r = l >= g.oh, y = l - r * g.oh, line = g.kw * g.c, down = k / line;
		Near x = on(f.images) + r * image + (y * g.down + down) * pitch + k - down * line;
		Near p = on(f.zm) + r * c.in + y * g.ow * c.features + o, q = on(f.zv) + r * c.in + y * g.ow * c.features + o;
		float a[4] = {}, b[4] = {};
		bool weight = k < c.cells;
		if (!weight) x = on(f.images);
#pragma unroll 3
		for (int z = 0; z < g.ow; z++, p += c.features, q += c.features) {
			Four32 u = load4(p), v = load4(q);
			float w = weight ? x[z * g.across * g.c] : 1.0f, w2 = w * w;
#pragma unroll
			for (int j = 0; j < 4; j++) a[j] = fma(w, u.x[j], a[j]), b[j] = fma(w2, v.x[j], b[j]);
		}
		Near to = sums + 2 * all * l + k * c.features + o;
		store4(to, a), store4(to + all, b);
	}
	barrier();
	float* part = c.parts + r0 / EACH * c.width;
	for (int e = thread(); e < 2 * all; e += QUARTET) {
		float s = sums[e];
#pragma unroll 4
		for (int l = 1; l < lines; l++) s += sums[2 * all * l + e];
		out(part)[e] = s;
	}
}
