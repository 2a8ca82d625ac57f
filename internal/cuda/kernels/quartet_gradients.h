// The gradients of a quartet's weights, with KL and squared norm. A block has a region: a
// tile of the broad layer, some elements of the last one or of the convolution, or a learned
// number of a layer behind them. It sums it up over all rows, so there are no parts to add.
#pragma once
#include "quartet.h"
#include "product.h"
#include "mma.h"

constexpr int QG = 256, QSIDE = 16, QDEEP = 256, QSTAGE = 64; // threads; side of a tile; rows at a time, and of a copy
constexpr int QSLICES = QG / 16, QEACH = 32, QSHARES = QG / QEACH; // shares of the rows in a tile; elements of other regions, and their shares

// A Matter is a tensor's gradients: chunk is its first chunk.
struct Matter {
	const float *m, *v, *g, *h; // of a dense layer: input, gradients by the outputs
	int in, out, chunk, bias;
};
// A Learned is a layer that learns a number of each unit; mode is that of columns.
struct Learned {
	const float* tape;
	int chunk, mode;
};
struct QuartetGradients {
	Norm norm;                 // count regions; the scores of the rows are one more
	const Turn* turn;
	Matter broad, last;
	const float* parts;        // of the convolution
	int width, count, chunk, bias; // of a part; parts; chunks of the convolution
	int weights, all, learned, units; // of the convolution, with its bias; learned numbers: layers, and units of each
	int at_last, at_conv, at_learned, pad; // first blocks
	Learned tapes[MOST_UNITS];
};
static_assert(sizeof(QuartetGradients) == 256 + 16 * MOST_UNITS, "");

// An Element is a weight before its gradient is known. What an earlier step wrote is there
// before follow.
struct Element {
	float mu, rho;
	bool live;
};
DEVICE Element element(const Norm& a, const Chunk& t, int i, bool live) {
	if (!live) return {0, 0, false};
	return {fresh(a.theta + t.mean + i), t.random ? fresh(a.theta + t.rho + i) : 0.0f, true};
}
DEVICE void settle(const Norm& a, const Control& k, const Chunk& t, double constant, int i, const Element& e, float gm, float gs, double& kl, double& n2) {
	if (!e.live) return;
	a.grad[t.mean + i] = gm;
	if (t.random) a.grad[t.rho + i] = gs;
	weigh(k, t, constant, e.mu - (t.center ? t.center[i] : 0.0f), e.rho, gm, gs, kl, n2);
}

// take_chunks copies the chunks of weights and of their biases into shared memory.
DEVICE void take_chunks(const Norm& a, Chunk* to, int weights, int biases) {
	int word = thread() % 32, warp = thread() / 32;
	if (warp < 2 && word < (int)sizeof(Chunk) / 8) ((uint64*)(to + warp))[word] = fresh((const uint64*)(a.chunks + (warp ? biases : weights)) + word);
}

// stage copies QSIDE columns of QSTAGE rows; rows from end on, and columns behind the last
// one, are zeros.
DEVICE void stage16(float* to, const float* from, int cols, int col, int row, int end) {
	int r = thread() / 4, q = thread() % 4 * 4;
	bool in = row + r < end && col + q < cols;
	copy16(to + r * QSIDE + q, in ? from + (long long)(row + r) * cols + col + q : from, in);
}

