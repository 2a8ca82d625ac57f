// Convolutions, forward, backward and the gradients of the weights, as products in tiles
// whose left operand is gathered from the images: no patches are stored. With places and
// cells counted channels last, weights are a matrix of cells × features, and
//
//	FORWARD   rows: image, place          depth: cell of the window, channel
//	BACKWARD  rows: image, cell           depth: cell of the window, feature
//	GRADIENT  rows: window cell, channel  depth: image, place
#include "product.h"

struct Conv {
	Product p;
	Image image;
};
static_assert(sizeof(Conv) == sizeof(Product) + 48, "");

constexpr int CK = 16; // depth of a tile

// A Where is a row or a depth of a left operand, split up: the image, or 0, two
// coordinates, and the channel or feature.
struct Where {
	int n, y, x, c;
};
DEVICE Where split(int i, int channels, int width, int height) {
	Where w;
	w.c = i % channels, i /= channels;
	w.x = i % width, i /= width;
	w.y = i % height, w.n = i / height;
	return w;
}

// left says where an element of the left operand lies; −1: it is zero.
template <int KIND>
DEVICE long long left(const Image& g, int features, Where r, Where k) {
	if (KIND == BACKWARD) {
		int y = r.y + g.top - k.y, x = r.x + g.left - k.x;
		if (y < 0 || x < 0 || y % g.down || x % g.across) return -1;
		y /= g.down, x /= g.across;
		if (y >= g.oh || x >= g.ow) return -1;
		return (((long long)r.n * g.oh + y) * g.ow + x) * features + k.c;
	}
	Where place = KIND == FORWARD ? r : k, cell = KIND == FORWARD ? k : r;
	int y = place.y * g.down - g.top + cell.y, x = place.x * g.across - g.left + cell.x;
	if (y < 0 || x < 0 || y >= g.h || x >= g.w) return -1;
	return (((long long)place.n * g.h + y) * g.w + x) * g.c + cell.c;
}

// image_tile is tile of product.cu with such an operand, ROWS × COLS.
template <int KIND, int ROWS, int COLS>
DEVICE void image_tile(const Conv& a, int bx, int by, int bz) {
	constexpr int M = ROWS / 16, N = COLS / 16; // elements of a thread
	constexpr int LA = ROWS * CK / TT, LB = COLS * CK / TT, PA = ROWS + 4, PB = COLS + 4;
	SHARED float A0[CK][PA], A1[CK][PA], B0[CK][PB], B1[CK][PB];
	SHARED Where depth[CK];
	const Product& p = a.p;
	const Image& g = a.image;
	int features = KIND == BACKWARD ? p.depth / (g.kh * g.kw) : p.cols;
	int t = thread(), tx = t % 16, ty = t / 16, row = by * ROWS, col = bx * COLS;
	int k0 = KIND == GRADIENT ? bz * p.split : 0, k1 = KIND == GRADIENT ? less(p.depth, k0 + p.split) : p.depth;
	Where mine[LA]; // rows of the elements that this thread loads
#pragma unroll
	for (int l = 0; l < LA; l++) {
		int i = t + l * TT, r = row + (KIND == GRADIENT ? i % ROWS : i / CK);
		if (KIND == FORWARD) mine[l] = split(r, 1, g.ow, g.oh);
		if (KIND == BACKWARD) mine[l] = split(r, 1, g.w, g.h);
		if (KIND == GRADIENT) mine[l] = split(r, g.c, g.kw, g.kh);
	}
	TileSums<M, N> sums;
	clear(sums);
	float g0 = 0, g1 = 0;
	for (; k0 < k1; k0 += CK) {
		if (t < CK) {
			if (KIND == FORWARD) depth[t] = split(k0 + t, g.c, g.kw, g.kh);
			if (KIND == BACKWARD) depth[t] = split(k0 + t, features, g.kw, g.kh);
			if (KIND == GRADIENT) depth[t] = split(k0 + t, 1, g.ow, g.oh);
		}
		barrier();
#pragma unroll
		for (int l = 0; l < LA; l++) {
			int i = t + l * TT, k = KIND == GRADIENT ? i / ROWS : i % CK, r = KIND == GRADIENT ? i % ROWS : i / CK;
			bool in = k0 + k < k1 && row + r < p.rows;
			long long at = in ? left<KIND>(g, features, mine[l], depth[k]) : -1;
			A0[k][r] = at >= 0 ? p.a0[at] : 0.0f;
			A1[k][r] = at >= 0 && p.a1 ? p.a1[at] : 0.0f;
		}
#pragma unroll
		for (int l = 0; l < LB; l++) {
			int i = t + l * TT, k = KIND == BACKWARD ? i % CK : i / COLS, c = KIND == BACKWARD ? i / CK : i % COLS;
			bool in = k0 + k < k1 && col + c < p.cols;
			long long at = (long long)(k0 + k) * p.cols + col + c;
			if (KIND == BACKWARD) at = ((long long)(depth[k].y * g.kw + depth[k].x) * g.c + col + c) * features + depth[k].c;
			B0[k][c] = in ? p.b0[at] : 0.0f;
			B1[k][c] = in && p.b1 ? p.b1[at] : 0.0f;
		}
		barrier();
#pragma unroll
		for (int k = 0; k < CK; k++) add<KIND>(sums, &A0[k][ty * M], &A1[k][ty * M], &B0[k][tx * N], &B1[k][tx * N]);
		if (KIND == GRADIENT && row == 0 && t < COLS)
			for (int k = 0; k < CK; k++) g0 += B0[k][t], g1 += B1[k][t];
		barrier();
	}
	finish<KIND>(p, bz, row + ty * M, col + tx * N, sums);
	if (KIND == GRADIENT && row == 0 && t < COLS) finish_bias(p, bz, col + t, g0, g1);
}

KERNEL_MANY(conv_forward, Conv, TT, 1, block_z) { if (!failed(a.p.results)) image_tile<FORWARD, 64, 64>(a, block_y(), block(), 0); }
KERNEL_MANY(conv_backward, Conv, TT, 1, block_z) { if (!failed(a.p.results)) image_tile<BACKWARD, 64, 64>(a, block_y(), block(), 0); }
KERNEL_MANY(conv_forward16, Conv, TT, 1, block_z) { if (!failed(a.p.results)) image_tile<FORWARD, 64, 16>(a, block_y(), block(), 0); }
KERNEL_MANY(conv_backward16, Conv, TT, 1, block_z) { if (!failed(a.p.results)) image_tile<BACKWARD, 64, 16>(a, block_y(), block(), 0); }

struct ConvGradients {
	const Conv* convs;
	const Job* jobs;
	const Result* results;
};
KERNEL_MANY(conv_gradients, ConvGradients, TT, 1, block_y) {
	if (failed(a.results)) return;
	Job j = a.jobs[block()];
	const Conv c = a.convs[j.product];
	image_tile<GRADIENT, 64, 64>(c, j.x, j.y, j.z);
}
KERNEL_MANY(conv_gradients16, ConvGradients, TT, 1, block_y) {
	if (failed(a.results)) return;
	Job j = a.jobs[block()];
	const Conv c = a.convs[j.product];
	image_tile<GRADIENT, 64, 16>(c, j.x, j.y, j.z);
}
