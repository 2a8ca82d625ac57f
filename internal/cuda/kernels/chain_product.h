// Products of eight rows with the weights of a chain, on tensor cores in TF32: three products for
// one, as in tensor.cu. The weights are the left operand, the rows the right one.
#pragma once
#include "sums.h"
#include "near.h"

// Inputs of a link, and gradients by its outputs, lie so far apart from row to row that
// the threads of a warp find their numbers in different banks.
DEVICE int input_pitch(int n) { return n <= SHALLOW ? n : (n + 23) / 32 * 32 + 8; }
DEVICE int output_pitch(int n) { return n <= SHALLOW ? n : (n + 27) / 32 * 32 + 4; }

// A Group is the threads of a block that take rows through the network together. Where a
// block takes many rows, two groups share its weights, and one works while the other waits.
struct Group {
	int number, lane, warp, warps;
	int base; // of its signals in shared memory
};
#ifndef EMULATED
DEVICE void barrier(const Group& g) { asm volatile("bar.sync %0, %1;" ::"r"(1 + g.number), "r"(32 * g.warps) : "memory"); }
#else
DEVICE void barrier(const Group&) { barrier(); } // all groups have as many
#endif

constexpr int TELL = 3 * 64; // numbers that a warp tells another one

// either returns a, or b where mask is all ones. A condition would move the sums to memory.
DEVICE float either(float a, float b, uint32 mask) { return from_bits((bits(a) & ~mask) | (bits(b) & mask)); }

// product multiplies PER rows of a group, which lie apart from one another by a pitch, by a matrix of
// depth × width numbers, or on the way back of width × depth. Two warps have sixteen columns:
// each multiplies every other eight of the depth, then finishes half of the columns. The
// rows of the matrix may still be on their way: ready waits for those from a depth on. WHOLE:
// the depth is a multiple of 32, the width one of 16.
template <int WAY, bool WHOLE, class Ready, class Store>
DEVICE void product(const Group& group, Near x, Near y, int apart, int depth, Near w, Near s, int pitch, int width, Near scratch, Ready ready, Store store) {
	constexpr int SUMS = WAY == BACK ? 3 : 2, NEXT = WAY == BACK ? 4 : 1; // the order of eight numbers of the depth does not matter
	int lane = group.lane, g = lane >> 2, q = lane & 3, warp = group.warp, half = warp & 1;
	int tasks = (width + 15) >> 4 << 1, turns = 1, mine = 8 * half + (WAY == BACK ? q : 2 * q);
	while (turns * group.warps < tasks) turns++;
	x = x + g * apart + mine, y = y + g * apart + mine;
#pragma unroll 1
	for (int turn = 0; turn < turns; turn++) { // as many for all warps
		int task = turn * group.warps + warp, col = (task >> 1) * 16 + g, cols[2] = {less(col, width - 1), less(col + 8, width - 1)};
		if (WHOLE) cols[0] = less((task >> 1) * 16, width - 16) + g, cols[1] = cols[0] + 8;
		float t[SUMS][4];
#pragma unroll
		for (int i = 0; i < SUMS * 4; i++) t[i / 4][i % 4] = 0;
		int at[2] = {WAY == BACK ? cols[0] * pitch + mine : mine * pitch + cols[0], WAY == BACK ? cols[1] * pitch + mine : (mine + 1) * pitch + cols[0]};
#pragma unroll 1
		for (int first = 0; first < depth; first += 32) {
			if (turn == 0) ready(first);
#pragma unroll
			for (int j = 0; j < 2; j++) {
				uint32 ah[3][4], al[3][4], bh[3][2], bl[3][2];
#pragma unroll
				for (int e = 0; e < 4; e++) {
					int from;
					if (WHOLE) {
						from = WAY == BACK ? at[e % 2] + first + 16 * j + e / 2 * NEXT : at[e / 2] + (first + 16 * j) * pitch + e % 2 * 8;
					} else {
						int down = less(mine + first + 16 * j + e / 2 * NEXT, depth - 1);
						from = WAY == BACK ? cols[e % 2] * pitch + down : down * pitch + cols[e % 2];
					}
					float u = w[from], v = s[from];
					split(u, &ah[0][e], &al[0][e]), split(v, &ah[1][e], &al[1][e]), split(fma(u, u, v), &ah[2][e], &al[2][e]);
				}
				Two32 p, r;
				int k = first + 16 * j;
				if (WHOLE && WAY != BACK) {
					p = load2(x + k), r = load2(y + k);
				} else {
#pragma unroll
					for (int e = 0; e < 2; e++) {
						int down = WHOLE ? k + e * NEXT : less(k + e * NEXT, depth - 1 - mine);
						p.x[e] = x[down], r.x[e] = y[down];
						if (!WHOLE && mine + k + e * NEXT >= depth) p.x[e] = r.x[e] = 0;
					}
				}
#pragma unroll
				for (int e = 0; e < 2; e++) {
					split(p.x[e], &bh[0][e], &bl[0][e]), split(r.x[e], &bh[2][e], &bl[2][e]);
					if (WAY == BACK) bh[1][e] = bh[2][e], bl[1][e] = bl[2][e];
					else split(p.x[e] * p.x[e], &bh[1][e], &bl[1][e]);
				}
#pragma unroll
				for (int i = 0; i < 3; i++) {
					float d[4];
					mma_first(d, al[i], bh[i]), mma(d, ah[i], bl[i]), mma(d, ah[i], bh[i]);
#pragma unroll
					for (int e = 0; e < 4; e++) t[i < SUMS ? i : SUMS - 1][e] += d[e];
				}
			}
		}
		Near own = scratch + warp * TELL + lane, other = scratch + (warp ^ 1) * TELL + lane;
		uint32 upper = 0u - half;
#pragma unroll
		for (int i = 0; i < SUMS * 2; i++) own[i * 32] = either(t[i / 2][2 + i % 2], t[i / 2][i % 2], upper);
		barrier(group);
		float all[3][2] = {};
#pragma unroll
		for (int i = 0; i < SUMS * 2; i++) all[i / 2][i % 2] = either(t[i / 2][i % 2], t[i / 2][2 + i % 2], upper) + other[i * 32];
		col += 8 * half;
		if (task < tasks && col < width) store(2 * q, col, Sums{all[0][0], all[1][0], all[2][0]}, Sums{all[0][1], all[1][1], all[2][1]});
		if (turn + 1 < turns) barrier(group);
	}
}
