// The gradients of the weights of a chain. A block sums up a tile of a layer's weights, or some
// elements of a thin layer, over a part of the rows; chain_norm adds up the parts.
#pragma once
#include "chain.h"
#include "chain_product.h"

constexpr int CG = 256, SIDE = 32, DEEP = 128; // threads; sides of a tile, or elements; rows at a time
constexpr int LINE = 40, EIGHTH = CG / 32; // distance of rows in a tile; shares of the rows of elements

// A Slope is a dense layer.
struct Slope {
	const float *m, *v, *g, *h, *w; // input, gradients by the outputs, weights
	int in, out, block;             // block: its first one
	float by_across;                // one by the tiles beside one another
	int mean, rho, bias, bias_rho;  // where its gradients begin in a part
};
struct ChainGradients {
	Slope links[MOST_LINKS];
	const Turn* turn;
	float* grad;              // the parts, one behind the other
	long long size;           // of one of them
	double* scores;           // receives the sums of the rows' scores
	const double* nll;
	const int* floored;
	const float *tape, *raw;  // of a noise: gradients by the variances, and its numbers; or null
	int rows, count, parts, split;  // count: of links; split: rows of a part
	int rest, noise, noises;        // first block behind the links; where the noise begins, and its width
	float by_parts;                 // one by the parts
};
static_assert(sizeof(Slope) == 72 && sizeof(ChainGradients) == 72 * MOST_LINKS + 96, "");

// stage starts copying SIDE columns of a matrix: a thread has four numbers of every 32nd row.
// A matrix that is not there, columns behind the last one and rows from the end on are zeros.
DEVICE void stage(const float* from, const float* some, int place, int i, int cols, int at, bool in) {
	int r = thread() / 8, q = thread() % 8 * 4;
	in = in && from;
	copy16(dynamic() + (place * DEEP + r + 32 * i) * LINE + q, in ? from + at + 32 * i * cols : some, in); // a source must be a place in global memory even where nothing is read
}

