// The gradients of the weights of a chain. A region is a tile of a layer's weights, or some
// elements of a thin layer, and a block sums it up over a part of the rows. The block of a
// region that ends last adds up the parts, in their order, with KL and squared norm.
#pragma once
#include "chain.h"
#include "product.h"
#include "mma.h"
#include "near.h"

constexpr int CG = 256, SIDE = 32, DEEP = 128; // threads; sides of a tile, or elements; rows at a time
constexpr int SLICES = CG / 64, EIGHTH = CG / 32; // shares of the rows in a tile, and of elements

// A Slope is a dense layer. Its weights and biases begin at two of the chunks.
struct Slope {
	const float *m, *v, *g, *h, *w; // input, gradients by the outputs, weights
	int in, out, block, region;     // block, region: its first ones
	int chunk, bias;
};
struct ChainGradients {
	Slope links[MOST_LINKS];
	Norm norm;          // count regions, of which done counts the blocks that have ended
	const Turn* turn;
	const float* tape;  // gradients by the variances of a noise, or null
	int count, parts, split, rest; // links; parts of the rows; rows of a part; first block behind the links
	int noise, noises;             // chunk of the noise, and its width
};
static_assert(sizeof(Slope) == 64 && sizeof(ChainGradients) == 64 * MOST_LINKS + 136, "");

// A Now holds what a block needs of the step: the chunks of its weights and biases, and
// the numbers of the step, which read_step reads. A step that comes behind one that is not
// finite writes nothing.
struct Now {
	Chunk chunks[2];
	Control control;
};
DEVICE void read_step(const ChainGradients& c, const Turn turn, Now& now) {
	int i = thread() - 64; // these threads have read no chunk
	if (i >= 0 && i < (int)sizeof(Control) / 8) ((uint64*)&now.control)[i] = ((const uint64*)(c.norm.control + turn.slot))[i];
}

// last_of reports whether all other parts of a region are there.
DEVICE bool last_of(const ChainGradients& c, int region) {
	SHARED uint32 before;
	barrier();
	if (thread() == 0) {
		uint32* done = c.norm.done + region;
		before = count_up(done);
		if (before + 1 == (uint32)c.parts) *done = 0;
	}
	barrier();
	return before + 1 == (uint32)c.parts;
}

// sum_parts adds up the parts of N neighbours from element i of a tensor on.
template <int N>
DEVICE void sum_parts(const ChainGradients& c, const Control& k, const Chunk& t, int i, double& kl, double& n2) {
	const Norm& a = c.norm;
	const volatile float *g = a.grad + t.mean + i, *h = a.grad + t.rho + i; // others wrote them in this launch
	float mu[N], rho[N], gm[N], gs[N];
	double constant = constant_of(t);
#pragma unroll
	for (int j = 0; j < N; j++) {
		mu[j] = a.theta[t.mean + i + j] - (t.center ? t.center[i + j] : 0.0f), rho[j] = a.theta[t.rho + i + j];
		gm[j] = g[j], gs[j] = h[j];
	}
#pragma unroll 8
	for (int p = 1; p < c.parts; p++)
#pragma unroll
		for (int j = 0; j < N; j++) gm[j] += g[p * a.size + j], gs[j] += h[p * a.size + j];
#pragma unroll
	for (int j = 0; j < N; j++) {
		if (c.parts > 1) a.grad[t.mean + i + j] = gm[j], a.grad[t.rho + i + j] = gs[j];
		weigh(k, t, constant, mu[j], rho[j], gm[j], gs[j], kl, n2);
	}
}

DEVICE void leave(const ChainGradients& c, int region, double x, double y) {
	total(x, y);
	if (thread() == 0) c.norm.parts[2 * region] = x, c.norm.parts[2 * region + 1] = y;
}

// stage_rows starts copying SIDE columns of SIDE rows of a matrix. Those behind its last
// column, and rows from end on, are zeros; so are all of a matrix that is not there. A
// source must be a place in global memory even where nothing is read.
DEVICE void stage_rows(float* to, const float* from, const float* some, int cols, int col, int row, int end) {
	int r = thread() / (SIDE / 4), q = thread() % (SIDE / 4) * 4;
	bool in = from && row + r < end && col + q < cols;
	copy16(to + r * SIDE + q, in ? from + (long long)(row + r) * cols + col + q : some, in);
}

