// Products of wide layers in float32, in tiles of SIDE × SIDE.
#include "product.h"

constexpr int BK = 16;

template <int KIND, int SIDE>
DEVICE void tile(const Product& a, int bx, int by, int bz) {
	constexpr int N = SIDE / 16;               // elements of a thread in a row and in a column
	constexpr int LOADS = SIDE * BK / TT;      // of each operand by a thread
	constexpr int PITCH = SIDE + 4;
	SHARED float A0[BK][PITCH], A1[BK][PITCH], B0[BK][PITCH], B1[BK][PITCH];
	int t = thread(), tx = t % 16, ty = t / 16;
	int row = by * SIDE, col = bx * SIDE;
	int k0 = KIND == GRADIENT ? bz * a.split : 0;
	int k1 = KIND == GRADIENT ? less(a.depth, k0 + a.split) : a.depth;
	TileSums<N, N> sums;
	clear(sums);
	float g0 = 0, g1 = 0;
	for (; k0 < k1; k0 += BK) {
#pragma unroll
		for (int l = 0; l < LOADS; l++) {
			int i = t + l * TT;
			// A: depth runs fastest in memory, but for gradients the columns do.
			int k = KIND == GRADIENT ? i / SIDE : i % BK, r = KIND == GRADIENT ? i % SIDE : i / BK;
			bool in = k0 + k < k1 && row + r < a.rows;
			long long at = KIND == GRADIENT ? (long long)(k0 + k) * a.rows + row + r : (long long)(row + r) * a.depth + k0 + k;
			A0[k][r] = in ? a.a0[at] : 0.0f;
			A1[k][r] = in && a.a1 ? a.a1[at] : 0.0f;
			k = KIND == BACKWARD ? i % BK : i / SIDE, r = KIND == BACKWARD ? i / BK : i % SIDE;
			in = k0 + k < k1 && col + r < a.cols;
			at = KIND == BACKWARD ? (long long)(col + r) * a.depth + k0 + k : (long long)(k0 + k) * a.cols + col + r;
			B0[k][r] = in ? a.b0[at] : 0.0f;
			B1[k][r] = in && a.b1 ? a.b1[at] : 0.0f;
		}
		barrier();
#pragma unroll
		for (int k = 0; k < BK; k++) add<KIND>(sums, &A0[k][ty * N], &A1[k][ty * N], &B0[k][tx * N], &B1[k][tx * N]);
		if (KIND == GRADIENT && row == 0 && t < SIDE)
			for (int k = 0; k < BK; k++) g0 += B0[k][t], g1 += B1[k][t];
		barrier();
	}
	finish<KIND>(a, bz, row + ty * N, col + tx * N, sums);
	if (KIND == GRADIENT && row == 0 && t < SIDE) finish_bias(a, bz, col + t, g0, g1);
}

KERNEL_MANY(forward64, Product, TT, 1, block_z) { if (!failed(a.results)) tile<FORWARD, 64>(a, block(), block_y(), 0); }
KERNEL_MANY(backward64, Product, TT, 1, block_z) { if (!failed(a.results)) tile<BACKWARD, 64>(a, block(), block_y(), 0); }
KERNEL_MANY(forward32, Product, TT, 1, block_z) { if (!failed(a.results)) tile<FORWARD, 32>(a, block(), block_y(), 0); }
KERNEL_MANY(backward32, Product, TT, 1, block_z) { if (!failed(a.results)) tile<BACKWARD, 32>(a, block(), block_y(), 0); }

KERNEL_MANY(gradients32, Gradients, TT, 1, block_y) {
	if (failed(a.results)) return;
	Job j = a.jobs[block()];
	const Product p = a.products[j.product];
	tile<GRADIENT, 32>(p, j.x, j.y, j.z);
}
KERNEL_MANY(gradients64, Gradients, TT, 1, block_y) {
	if (failed(a.results)) return;
	Job j = a.jobs[block()];
	const Product p = a.products[j.product];
	tile<GRADIENT, 64>(p, j.x, j.y, j.z);
}
