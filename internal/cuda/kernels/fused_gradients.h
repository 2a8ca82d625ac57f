// Gradients of the weights of small networks: parts of the rows × tiles of a matrix, or
// × some elements of a thin one. The parts are added when the parameters are updated.
#pragma once
#include "product.h"
#include "mma.h"
#include "near.h"

constexpr int GT = 256, TALL = 64, ACROSS = 32, DEEP_ROWS = 64; // threads; sides of a tile; rows at a time
constexpr int TILE_FLOATS = 2 * DEEP_ROWS * (TALL + ACROSS);

// What a job is, in its y, if it is no tile: elements of a matrix and its bias behind it,
// or of the bias alone; or numbers whose parts the pass left, to add up.
enum { ELEMENTS = -1, BIAS = -2, PARTS = -3 };

// stage copies columns [col, col+SIDE) of n rows of a matrix to shared memory.
template <int SIDE>
DEVICE void stage(float* to, const float* from, int cols, int col, long long row, int n, bool vectors) {
	if (!from) {
		for (int i = thread(); i < n * SIDE; i += GT) to[i] = 0;
		return;
	}
	if (vectors) {
		for (int i = thread(); i < n * SIDE / 4; i += GT) {
			int r = i / (SIDE / 4), c = i % (SIDE / 4) * 4;
			bool in = col + c < cols;
			copy16(to + r * SIDE + c, in ? from + (row + r) * cols + col + c : from, in);
		}
		return;
	}
	for (int i = thread(); i < n * SIDE; i += GT) {
		int r = i / SIDE, c = i % SIDE;
		bool in = col + c < cols;
		copy4(to + r * SIDE + c, in ? from + (row + r) * cols + col + c : from, in);
	}
}

// gradient_tile sums up a tile over a part of the rows. A thread has four by four weights
// and half of the rows; the halves are added at the end.
DEVICE void gradient_tile(const Product& a, int bx, int by, int bz) {
	float *M = dynamic(), *V = M + DEEP_ROWS * TALL, *G = V + DEEP_ROWS * TALL, *H = G + DEEP_ROWS * ACROSS;
	int row = by * TALL, col = bx * ACROSS, half = thread() / (GT / 2), t = thread() % (GT / 2), tx = t % (ACROSS / 4) * 4, ty = t / (ACROSS / 4) * 4;
	int k0 = bz * a.split, k1 = less(a.depth, k0 + a.split);
	TileSums<4, 4> sums;
	clear(sums);
	// Each half finishes two rows of the four.
	float w[2][4];
#pragma unroll
	for (int i = 0; i < 8; i++) {
		int r = row + ty + 2 * half + i / 4, c = col + tx + i % 4;
		w[i / 4][i % 4] = r < a.rows && c < a.cols ? a.e0[(long long)r * a.cols + c] : 0.0f;
	}
	for (; k0 < k1; k0 += DEEP_ROWS) {
		int n = less(DEEP_ROWS, k1 - k0);
		stage<TALL>(M, a.a0, a.rows, row, k0, n, a.aligned);
		stage<TALL>(V, a.a1, a.rows, row, k0, n, a.aligned);
		stage<ACROSS>(G, a.b0, a.cols, col, k0, n, a.aligned);
		stage<ACROSS>(H, a.b1, a.cols, col, k0, n, a.aligned);
		copies_end();
		copies_wait<0>();
		barrier();
		int middle = (n + 1) / 2;
		const Near m = near(M), v = near(V), g = near(G), h = near(H);
#pragma unroll 4
		for (int k = half ? middle : 0; k < (half ? n : middle); k++) {
			Four32 x = load4(m + k * TALL + ty), y = load4(v + k * TALL + ty), p = load4(g + k * ACROSS + tx), q = load4(h + k * ACROSS + tx);
			add<GRADIENT, 4, 4>(sums, x.x, y.x, p.x, q.x);
		}
		barrier();
	}
	float* other = dynamic();
#pragma unroll
	for (int i = 0; i < 8; i++) {
		int c = i % 4, at = half * 24 + i * 3;
		other[at * (GT / 2) + t] = half ? sums.a[i / 4][c] : sums.a[2 + i / 4][c];
		other[(at + 1) * (GT / 2) + t] = half ? sums.b[i / 4][c] : sums.b[2 + i / 4][c];
		other[(at + 2) * (GT / 2) + t] = half ? sums.c[i / 4][c] : sums.c[2 + i / 4][c];
	}
	barrier();
#pragma unroll
	for (int i = 0; i < 8; i++) {
		int r = row + ty + 2 * half + i / 4, c = col + tx + i % 4, j = i % 4, at = (half ? 0 : 24) + i * 3;
		float s0 = (half ? sums.a[2 + i / 4][j] : sums.a[i / 4][j]) + other[at * (GT / 2) + t];
		float s1 = (half ? sums.b[2 + i / 4][j] : sums.b[i / 4][j]) + other[(at + 1) * (GT / 2) + t];
		float s2 = (half ? sums.c[2 + i / 4][j] : sums.c[i / 4][j]) + other[(at + 2) * (GT / 2) + t];
		if (r >= a.rows || c >= a.cols) continue;
		long long to = bz * a.part + (long long)r * a.cols + c;
		a.o0[to] = fma(2 * w[i / 4][j], s2, s0);
		if (a.o1) a.o1[to] = s1 + s2;
	}
}

