// Products of 32 rows with the weights of a chain's broad layer, on Hopper's tensor cores.
#pragma once
#include "chain_product.h"
#include "hopper32.h"

constexpr int CROWD = 32, EIGHTS = CROWD / 8; // rows at a time
constexpr int BROADEST = 128, PLANE = BROADEST / 8 * EIGHT; // most columns of the broad layer; numbers of a plane

// The signals of the rows are planes, right operands of products: numbers by mean, what splits leave of them, the
// same by variance; then half as deep squares of the means. place_of is where a number lies in a plane.
enum { MEANS = 0, MEANS_LEFT = PLANE, VARIANCES = 2 * PLANE, VARIANCES_LEFT = 3 * PLANE, SQUARES = 4 * PLANE, SQUARES_LEFT = 4 * PLANE + PLANE / 2 };
template <int WAY>
DEVICE int place_of(int row, int k) {
	bool upper = WAY == BACK ? k % 8 / 4 : k % 2;
	return k / 8 * EIGHT + (upper ? HALF : 0) + row * 4 + (WAY == BACK ? k % 4 : k % 8 / 2);
}
#ifndef EMULATED
DEVICE void barrier_of_two(int pair) { asm volatile("bar.sync %0, 256;" ::"r"(1 + pair) : "memory"); } // of groups of four warps
#else
DEVICE void barrier_of_two(int) { barrier(); }
#endif

// square writes the squares of the means in the upper half of the depth, in place of those in the lower half.
DEVICE void square(Near planes) {
	int at = thread() / 64 * EIGHT + thread() / 32 % 2 * HALF + thread() % 32 * 4;
	Four32 x = load4(planes + MEANS + PLANE / 2 + at), y;
#pragma unroll
	for (int i = 0; i < 4; i++) x.x[i] *= x.x[i], y.x[i] = left_of(x.x[i]);
	store4(planes + SQUARES + at, x.x), store4(planes + SQUARES_LEFT + at, y.x);
}

// product_of_crowd is product for CROWD rows. Two groups of four warps have 64 columns, each
// every other eight of the depth; then each finishes half of the rows. The depth is a multiple of
// 32, the width one of 16. Store gets the sums of a column and four rows: two neighbours, and those
// eight rows further. It is called behind a barrier, so it may write to the planes.
template <int WAY, class Store>
DEVICE void product_of_crowd(Near planes, int depth, Near w, Near s, int pitch, int width, Store store) {
	constexpr int SUMS = WAY == BACK ? 3 : 2;
	int lane = thread() % 32, g = lane >> 2, q = lane & 3, warp = thread() / 32, half = warp >> 2 & 1, pair = warp >> 3;
	int first_col = pair * 64 + warp % 4 * 16, col = less(first_col, width - 16) + g, mine = 8 * half + (WAY == BACK ? q : 2 * q);
	int next = WAY == BACK ? 8 * pitch : pitch, step = WAY == BACK ? 16 : 16 * pitch; // to the other column, or the next of the depth; to the next sixteen of it
	int at = WAY == BACK ? col * pitch + mine : mine * pitch + col;
	Near w0 = w + at, w1 = w0 + next, s0 = s + at, s1 = s0 + next;
	uint32 means = describe(planes, MEANS + half * EIGHT), variances = describe(planes, VARIANCES + half * EIGHT), squares = describe(planes, SQUARES + half * EIGHT);
	float t[SUMS][EIGHTS * 4];
#pragma unroll
	for (int i = 0; i < SUMS * EIGHTS * 4; i++) t[i / (EIGHTS * 4)][i % (EIGHTS * 4)] = 0;
#pragma unroll 1
	for (int k = 0; k < depth; k += 16) {
		if (WAY != BACK && k == BROADEST / 2) {
			barrier();
			square(planes);
			begun();
			barrier();
			squares = describe(planes, SQUARES + half * EIGHT);
		}
		float u[4], v[4];
#pragma unroll
		for (int e = 0; e < 4; e++) {
			bool second = WAY == BACK ? e % 2 : e / 2;
			int beside = WAY == BACK ? e / 2 * 4 : e % 2 * 8;
			u[e] = (second ? w1 : w0)[beside], v[e] = (second ? s1 : s0)[beside];
		}
#pragma unroll
		for (int i = 0; i < 3; i++) {
			uint32 b = i == 0 ? means : WAY != BACK && i == 1 ? squares : variances, left = b + (WAY != BACK && i == 1 ? PLANE / 2 : PLANE) / 4;
			uint32 ah[4], al[4];
#pragma unroll
			for (int e = 0; e < 4; e++) split(i == 0 ? u[e] : i == 1 ? v[e] : fma(u[e], u[e], v[e]), &ah[e], &al[e]);
			float d[EIGHTS * 4];
			wgmma_begin();
			wgmma32_first(d, al, b), wgmma32(d, ah, left), wgmma32(d, ah, b);
			wgmma_end();
			wgmma32_wait(d);
#pragma unroll
			for (int n = 0; n < EIGHTS * 4; n++) t[i < SUMS ? i : SUMS - 1][n] += d[n];
		}
		constexpr uint32 DEEPER = 2 * EIGHT / 4;
		w0 += step, w1 += step, s0 += step, s1 += step, means += DEEPER, variances += DEEPER, squares += DEEPER;
	}
	constexpr int KEPT = EIGHTS * 2, TOLD = SUMS * KEPT; // of a group of rows; of all sums
	Near scratch = planes + warp % 4 * 32 + lane + pair * 2 * TOLD * 128, own = scratch + half * TOLD * 128, other = scratch + (half ^ 1) * TOLD * 128;
	uint32 upper = 0u - half;
	barrier();
#pragma unroll
	for (int i = 0; i < TOLD; i++) own[i * 128] = either(t[i / KEPT][KEPT + i % KEPT], t[i / KEPT][i % KEPT], upper);
	barrier_of_two(pair);
	float all[3][KEPT] = {};
#pragma unroll
	for (int i = 0; i < TOLD; i++) all[i / KEPT][i % KEPT] = either(t[i / KEPT][i % KEPT], t[i / KEPT][KEPT + i % KEPT], upper) + other[i * 128];
	barrier();
	if (first_col < width)
#pragma unroll
		for (int e = 0; e < 4; e += 2) {
			const Sums rows[4] = {{all[0][e], all[1][e], all[2][e]}, {all[0][e + 1], all[1][e + 1], all[2][e + 1]}, {all[0][e + 4], all[1][e + 4], all[2][e + 4]}, {all[0][e + 5], all[1][e + 5], all[2][e + 5]}};
			store(16 * half + 2 * q, col + 4 * e, rows);
		}
}
