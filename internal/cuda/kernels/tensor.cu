// Products of wide layers on tensor cores, for compute capability 8.0 and later: tiles
// of 64 × 64 in TF32, three products for one. A number is the sum of two TF32 numbers,
// x = hi + lo, and xy = hi·hi + hi·lo + lo·hi to 2⁻²²; tensor cores round sums towards
// zero, so only sixteen products are added there, and those sums are added in float32.
#include "product.h"

constexpr int TS = 64, TK = 16, TP = TK + 4, TQ = TS + 8;

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
	int i = thread() * 4;
	int r = DEEP ? i / TK : i % TS, k = DEEP ? i % TK : i / TS;
	const float* from = p ? p : any;
	if (VECTOR) {
		bool in = p && row + r < rows && k0 + k < k1;
		long long at = DEEP ? (long long)(row + r) * depth + k0 + k : (long long)(k0 + k) * rows + row + r;
		copy16(&t.x[place<DEEP>(r, k)], in ? from + at : any, in);
		return;
	}
#pragma unroll
	for (int e = 0; e < 4; e++) {
		int re = DEEP ? r : r + e, ke = DEEP ? k + e : k;
		bool in = p && row + re < rows && k0 + ke < k1;
		long long at = DEEP ? (long long)(row + re) * depth + k0 + ke : (long long)(k0 + ke) * rows + row + re;
		copy4(&t.x[place<DEEP>(re, ke)], in ? from + at : any, in);
	}
}

template <int KIND, bool VECTOR>
DEVICE void tensor_tile(const Product& a, int bx, int by, int bz) {
	constexpr bool AD = KIND != GRADIENT, BD = KIND == BACKWARD;
	SHARED Tile<AD> A0[2], A1[2];
	SHARED Tile<BD> B0[2], B1[2];
	int t = thread(), lane = t % 32, warp = t / 32, g = lane / 4, q = lane % 4;
	int row = by * TS, col = bx * TS, wr = warp / 4 * 32, wc = warp % 4 * 16;
	int k0 = KIND == GRADIENT ? bz * a.split : 0;
	int k1 = KIND == GRADIENT ? less(a.depth, k0 + a.split) : a.depth;
	float s0[2][2][4], s1[2][2][4], s2[2][2][4], g0 = 0, g1 = 0;
	float p0[2][2][4], p1[2][2][4], p2[2][2][4]; // of one stage
#pragma unroll
	for (int i = 0; i < 16; i++) {
		int x = i / 8, y = i / 4 % 2, e = i % 4;
		s0[x][y][e] = s1[x][y][e] = s2[x][y][e] = p0[x][y][e] = p1[x][y][e] = p2[x][y][e] = 0;
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
			uint32 wh[2][2], wl[2][2], sh[2][2], sl[2][2], eh[2][2], el[2][2]; // w, s and w²+s
#pragma unroll
			for (int j = 0; j < 2; j++)
#pragma unroll
				for (int e = 0; e < 2; e++) {
					int at = place<BD>(wc + 8 * j + g, k + q + 4 * e);
					float w = B0[stage].x[at], s = B1[stage].x[at];
					split(w, &wh[j][e], &wl[j][e]);
					split(s, &sh[j][e], &sl[j][e]);
					if (KIND != GRADIENT) split(fma(w, w, s), &eh[j][e], &el[j][e]);
				}
#pragma unroll
			for (int i = 0; i < 2; i++) {
				uint32 xh[4], xl[4], yh[4], yl[4], qh[4], ql[4]; // x, y and x²
#pragma unroll
				for (int e = 0; e < 4; e++) {
					int at = place<AD>(wr + 16 * i + g + e % 2 * 8, k + q + e / 2 * 4);
					float x = A0[stage].x[at];
					split(x, &xh[e], &xl[e]);
					if (KIND != BACKWARD) split(x * x, &qh[e], &ql[e]);
					split(A1[stage].x[at], &yh[e], &yl[e]);
				}
				// Neighbours add to different sums, since each waits long for the one before it.
				auto pair = [&](float (*p)[4], const uint32* x, const uint32 (*y)[2]) { mma(p[0], x, y[0]), mma(p[1], x, y[1]); };
				const uint32 *zh = KIND == BACKWARD ? yh : qh, *zl = KIND == BACKWARD ? yl : ql;
				const uint32 (*th)[2] = KIND == GRADIENT ? sh : eh, (*tl)[2] = KIND == GRADIENT ? sl : el;
				pair(p0[i], xl, wh), pair(p1[i], zl, sh);
				if (second) pair(p2[i], yl, th);
				pair(p0[i], xh, wl), pair(p1[i], zh, sl);
				if (second) pair(p2[i], yh, tl);
				pair(p0[i], xh, wh), pair(p1[i], zh, sh);
				if (second) pair(p2[i], yh, th);
			}
		}
#pragma unroll
		for (int i = 0; i < 16; i++) {
			int x = i / 8, y = i / 4 % 2, e = i % 4;
			s0[x][y][e] += p0[x][y][e];
			if (KIND == FORWARD) s1[x][y][e] += p1[x][y][e] + p2[x][y][e];
			else s1[x][y][e] += p1[x][y][e], s2[x][y][e] += p2[x][y][e];
			p0[x][y][e] = p1[x][y][e] = p2[x][y][e] = 0;
		}
		if (KIND == GRADIENT && row == 0 && t < TS)
			for (int k = 0; k < TK; k++) g0 += B0[stage].x[k * TQ + t], g1 += B1[stage].x[k * TQ + t];
		barrier();
	}
#pragma unroll
	for (int i = 0; i < 16; i++) {
		int x = i / 8, y = i / 4 % 2, e = i % 4;
		finish<KIND>(a, bz, row + wr + 16 * x + g + e / 2 * 8, col + wc + 8 * y + 2 * q + e % 2, s0[x][y][e], s1[x][y][e], s2[x][y][e]);
	}
	if (KIND == GRADIENT && row == 0 && t < TS) finish_bias(a, bz, col + t, g0, g1);
}

KERNEL(tensor_forward, Product, TT) { if (!failed(a.results)) tensor_tile<FORWARD, false>(a, block(), block_y(), 0); }
KERNEL(tensor_backward, Product, TT) { if (!failed(a.results)) tensor_tile<BACKWARD, false>(a, block(), block_y(), 0); }
KERNEL(tensor_forward4, Product, TT) { if (!failed(a.results)) tensor_tile<FORWARD, true>(a, block(), block_y(), 0); }
KERNEL(tensor_backward4, Product, TT) { if (!failed(a.results)) tensor_tile<BACKWARD, true>(a, block(), block_y(), 0); }
KERNEL(tensor_gradients, Gradients, TT) {
	if (failed(a.results)) return;
	Job j = a.jobs[block()];
	const Product p = a.products[j.product];
	if (p.aligned) tensor_tile<GRADIENT, true>(p, j.x, j.y, j.z);
	else tensor_tile<GRADIENT, false>(p, j.x, j.y, j.z);
}