// gradient_elements sums up elements of a thin layer, or of a bias, over a part of the
// rows: a thread has an element and a quarter of the rows, the quarters are added in order.
constexpr int QUARTER = GT / 4;
DEVICE void gradient_elements(const Product& a, int bx, bool bias, int bz) {
	SHARED float parts[3][4][QUARTER];
	int t = thread() % QUARTER, quarter = thread() / QUARTER, e = bx * QUARTER + t + (bias ? a.rows * a.cols : 0);
	int r = e / a.cols, c = e % a.cols, k0 = bz * a.split, k1 = less(a.depth, k0 + a.split), per = (k1 - k0 + 3) / 4;
	k0 += quarter * per, k1 = less(k1, k0 + per);
	bool live = r <= a.rows, weight = r < a.rows;
	float s0 = 0, s1 = 0, s2 = 0;
	float w = weight && live ? a.e0[e] : 0.0f;
	if (live)
#pragma unroll 8
		for (int k = k0; k < k1; k++) {
			float g = a.b0[(long long)k * a.cols + c], h = a.b1 ? a.b1[(long long)k * a.cols + c] : 0.0f;
			float m = weight ? a.a0[(long long)k * a.rows + r] : 1.0f, v = weight && a.a1 ? a.a1[(long long)k * a.rows + r] : 0.0f;
			s0 = fma(m, g, s0), s1 = fma(m * m, h, s1), s2 = fma(v, h, s2);
		}
	parts[0][quarter][t] = s0, parts[1][quarter][t] = s1, parts[2][quarter][t] = s2;
	barrier();
	if (quarter || !live) return;
#pragma unroll
	for (int q = 1; q < 4; q++) s0 += parts[0][q][t], s1 += parts[1][q][t], s2 += parts[2][q][t];
	if (!weight) {
		finish_bias(a, bz, c, s0, s1);
		return;
	}
	a.o0[bz * a.part + e] = fma(2 * w, s2, s0);
	if (a.o1) a.o1[bz * a.part + e] = s1 + s2;
}

// gradient_parts adds up a.split parts of numbers: a thread has a number and a quarter of
// the parts, the quarters are added in order.
DEVICE void gradient_parts(const Product& a, int bx) {
	SHARED float parts[4][QUARTER];
	int t = thread() % QUARTER, quarter = thread() / QUARTER, e = bx * QUARTER + t, per = (a.split + 3) / 4, k0 = quarter * per, k1 = less(a.split, k0 + per);
	bool live = e < a.rows;
	float s = 0;
	if (live)
#pragma unroll 8
		for (int k = k0; k < k1; k++) s += a.a0[k * a.part + e];
	parts[quarter][t] = s;
	barrier();
	if (quarter || !live) return;
#pragma unroll
	for (int q = 1; q < 4; q++) s += parts[q][t];
	a.o0[e] = s;
}

KERNEL_MANY(fused_gradients, Gradients, GT, 2, block_y) {
	SHARED Product p;
	bool stop = failed(a.results);
	Job j = a.jobs[block()];
	if (thread() < (int)(sizeof(Product) / 8)) ((uint64*)&p)[thread()] = ((const uint64*)(a.products + j.product))[thread()];
	barrier();
	if (stop) return;
	if (j.y == PARTS) gradient_parts(p, j.x);
	else if (j.y < 0) gradient_elements(p, j.x, j.y == BIAS, j.z);
	else gradient_tile(p, j.x, j.y, j.z);
}