// broad_tile: a thread has four by four weights and every sixteenth row; then one weight.
// Tiles at the top sum up the biases, too. What does not depend on the rows is read and
// computed while they are on their way.
DEVICE void broad_tile(const QuartetGradients& c, Chunk* chunks, Control& k, int number) {
	const Matter& l = c.broad;
	int across = (l.out + QSIDE - 1) / QSIDE, x = number % across * QSIDE, y = number / across * QSIDE;
	int slice = thread() / 16, t = thread() % 16, tx = t % 4 * 4, ty = t / 4 * 4, rows = c.norm.rows;
	int r = y + thread() / QSIDE, o = x + thread() % QSIDE;
	const Chunk& own = chunks[0];
	Element e, b;
	double constant, bias, kl = 0, n2 = 0;
	float *M = dynamic(), *V = M + QDEEP * QSIDE, *G = V + QDEEP * QSIDE, *H = G + QDEEP * QSIDE;
	follow();
	CHAIN_STAMP(1, 3);
	const Turn turn = *c.turn;
	TileSums<4, 4> sums;
	clear(sums);
	float bg = 0, bh = 0;
	for (int k0 = 0; k0 < rows; k0 += QDEEP) {
#pragma unroll
		for (int q = 0; q < QDEEP; q += QSTAGE) {
			stage16(M + q * QSIDE, l.m, l.in, y, k0 + q, rows);
			stage16(V + q * QSIDE, l.v, l.in, y, k0 + q, rows);
			stage16(G + q * QSIDE, l.g, l.out, x, k0 + q, rows);
			stage16(H + q * QSIDE, l.h, l.out, x, k0 + q, rows);
			copies_end();
		}
		CHAIN_STAMP(1, 5);
		if (k0 == 0) {
			copy_words(k, c.norm.control[turn.slot], 64);
			take_chunks(c.norm, chunks, l.chunk, l.bias);
			barrier();
			e = element(c.norm, own, r * l.out + o, r < l.in && o < l.out), b = element(c.norm, chunks[1], x + t, y == 0 && thread() < QSIDE && x + t < l.out);
			constant = constant_of(own), bias = y == 0 ? constant_of(chunks[1]) : 0.0;
		}
#pragma unroll
		for (int q = 0; q < QDEEP / QSTAGE; q++) {
			if (q == 0) copies_wait<3>();
			else if (q == 1) copies_wait<2>();
			else if (q == 2) copies_wait<1>();
			else copies_wait<0>();
			barrier();
			if (q == 0) CHAIN_STAMP(1, 6);
			if (q == 3) CHAIN_STAMP(1, 7);
#pragma unroll
			for (int i = 0; i < QSTAGE / QSLICES; i++) {
				int at = (q * QSTAGE + i * QSLICES + slice) * QSIDE;
				Four32 m = load4(near(M) + at + ty), v = load4(near(V) + at + ty), g = load4(near(G) + at + tx), h = load4(near(H) + at + tx);
				add<GRADIENT, 4, 4>(sums, m.x, v.x, g.x, h.x);
				if (y == 0) bg += near(G)[at + t], bh += near(H)[at + t];
			}
		}
		barrier();
	}
	CHAIN_STAMP(1, 8);
	Near all = near(dynamic()), biases = all + QSLICES * 3 * QG;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		Near to = all + slice * 3 * QG + (ty + i) * QSIDE + tx;
		store4(to, sums.a[i]), store4(to + QG, sums.b[i]), store4(to + 2 * QG, sums.c[i]);
	}
	biases[thread()] = bg, biases[QG + thread()] = bh;
	barrier();
	CHAIN_STAMP(1, 9);
	if (!turn.finite) return;
	float s[3] = {0, 0, 0};
#pragma unroll
	for (int q = 0; q < QSLICES; q++)
#pragma unroll
		for (int j = 0; j < 3; j++) s[j] += all[(q * 3 + j) * QG + thread()];
	CHAIN_STAMP(1, 10);
	settle(c.norm, k, own, constant, r * l.out + o, e, fma(2 * e.mu, s[2], s[0]), s[1] + s[2], kl, n2);
	CHAIN_STAMP(1, 11);
	if (b.live) {
		float g = 0, h = 0;
#pragma unroll
		for (int q = 0; q < QSLICES; q++) g += biases[q * QSIDE + t], h += biases[QG + q * QSIDE + t];
		settle(c.norm, k, chunks[1], bias, x + t, b, g, h, kl, n2);
	}
	CHAIN_STAMP(1, 12);
	total(kl, n2);
	if (thread() == 0) c.norm.parts[2 * block()] = kl, c.norm.parts[2 * block() + 1] = n2;
}