// tile sums up SIDE × SIDE weights on tensor cores. Two warps have 16 × 16 of them: each takes every
// other eight rows, then finishes half of the columns. Tiles at the top sum up the biases, too.
DEVICE void tile(const ChainGradients& c, const Slope& l, bool finite, int x, int y, int part) {
	int lane = thread() % 32, g = lane / 4, q = lane % 4, warp = thread() / 32, half = warp % 2;
	int row = y * SIDE, col = x * SIDE, down = warp / 4 * 16 + g, across = warp / 2 % 2 * 16 + g;
	int k0 = part * c.split, k1 = less(c.rows, k0 + c.split), r = row + down, j = col + warp / 2 % 2 * 16 + 8 * half + 2 * q; // first of the weights to finish
	Near M = near(dynamic()), V = M + DEEP * LINE, G = V + DEEP * LINE, H = G + DEEP * LINE, scratch = H + DEEP * LINE, biases = scratch + CG * 12;
	bool whole = row + SIDE <= l.in && col + SIDE <= l.out;
	int at = r * l.out + j;
	float w[4] = {0, 0, 0, 0}, by = 0, t[3][2][4];
#pragma unroll
	for (int i = 0; i < 24; i++) t[i / 8][i / 4 % 2][i % 4] = 0;
	for (bool first = true; k0 < k1; k0 += DEEP, first = false) {
		int top = k0 + thread() / 8, a = top * l.in + row + thread() % 8 * 4, b = top * l.out + col + thread() % 8 * 4;
		bool in = row + thread() % 8 * 4 < l.in, out = col + thread() % 8 * 4 < l.out;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			bool live = top + 32 * i < k1;
			stage(l.m, l.m, 0, i, l.in, a, live && in), stage(l.v, l.m, 1, i, l.in, a, live && in);
			stage(l.g, l.m, 2, i, l.out, b, live && out), stage(l.h, l.m, 3, i, l.out, b, live && out);
			copies_end();
		}
		CHAIN_STAMP(1, 4);
		if (first)
#pragma unroll
			for (int i = 0; i < 4; i++)
				if (whole || r + i / 2 * 8 < l.in && j + i % 2 < l.out) w[i] = l.w[at + i / 2 * 8 * l.out + i % 2];
#pragma unroll 1
		for (int i = 0; i < DEEP / 32; i++) {
			if (i == 0) copies_wait<3>();
			else if (i == 1) copies_wait<2>();
			else if (i == 2) copies_wait<1>();
			else copies_wait<0>();
			barrier();
			if (i == 0) CHAIN_STAMP(1, 5);
#pragma unroll
			for (int n = 0; n < 2; n++) {
				int at = (32 * i + 16 * n + 8 * half + q) * LINE;
				uint32 ah[3][4], al[3][4], bh[2][2], bl[2][2];
#pragma unroll
				for (int e = 0; e < 4; e++) {
					int from = at + e / 2 * 4 * LINE + down + e % 2 * 8;
					float x = M[from];
					split(x, &ah[0][e], &al[0][e]), split(x * x, &ah[1][e], &al[1][e]), split(V[from], &ah[2][e], &al[2][e]);
				}
#pragma unroll
				for (int b = 0; b < 2; b++) {
#pragma unroll
					for (int e = 0; e < 2; e++) {
						int from = at + e * 4 * LINE + across + 8 * b;
						split(G[from], &bh[0][e], &bl[0][e]), split(H[from], &bh[1][e], &bl[1][e]);
					}
#pragma unroll
					for (int s = 0; s < 3; s++) {
						float d[4];
						const uint32 *h = bh[s > 0], *o = bl[s > 0];
						mma_first(d, al[s], h), mma(d, ah[s], o), mma(d, ah[s], h);
#pragma unroll
						for (int e = 0; e < 4; e++) t[s][b][e] += d[e];
					}
				}
			}
		}
		if (y == 0) { // a thread has a column of one of the two, and a quarter of the rows
			Near from = (thread() / 32 % 2 ? H : G) + thread() / 64 * 32 * LINE + lane;
#pragma unroll 8
			for (int i = 0; i < 32; i++) by += from[i * LINE];
		}
		if (k0 + DEEP < k1) barrier();
	}
	CHAIN_STAMP(1, 6);
	Near mine = scratch + warp * 12 * 32 + lane, other = scratch + (warp ^ 1) * 12 * 32 + lane;
	uint32 upper = 0u - half;
#pragma unroll
	for (int i = 0; i < 12; i++) mine[i * 32] = either(t[i / 4][1][i % 4], t[i / 4][0][i % 4], upper);
	biases[thread()] = by;
	barrier();
	CHAIN_STAMP(1, 7);
	if (!finite) return;
	float *grad = c.grad + part * c.size, all[3][4];
#pragma unroll
	for (int i = 0; i < 12; i++) all[i / 4][i % 4] = either(t[i / 4][0][i % 4], t[i / 4][1][i % 4], upper) + other[i * 32];
	float *to_mean = grad + l.mean + at, *to_rho = grad + l.rho + at;
#pragma unroll
	for (int e = 0; e < 4; e++)
		if (whole || r + e / 2 * 8 < l.in && j + e % 2 < l.out) {
			out(to_mean)[e / 2 * 8 * l.out + e % 2] = fma(2 * w[e], all[2][e], all[0][e]);
			out(to_rho)[e / 2 * 8 * l.out + e % 2] = all[1][e] + all[2][e];
		}
	if (y == 0 && thread() < 64 && col + lane < l.out) {
		float s = biases[thread()];
#pragma unroll
		for (int i = 1; i < CG / 64; i++) s += biases[i * 64 + thread()];
		grad[(thread() / 32 ? l.bias_rho : l.bias) + col + lane] = s;
	}
	CHAIN_STAMP(1, 15);
}