// tile sums up SIDE × SIDE weights. A thread has four by four of them and a quarter of the
// rows; the quarters are added in order, and a thread finishes four neighbours. Tiles at the
// top sum up the biases, too.
DEVICE void tile(const ChainGradients& c, const Slope& l, const Turn turn, Now& now, int x, int y, int part, int region) {
	float *M = dynamic(), *V = M + DEEP * SIDE, *G = V + DEEP * SIDE, *H = G + DEEP * SIDE;
	int row = y * SIDE, col = x * SIDE, slice = thread() / 64, t = thread() % 64, tx = t % 8 * 4, ty = t / 8 * 4;
	int k0 = part * c.split, k1 = less(c.norm.rows, k0 + c.split), mine = (row + ty + slice) * l.out + col + tx; // first of the neighbours
	bool live = row + ty + slice < l.in && col + tx < l.out;
	float w[4], by = 0;
#pragma unroll
	for (int j = 0; j < 4; j++) w[j] = live ? l.w[mine + j] : 0.0f;
	TileSums<4, 4> sums;
	clear(sums);
	const Near m = near(M) + ty, v = near(V) + ty, g = near(G) + tx, h = near(H) + tx, b = near(t / 32 ? H : G) + t % 32;
	for (; k0 < k1; k0 += DEEP) {
#pragma unroll 1
		for (int q = 0; q < DEEP; q += SIDE) {
			stage_rows(M + q * SIDE, l.m, l.m, l.in, row, k0 + q, k1);
			stage_rows(V + q * SIDE, l.v, l.m, l.in, row, k0 + q, k1);
			stage_rows(G + q * SIDE, l.g, l.m, l.out, col, k0 + q, k1);
			stage_rows(H + q * SIDE, l.h, l.m, l.out, col, k0 + q, k1);
			copies_end();
		}
		read_step(c, turn, now); // while the rows are on their way
#pragma unroll 1
		for (int q = 0; q < DEEP / SIDE; q++) {
			if (q == 0) copies_wait<3>();
			else if (q == 1) copies_wait<2>();
			else if (q == 2) copies_wait<1>();
			else copies_wait<0>();
			barrier();
			int first = (q * SIDE + slice * (SIDE / SLICES)) * SIDE;
#pragma unroll 4
			for (int at = first; at < first + SIDE / SLICES * SIDE; at += SIDE) {
				Four32 p = load4(m + at), r = load4(v + at), d = load4(g + at), e = load4(h + at);
				add<GRADIENT, 4, 4>(sums, p.x, r.x, d.x, e.x);
				if (y == 0) by += b[at];
			}
		}
		barrier();
	}
	constexpr int EACH = 16 * 64; // numbers of a slice and a sum
	Near all = near(dynamic()), biases = all + SLICES * 3 * EACH;
#pragma unroll
	for (int j = 0; j < 16; j++) {
		Near to = all + slice * 3 * EACH + j * 64 + t;
		to[0] = sums.a[j / 4][j % 4], to[EACH] = sums.b[j / 4][j % 4], to[2 * EACH] = sums.c[j / 4][j % 4];
	}
	biases[thread()] = by;
	barrier();
	if (!turn.finite) return;
	float* grad = c.norm.grad + part * c.norm.size;
#pragma unroll
	for (int j = 0; j < 4; j++) {
		Near from = all + (slice * 4 + j) * 64 + t;
		float s0 = from[0], s1 = from[EACH], s2 = from[2 * EACH];
#pragma unroll
		for (int q = 1; q < SLICES; q++) s0 += from[q * 3 * EACH], s1 += from[(q * 3 + 1) * EACH], s2 += from[(q * 3 + 2) * EACH];
		if (!live) continue;
		grad[now.chunks[0].mean + mine + j] = fma(2 * w[j], s2, s0);
		grad[now.chunks[0].rho + mine + j] = s1 + s2;
	}
	bool bias = y == 0 && slice == 0 && col + t % 32 < l.out;
	if (bias) {
		float s = biases[t];
#pragma unroll
		for (int q = 1; q < SLICES; q++) s += biases[q * 64 + t];
		grad[(t / 32 ? now.chunks[1].rho : now.chunks[1].mean) + col + t % 32] = s;
	}
	if (!last_of(c, region)) return;
	double kl = 0, n2 = 0;
	if (live) sum_parts<4>(c, now.control, now.chunks[0], mine, kl, n2);
	if (bias && t < 32) sum_parts<1>(c, now.control, now.chunks[1], col + t, kl, n2);
	leave(c, region, kl, n2);
}

