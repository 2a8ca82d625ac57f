// Products of wide layers on tensor cores, for compute capability 8.0 and later: tiles
// of 64 × 64 in TF32, three products for one. A number is the sum of two TF32 numbers,
// x = hi + lo, and xy = hi·hi + hi·lo + lo·hi to 2⁻²²; tensor cores round sums towards
// zero, so only eight products are added there, and those sums are added in float32.
#include "product.h"

constexpr int TS = 64, TK = 16, TP = TK + 4, TQ = TS + 8, TW = 128; // TW threads, 32 × 32 of the tile a warp

#ifndef EMULATED
DEVICE void copy16(float* to, const float* from, bool in) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((uint32)(uint64)(__attribute__((address_space(3))) float*)to), "l"(from), "r"(in ? 16 : 0));
}
DEVICE void copy4(float* to, const float* from, bool in) {
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((uint32)(uint64)(__attribute__((address_space(3))) float*)to), "l"(from), "r"(in ? 4 : 0));
}
DEVICE void copies_end() { asm volatile("cp.async.commit_group;"); }
template <int N>
DEVICE void copies_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// mma adds a product of 16 × 8 by 8 × 8 numbers to d; mma_first sets d.
DEVICE void mma_first(float* d, const uint32* a, const uint32* b) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
		: "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}
DEVICE void mma(float* d, const uint32* a, const uint32* b) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
DEVICE void copy16(float* to, const float* from, bool in) {
	for (int i = 0; i < 4; i++) to[i] = in ? from[i] : 0.0f;
}
DEVICE void copy4(float* to, const float* from, bool in) { *to = in ? *from : 0.0f; }
DEVICE void copies_end() {}
template <int N>
DEVICE void copies_wait() {}
DEVICE void mma(float* d, const uint32* a, const uint32* b) {
	static uint32 A[256][4], B[256][2];
	int t = thread(), w = t / 32 * 32, g = t % 32 / 4, q = t % 4;
	for (int i = 0; i < 4; i++) A[t][i] = a[i];
	for (int i = 0; i < 2; i++) B[t][i] = b[i];
	barrier();
	auto tf = [](uint32 x) { return from_bits(x & 0xffffe000u); };
	for (int i = 0; i < 4; i++) {
		int r = g + i / 2 * 8, c = 2 * q + i % 2;
		for (int k = 0; k < 8; k++)
			d[i] += tf(A[w + r % 8 * 4 + k % 4][r / 8 + k / 4 * 2]) * tf(B[w + c * 4 + k % 4][k / 4]);
	}
	barrier();
}
DEVICE void mma_first(float* d, const uint32* a, const uint32* b) {
	for (int i = 0; i < 4; i++) d[i] = 0;
	mma(d, a, b);
}
#endif

// split cuts x into two TF32 numbers; the card ignores the low 13 bits of both.
DEVICE void split(float x, uint32* hi, uint32* lo) {
	*hi = bits(x);
	*lo = bits(x - from_bits(*hi & 0xffffe000u)) + 0x1000u;
}

// A Tile is one stage of operands in shared memory. Where the depth runs fastest in
// global memory, so it does here: at [row][k]; else at [k][row].
template <bool DEEP>
struct Tile {
	alignas(16) float x[DEEP ? TS * TP : TK * TQ];
};
template <bool DEEP>
DEVICE int place(int row, int k) { return DEEP ? row * TP + k : k * TQ + row; }

// fetch begins to copy a tile: rows × depth numbers, depth or rows fastest.
template <bool DEEP, bool VECTOR>
DEVICE void fetch(Tile<DEEP>& t, const float* p, const float* any, int row, int rows, int k0, int k1, int depth) {
	const float* from = p ? p : any;
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int i = (thread() + half * TW) * 4;
		int r = DEEP ? i / TK : i % TS, k = DEEP ? i % TK : i / TS;
		if (VECTOR) {
			bool in = p && row + r < rows && k0 + k < k1;
			long long at = DEEP ? (long long)(row + r) * depth + k0 + k : (long long)(k0 + k) * rows + row + r;
			copy16(&t.x[place<DEEP>(r, k)], in ? from + at : any, in);
			continue;
		}
#pragma unroll
		for (int e = 0; e < 4; e++) {
			int re = DEEP ? r : r + e, ke = DEEP ? k + e : k;
			bool in = p && row + re < rows && k0 + ke < k1;
			long long at = DEEP ? (long long)(row + re) * depth + k0 + ke : (long long)(k0 + ke) * rows + row + re;
			copy4(&t.x[place<DEEP>(re, ke)], in ? from + at : any, in);
		}
	}
}