// elements sums up elements of a thin layer, behind its weights those of its bias. A thread
// has an element and an eighth of the rows; the eighths are added in order.
DEVICE void elements(const ChainGradients& c, const Slope& l, bool finite, int number, int part) {
	int t = thread() % SIDE, eighth = thread() / SIDE, e = number * SIDE + t, r = e / l.out, col = e - r * l.out;
	int k0 = part * c.split, k1 = less(c.rows, k0 + c.split), per = (k1 - k0 + EIGHTH - 1) / EIGHTH;
	k0 += eighth * per, k1 = less(k1, k0 + per);
	bool live = r <= l.in, weight = r < l.in;
	float s0 = 0, s1 = 0, s2 = 0, w = weight ? l.w[e] : 0.0f;
	if (live) {
		constexpr int AHEAD = 16;
		bool random = weight && l.v;
		int by_g = l.out, by_m = weight ? l.in : l.out;
		// Something is read in any case: conditions would keep the loads waiting for one another.
		Far g = Far(l.g + col), h = Far(l.h + col), m = Far(weight ? l.m + r : l.g + col), v = Far(random ? l.v + r : l.g + col);
#pragma unroll 1
		for (int i = k0; i < k1; i += AHEAD) {
			float a[4][AHEAD];
#pragma unroll
			for (int j = 0; j < AHEAD; j++) { // all loads first: they take longest
				int at = less(i + j, k1 - 1);
				a[0][j] = g[(long long)at * by_g], a[1][j] = h[(long long)at * by_g], a[2][j] = m[(long long)at * by_m], a[3][j] = v[(long long)at * by_m];
			}
#pragma unroll
			for (int j = 0; j < AHEAD; j++) {
				bool in = i + j < k1;
				float x = weight ? a[2][j] : 1.0f, y = random ? a[3][j] : 0.0f, t0 = fma(x, a[0][j], s0), t1 = fma(x * x, a[1][j], s1), t2 = fma(y, a[1][j], s2);
				s0 = in ? t0 : s0, s1 = in ? t1 : s1, s2 = in ? t2 : s2;
			}
		}
	}
	CHAIN_STAMP(1, 6);
	SHARED float shares[3 * CG];
	float* share = shares + thread();
	share[0] = s0, share[CG] = s1, share[2 * CG] = s2;
	barrier();
	CHAIN_STAMP(1, 7);
	if (!finite || !live || eighth > 0) return;
#pragma unroll
	for (int q = 1; q < EIGHTH; q++) s0 += share[q * SIDE], s1 += share[CG + q * SIDE], s2 += share[2 * CG + q * SIDE];
	float* grad = c.grad + part * c.size;
	grad[weight ? l.mean + e : l.bias + col] = fma(2 * w, s2, s0);
	grad[weight ? l.rho + e : l.bias_rho + col] = s1 + s2;
	CHAIN_STAMP(1, 15);
}

// noise sums up the gradient of one output's noise, as columns does.
DEVICE void noise(const ChainGradients& c, int output) {
	double s = 0, none = 0;
	for (int r = thread(); r < c.rows; r += CG) s += c.tape[(long long)r * c.noises + output];
	total(s, none);
	float raw = c.raw[output];
	double x = raw, e = expo(-magnitude(x)), slope = x < 0 ? e / (1 + e) : 1 / (1 + e);
	if (thread() == 0) c.grad[c.noise + output] = (float)(s * 2 * softplus(raw) * slope);
}

// divide divides small numbers, given the inverse.
DEVICE int divide(int x, float inverse) { return (int)((x + 0.5f) * inverse); }

// beside_links sums up what is no weight of a link: a noise, or the scores of the rows.
DEVICE void beside_links(const ChainGradients& c, int b, bool finite) {
	if (!finite) return;
	if (b < c.rest + c.noises) {
		noise(c, b - c.rest);
		return;
	}
	double nll = 0, floored = 0;
	for (int r = thread(); r < c.rows; r += CG) nll += c.nll[r], floored += c.floored[r];
	total(nll, floored);
	if (thread() == 0) c.scores[0] = nll, c.scores[1] = floored;
}