// elements sums up elements of a thin layer, behind its weights those of its bias. A thread
// has an element and an eighth of the rows; the eighths are added in order.
DEVICE void elements(const ChainGradients& c, const Slope& l, const Turn turn, Now& now, int number, int part, int region) {
	SHARED float shares[3][EIGHTH][SIDE];
	int t = thread() % SIDE, eighth = thread() / SIDE, e = number * SIDE + t, r = e / l.out, col = e - r * l.out;
	int k0 = part * c.split, k1 = less(c.norm.rows, k0 + c.split), per = (k1 - k0 + EIGHTH - 1) / EIGHTH;
	k0 += eighth * per, k1 = less(k1, k0 + per);
	bool live = r <= l.in, weight = r < l.in;
	float s0 = 0, s1 = 0, s2 = 0, w = weight ? l.w[e] : 0.0f;
	if (live)
#pragma unroll 16
		for (int i = k0; i < k1; i++) {
			float g = l.g[(long long)i * l.out + col], h = l.h[(long long)i * l.out + col];
			float m = weight ? l.m[(long long)i * l.in + r] : 1.0f, v = weight && l.v ? l.v[(long long)i * l.in + r] : 0.0f;
			s0 = fma(m, g, s0), s1 = fma(m * m, h, s1), s2 = fma(v, h, s2);
		}
	read_step(c, turn, now);
	shares[0][eighth][t] = s0, shares[1][eighth][t] = s1, shares[2][eighth][t] = s2;
	barrier();
	if (!turn.finite) return;
	live = live && eighth == 0;
	const Chunk& to = now.chunks[weight ? 0 : 1];
	int at = weight ? e : col;
	if (live) {
#pragma unroll
		for (int q = 1; q < EIGHTH; q++) s0 += shares[0][q][t], s1 += shares[1][q][t], s2 += shares[2][q][t];
		float* grad = c.norm.grad + part * c.norm.size;
		grad[to.mean + at] = fma(2 * w, s2, s0);
		grad[to.rho + at] = s1 + s2;
	}
	if (!last_of(c, region)) return;
	double kl = 0, n2 = 0;
	if (live) sum_parts<1>(c, now.control, to, at, kl, n2);
	leave(c, region, kl, n2);
}

// noise sums up the gradient of one output's noise, as columns does.
DEVICE void noise(const ChainGradients& c, const Chunk& t, const Control& k, int output) {
	double s = 0, none = 0;
	for (int r = thread(); r < c.norm.rows; r += CG) s += c.tape[(long long)r * c.noises + output];
	total(s, none);
	float raw = c.norm.theta[t.mean + output];
	double x = raw, e = expo(-magnitude(x)), slope = x < 0 ? e / (1 + e) : 1 / (1 + e), kl = 0, n2 = 0;
	float g = (float)(s * 2 * softplus(raw) * slope);
	if (thread() == 0) {
		c.norm.grad[t.mean + output] = g;
		weigh(k, t, 0, raw, 0, g, 0, kl, n2);
	}
	leave(c, c.norm.count - c.noises + output, kl, n2);
}

KERNEL_CHAIN(chain_gradients, ChainGradients, CG, 2) {
	SHARED Now now;
	int b = block(), i = 0, word = thread() % 32, warp = thread() / 32;
	while (i + 1 < c.count && b >= c.links[i + 1].block) i++;
	const Slope& l = c.links[i];
	bool rest = b >= c.rest;
	if (warp < 2 && word < (int)sizeof(Chunk) / 8) ((uint64*)(now.chunks + warp))[word] = fresh((const uint64*)(c.norm.chunks + (rest ? c.noise : warp ? l.bias : l.chunk)) + word);
	follow();
	const Turn turn = *c.turn;
	if (b == c.rest + c.noises) { // the scores of the rows
		if (!turn.finite) return;
		double nll = 0, floored = 0;
		for (int r = thread(); r < c.norm.rows; r += CG) nll += c.norm.nll[r], floored += c.norm.floored[r];
		leave(c, c.norm.count, nll, floored);
	} else if (rest) {
		read_step(c, turn, now);
		barrier();
		if (turn.finite) noise(c, now.chunks[0], now.control, b - c.rest);
	} else {
		int number = (b - l.block) / c.parts, part = (b - l.block) % c.parts, across = (l.out + SIDE - 1) / SIDE;
		if (less(l.in, l.out) > SHALLOW) tile(c, l, turn, now, number % across, number / across, part, l.region + number);
		else elements(c, l, turn, now, number, part, l.region + number);
	}
}