// elements sums up QEACH weights, or biases behind them: a thread has one and an eighth of
// the rows, or of the parts that the pass left of the convolution; eighths are added in order.
DEVICE void elements(const QuartetGradients& c, Chunk* chunks, Control& k, int number, bool convolution) {
	SHARED float shares[3][QSHARES][QEACH];
	const Matter& l = c.last;
	int t = thread() % QEACH, share = thread() / QEACH, e = number * QEACH + t, most = convolution ? c.count : c.norm.rows, per = (most + QSHARES - 1) / QSHARES;
	int first = share * per, end = less(most, first + per), weights = convolution ? c.weights : l.in * l.out;
	bool live = e < (convolution ? c.all : weights + l.out), weight = e < weights;
	take_chunks(c.norm, chunks, convolution ? c.chunk : l.chunk, convolution ? c.bias : l.bias);
	barrier();
	const Chunk& own = chunks[weight ? 0 : 1];
	int at = weight ? e : e - weights, r = convolution ? 0 : e / l.out, col = convolution ? 0 : e - r * l.out;
	Element x = element(c.norm, own, at, live && share == 0);
	float mu = live && weight && !convolution ? fresh(c.norm.theta + own.mean + at) : 0.0f, s0 = 0, s1 = 0, s2 = 0;
	double constant = constant_of(own), kl = 0, n2 = 0;
	follow();
	const Turn turn = *c.turn;
	if (live && convolution) {
#pragma unroll 16
		for (int i = first; i < end; i++) s0 += c.parts[(long long)i * c.width + e], s1 += c.parts[(long long)i * c.width + c.all + e];
	} else if (live) {
#pragma unroll 16
		for (int i = first; i < end; i++) {
			float g = l.g[(long long)i * l.out + col], h = l.h[(long long)i * l.out + col];
			float m = weight ? l.m[(long long)i * l.in + r] : 1.0f, v = weight ? l.v[(long long)i * l.in + r] : 0.0f;
			s0 = fma(m, g, s0), s1 = fma(m * m, h, s1), s2 = fma(v, h, s2);
		}
	}
	copy_words(k, c.norm.control[turn.slot], 0);
	shares[0][share][t] = s0, shares[1][share][t] = s1, shares[2][share][t] = s2;
	barrier();
	if (!turn.finite) return;
	if (x.live) {
#pragma unroll
		for (int q = 1; q < QSHARES; q++) s0 += shares[0][q][t], s1 += shares[1][q][t], s2 += shares[2][q][t];
		settle(c.norm, k, own, constant, at, x, fma(2 * mu, s2, s0), s1 + s2, kl, n2);
	}
	total(kl, n2);
	if (thread() == 0) c.norm.parts[2 * block()] = kl, c.norm.parts[2 * block() + 1] = n2;
}

// learned sums up the gradient of a learned number, as columns does; with no tape, the scores
// of the rows.
DEVICE void learned(const QuartetGradients& c, Chunk* chunks, Control& k, const Learned* l, int unit) {
	const Chunk& own = chunks[0];
	if (l) take_chunks(c.norm, chunks, l->chunk, l->chunk);
	follow();
	const Turn turn = *c.turn;
	double x = 0, y = 0;
	copy_words(k, c.norm.control[turn.slot], 0);
	for (int r = thread(); r < c.norm.rows; r += QG)
		if (l) x += l->tape[(long long)r * c.units + unit];
		else x += c.norm.nll[r], y += c.norm.floored[r];
	total(x, y);
	if (thread() != 0 || !turn.finite) return;
	if (l) {
		float raw = c.norm.theta[own.mean + unit];
		double e = expo(-magnitude((double)raw)), slope = raw < 0 ? e / (1 + e) : 1 / (1 + e), kl = 0, n2 = 0;
		float g = (float)(l->mode == BY_VARIANCE ? x * 2 * softplus(raw) * slope : x * slope);
		settle(c.norm, k, own, 0, unit, {raw, 0, true}, g, 0, kl, n2);
		x = kl, y = n2;
	}
	c.norm.parts[2 * block()] = x, c.norm.parts[2 * block() + 1] = y;
}

KERNEL_CHAIN(quartet_gradients, QuartetGradients, QG, 2) {
	SHARED Chunk chunks[2];
	SHARED Control k;
	int b = block(), number = b - c.at_learned, layer = number / c.units;
	CHAIN_STAMP(1, 1);
	bool tile = b < c.at_last, last = b < c.at_conv, convolution = b < c.at_learned;
	const Learned* l = !convolution && layer < c.learned ? c.tapes + layer : 0;
	if (tile) broad_tile(c, chunks, k, b);
	else if (convolution) elements(c, chunks, k, b - (last ? c.at_last : c.at_conv), !last);
	else learned(c, chunks, k, l, number - layer * c.units);
	CHAIN_STAMP(1, 15);
}