template <int KIND, bool VECTOR>
DEVICE void tensor_tile(const Product& a, int bx, int by, int bz) {
	constexpr bool AD = KIND != GRADIENT, BD = KIND == BACKWARD;
	SHARED Tile<AD> A0[2], A1[2];
	SHARED Tile<BD> B0[2], B1[2];
	int t = thread(), lane = t % 32, warp = t / 32, g = lane / 4, q = lane % 4;
	int row = by * TS, col = bx * TS, wr = warp / 2 * 32, wc = warp % 2 * 32;
	int k0 = KIND == GRADIENT ? bz * a.split : 0;
	int k1 = KIND == GRADIENT ? less(a.depth, k0 + a.split) : a.depth;
	float s0[2][4][4], s1[2][4][4], s2[2][4][4], g0 = 0, g1 = 0;
#pragma unroll
	for (int i = 0; i < 32; i++) {
		int x = i / 16, y = i / 4 % 4, e = i % 4;
		s0[x][y][e] = s1[x][y][e] = s2[x][y][e] = 0;
	}
	const bool second = KIND == BACKWARD || a.a1 != 0;
	auto begin = [&](int k, int stage) {
		if (k < k1) {
			fetch<AD, VECTOR>(A0[stage], a.a0, a.a0, row, a.rows, k, k1, a.depth);
			fetch<AD, VECTOR>(A1[stage], a.a1, a.a0, row, a.rows, k, k1, a.depth);
			fetch<BD, VECTOR>(B0[stage], a.b0, a.b0, col, a.cols, k, k1, a.depth);
			fetch<BD, VECTOR>(B1[stage], a.b1, a.b0, col, a.cols, k, k1, a.depth);
		}
		copies_end();
	};
	begin(k0, 0);
	for (int stage = 0; k0 < k1; k0 += TK, stage ^= 1) {
		begin(k0 + TK, stage ^ 1);
		copies_wait<1>();
		barrier();
#pragma unroll
		for (int k = 0; k < TK; k += 8) {
			uint32 xh[2][4], xl[2][4], yh[2][4], yl[2][4], qh[2][4], ql[2][4]; // x, y and x²
#pragma unroll
			for (int i = 0; i < 2; i++)
#pragma unroll
				for (int e = 0; e < 4; e++) {
					int at = place<AD>(wr + 16 * i + g + e % 2 * 8, k + q + e / 2 * 4);
					float x = A0[stage].x[at];
					split(x, &xh[i][e], &xl[i][e]);
					if (KIND != BACKWARD) split(x * x, &qh[i][e], &ql[i][e]);
					split(A1[stage].x[at], &yh[i][e], &yl[i][e]);
				}
#pragma unroll
			for (int jj = 0; jj < 4; jj += 2) {
				uint32 wh[2][2], wl[2][2], sh[2][2], sl[2][2], eh[2][2], el[2][2]; // w, s and w²+s
#pragma unroll
				for (int j = 0; j < 2; j++)
#pragma unroll
					for (int e = 0; e < 2; e++) {
						int at = place<BD>(wc + 8 * (jj + j) + g, k + q + 4 * e);
						float w = B0[stage].x[at], s = B1[stage].x[at];
						split(w, &wh[j][e], &wl[j][e]);
						split(s, &sh[j][e], &sl[j][e]);
						if (KIND != GRADIENT) split(fma(w, w, s), &eh[j][e], &el[j][e]);
					}
#pragma unroll
				for (int i = 0; i < 2; i++) {
					// Neighbours add to different sums, since each waits long for the one before it.
					float p0[2][4], p1[2][4], p2[2][4];
					auto begin = [&](float (*p)[4], const uint32* x, const uint32 (*y)[2]) { mma_first(p[0], x, y[0]), mma_first(p[1], x, y[1]); };
					auto more = [&](float (*p)[4], const uint32* x, const uint32 (*y)[2]) { mma(p[0], x, y[0]), mma(p[1], x, y[1]); };
					const uint32 *zh = KIND == BACKWARD ? yh[i] : qh[i], *zl = KIND == BACKWARD ? yl[i] : ql[i];
					const uint32 (*th)[2] = KIND == GRADIENT ? sh : eh, (*tl)[2] = KIND == GRADIENT ? sl : el;
					begin(p0, xl[i], wh), begin(p1, zl, sh);
					if (second) begin(p2, yl[i], th);
					more(p0, xh[i], wl), more(p1, zh, sl);
					if (second) more(p2, yh[i], tl);
					more(p0, xh[i], wh), more(p1, zh, sh);
					if (second) more(p2, yh[i], th);
#pragma unroll
					for (int e = 0; e < 8; e++) {
						int j = e / 4, f = e % 4;
						s0[i][jj + j][f] += p0[j][f], s1[i][jj + j][f] += p1[j][f];
						if (second && KIND == FORWARD) s1[i][jj + j][f] += p2[j][f];
						if (second && KIND != FORWARD) s2[i][jj + j][f] += p2[j][f];
					}
				}
			}
		}
		if (KIND == GRADIENT && row == 0 && t < TS)
			for (int k = 0; k < TK; k++) g0 += B0[stage].x[k * TQ + t], g1 += B1[stage].x[k * TQ + t];
		barrier();
	}
#pragma unroll
	for (int i = 0; i < 32; i++) {
		int x = i / 16, y = i / 4 % 4, e = i % 4;
		finish<KIND>(a, bz, row + wr + 16 * x + g + e / 2 * 8, col + wc + 8 * y + 2 * q + e % 2, s0[x][y][e], s1[x][y][e], s2[x][y][e]);
	}
	if (KIND == GRADIENT && row == 0 && t < TS) finish_bias(a, bz, col + t, g0, g1);
}

KERNEL(tensor_forward, Product, TW) { if (!failed(a.results)) tensor_tile<FORWARD, false>(a, block(), block_y(), 0); }
KERNEL(tensor_backward, Product, TW) { if (!failed(a.results)) tensor_tile<BACKWARD, false>(a, block(), block_y(), 0); }
KERNEL(tensor_forward4, Product, TW) { if (!failed(a.results)) tensor_tile<FORWARD, true>(a, block(), block_y(), 0); }
KERNEL(tensor_backward4, Product, TW) { if (!failed(a.results)) tensor_tile<BACKWARD, true>(a, block(), block_y(), 0); }
KERNEL(tensor_gradients, Gradients, TW) {
	if (failed(a.results)) return;
	Job j = a.jobs[block()];
	const Product p = a.products[j.product];
	if (p.aligned) tensor_tile<GRADIENT, true>(p, j.x, j.y, j.z);
	else tensor_tile<GRADIENT, false>(p, j.x, j.y, j.z);
}
