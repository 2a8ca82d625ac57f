// Products of wide layers on tensor cores, for compute capability 8.0 and later, in TF32,
// three products for one. A number is the sum of two TF32 numbers, x = hi + lo, and
// xy = hi·hi + hi·lo + lo·hi to 2⁻²²; tensor cores round sums towards zero, so only
// products of eight neighbours are added there, and those sums are added in float32.
//
// A block has a tile of ROWS × COLS results, a warp 32 × 16 or 16 × 16 of them: small, so
// that registers suffice for sixteen warps on a multiprocessor, which hide each other's
// waiting. The order of a sum does not depend on the tile: every size gives the same bits.
#include "product.h"
#include "mma.h"

constexpr int TK = 16, STAGES = 3; // depth of a stage; stages that are under way

// An operand lies in shared memory as it lies in global memory: where the depth runs
// fastest there (DEEP), at [row][k], else at [k][row]. Gaps keep the banks apart.
template <bool DEEP, int SIDE>
DEVICE constexpr int place(int row, int k) { return DEEP ? row * (TK + 4) + k : k * (SIDE + 8) + row; }
template <bool DEEP, int SIDE>
DEVICE constexpr int room() { return DEEP ? SIDE * (TK + 4) : TK * (SIDE + 8); }

// A Source is the part of an operand that a thread copies at each stage: four neighbours.
template <bool VECTOR>
struct Source {
	const float* from;
	int to, until; // place in the stage; no more to copy from this depth on
	int inside, k; // how many of the four are inside the matrix, if they are not vectors

	template <bool DEEP, int SIDE>
	METHOD void set(int slot, const float* p, const float* any, int base, int row, int rows, int k0, int k1, int depth) {
		int i = slot * 4, r = DEEP ? i / TK : i % SIDE;
		k = DEEP ? i % TK : i / SIDE;
		to = base + place<DEEP, SIDE>(r, k);
		inside = DEEP ? 4 : less(rows - row - r, 4);
		bool none = !p || row + r >= rows;
		until = none ? k0 : k1 - k;
		from = none ? any : p + (DEEP ? (long long)(row + r) * depth + k0 + k : (long long)(k0 + k) * rows + row + r);
	}
	template <bool DEEP>
	METHOD void copy(float* stage, const float* any, int k0, int k1) const {
		bool in = k0 < until;
		if (VECTOR) {
			copy16(stage + to, in ? from : any, in);
			return;
		}
#pragma unroll
		for (int e = 0; e < 4; e++) {
			bool one = in && (DEEP ? k0 + k + e < k1 : e < inside);
			copy4(stage + to + e, one ? from + e : any, one);
		}
	}
};

template <int KIND, int ROWS, int COLS, int WR, int WC, bool SECOND, bool VECTOR>
struct Tile {
	static constexpr bool AD = KIND != GRADIENT, BD = KIND == BACKWARD;
	static constexpr int NI = WR / 16, NJ = WC / 8, THREADS = ROWS / WR * (COLS / WC) * 32;
	static constexpr int A = room<AD, ROWS>(), B = room<BD, COLS>(), STAGE = 2 * A + 2 * B;
	// Copies of a thread: of the first operand, and of both parts of the second, which two
	// halves of the threads share where there is less than one each.
	static constexpr int NA = ROWS * TK / 4 / THREADS, NB = 2 * COLS * TK / 4 / THREADS, HALF = COLS * TK / 4;
	static_assert(NA * THREADS * 4 == ROWS * TK && NB * THREADS * 2 == COLS * TK && NB > 0, "");
	static_assert(THREADS / 32 * 16 * WC * 3 <= STAGES * STAGE, "results pass through the memory of the stages");

	// Which row of sixteen a thread has in the upper or lower half of a fragment. Neighbours
	// are read at once where they are neighbours in memory.
	DEVICE int fragment_row(int g, int half) { return AD ? g + 8 * half : 2 * g + half; }

	DEVICE void run(const Product& a, int bx, int by, int bz) {
		float* memory = dynamic();
		int t = thread(), lane = t % 32, warp = t / 32, g = lane / 4, q = lane % 4;
		int row = by * ROWS, col = bx * COLS, wr = warp / (COLS / WC) * WR, wc = warp % (COLS / WC) * WC;
		int k0 = KIND == GRADIENT ? bz * a.split : 0;
		int k1 = KIND == GRADIENT ? less(a.depth, k0 + a.split) : a.depth;
		Source<VECTOR> left[2 * NA], right[NB];
#pragma unroll
		for (int l = 0; l < NA; l++) {
			left[l].template set<AD, ROWS>(t + l * THREADS, a.a0, a.a0, 0, row, a.rows, k0, k1, a.depth);
			left[NA + l].template set<AD, ROWS>(t + l * THREADS, a.a1, a.a0, A, row, a.rows, k0, k1, a.depth);
		}
#pragma unroll
		for (int l = 0; l < NB; l++) {
			int i = t + l * THREADS;
			bool second = i >= HALF;
			right[l].template set<BD, COLS>(second ? i - HALF : i, second ? a.b1 : a.b0, a.a0, 2 * A + (second ? B : 0), col, a.cols, k0, k1, a.depth);
		}
		const long long far = AD ? TK : (long long)TK * a.rows, further = BD ? TK : (long long)TK * a.cols;
		int next = k0;
		auto begin = [&](int stage) {
			float* to = memory + stage * STAGE;
			if (next < k1) {
#pragma unroll
				for (int l = 0; l < (SECOND ? 2 * NA : NA); l++) left[l].template copy<AD>(to, a.a0, next, k1), left[l].from += far;
#pragma unroll
				for (int l = 0; l < NB; l++) right[l].template copy<BD>(to, a.a0, next, k1), right[l].from += further;
			}
			next += TK;
			copies_end();
		};
		float s0[NI][NJ][4] = {}, s1[NI][NJ][4] = {}, s2[NI][NJ][4] = {}, g0 = 0, g1 = 0;
#pragma unroll
		for (int s = 0; s < STAGES - 1; s++) begin(s);
		for (int stage = 0; k0 < k1; k0 += TK) {
			copies_wait<STAGES - 2>();
			barrier();
			begin(stage == 0 ? STAGES - 1 : stage - 1);
			const float *A0 = memory + stage * STAGE, *A1 = A0 + A, *B0 = A1 + A, *B1 = B0 + B;
#pragma unroll
			for (int k = 0; k < TK; k += 8) {
				uint32 wh[NJ][2], wl[NJ][2], sh[NJ][2], sl[NJ][2], eh[NJ][2], el[NJ][2]; // w, s and w²+s
#pragma unroll
				for (int j = 0; j < NJ; j++) {
#pragma unroll
					for (int e = 0; e < 2; e++) {
						int at = place<BD, COLS>(wc + 8 * j + g, k + q + 4 * e);
						float w = B0[at], s = B1[at];
						split(w, &wh[j][e], &wl[j][e]);
						split(s, &sh[j][e], &sl[j][e]);
						if (KIND != GRADIENT && SECOND) split(fma(w, w, s), &eh[j][e], &el[j][e]);
					}
				}
#pragma unroll
				for (int i = 0; i < NI; i++) {
					uint32 xh[4], xl[4], yh[4], yl[4], qh[4], ql[4]; // x, y and x²
#pragma unroll
					for (int e = 0; e < 4; e++) {
						int at = place<AD, ROWS>(wr + 16 * i + fragment_row(g, e % 2), k + q + e / 2 * 4);
						float x = A0[at];
						split(x, &xh[e], &xl[e]);
						if (KIND != BACKWARD) split(x * x, &qh[e], &ql[e]);
						if (SECOND) split(A1[at], &yh[e], &yl[e]);
					}
					// Neighbours add to different sums, since each waits long for the one before
					// it; small products come first.
					float p0[NJ][4], p1[NJ][4], p2[NJ][4];
					auto first = [&](float (*p)[4], const uint32* x, const uint32 (*y)[2]) {
#pragma unroll
						for (int j = 0; j < NJ; j++) mma_first(p[j], x, y[j]);
					};
					auto more = [&](float (*p)[4], const uint32* x, const uint32 (*y)[2]) {
#pragma unroll
						for (int j = 0; j < NJ; j++) mma(p[j], x, y[j]);
					};
					const uint32 *zh = KIND == BACKWARD ? yh : qh, *zl = KIND == BACKWARD ? yl : ql;
					const uint32 (*th)[2] = KIND == GRADIENT ? sh : eh, (*tl)[2] = KIND == GRADIENT ? sl : el;
					first(p0, xl, wh), first(p1, zl, sh);
					if (SECOND && KIND == FORWARD) more(p1, yl, th);
					if (SECOND && KIND != FORWARD) first(p2, yl, th);
					more(p0, xh, wl), more(p1, zh, sl);
					if (SECOND) more(KIND == FORWARD ? p1 : p2, yh, tl);
					more(p0, xh, wh), more(p1, zh, sh);
					if (SECOND) more(KIND == FORWARD ? p1 : p2, yh, th);
#pragma unroll
					for (int e = 0; e < 4 * NJ; e++) {
						int j = e / 4, f = e % 4;
						s0[i][j][f] += p0[j][f], s1[i][j][f] += p1[j][f];
						if (SECOND && KIND != FORWARD) s2[i][j][f] += p2[j][f];
					}
				}
			}
			if (KIND == GRADIENT && row == 0 && t < COLS)
				for (int k = 0; k < TK; k++) g0 += B0[place<false, COLS>(t, k)], g1 += B1[place<false, COLS>(t, k)];
			stage = stage == STAGES - 1 ? 0 : stage + 1;
		}
		if (KIND == GRADIENT && row == 0 && t < COLS) finish_bias(a, bz, col + t, g0, g1);
		// The results of a warp pass through shared memory, so that neighbours in memory
		// are finished by neighbouring threads, in few instructions.
		copies_wait<0>();
		constexpr int SUMS = KIND == FORWARD ? 2 : SECOND ? 3 : 2;
		float* mine = memory + warp * (16 * WC * SUMS);
#pragma unroll
		for (int i = 0; i < NI; i++) {
			barrier();
#pragma unroll
			for (int e = 0; e < 4 * NJ; e++) {
				int j = e / 4, f = e % 4, at = (fragment_row(g, f / 2) * WC + 8 * j + 2 * q + f % 2) * SUMS;
				mine[at] = s0[i][j][f], mine[at + 1] = s1[i][j][f];
				if (SUMS == 3) mine[at + 2] = s2[i][j][f];
			}
			barrier();
#pragma unroll 1
			for (int e = lane; e < 16 * WC; e += 32) {
				const float* s = mine + e * SUMS;
				finish<KIND>(a, bz, row + wr + 16 * i + e / WC, col + wc + e % WC, s[0], s[1], SUMS == 3 ? s[2] : 0.0f);
			}
		}
	}
};

// The sizes of tiles; see tiling in package gpu.
#define TENSOR(name, ROWS, COLS, WR, WC, THREADS, BLOCKS) \
	KERNEL_MANY(tensor_forward_##name, Product, THREADS, BLOCKS, block_z) { if (!failed(a.results)) Tile<FORWARD, ROWS, COLS, WR, WC, true, true>::run(a, block(), block_y(), 0); } \
	KERNEL_MANY(tensor_fixed_##name, Product, THREADS, BLOCKS, block_z) { if (!failed(a.results)) Tile<FORWARD, ROWS, COLS, WR, WC, false, true>::run(a, block(), block_y(), 0); } \
	KERNEL_MANY(tensor_backward_##name, Product, THREADS, BLOCKS, block_z) { if (!failed(a.results)) Tile<BACKWARD, ROWS, COLS, WR, WC, true, true>::run(a, block(), block_y(), 0); } \
	KERNEL_MANY(tensor_gradients_##name, Gradients, THREADS, BLOCKS, block_y) { \
		if (failed(a.results)) return; \
		Job j = a.jobs[block()]; \
		SHARED Product p; \
		if (thread() == 0) p = a.products[j.product]; \
		barrier(); \
		if (!p.aligned) Tile<GRADIENT, ROWS, COLS, WR, WC, true, false>::run(p, j.x, j.y, j.z); \
		else if (p.a1) Tile<GRADIENT, ROWS, COLS, WR, WC, true, true>::run(p, j.x, j.y, j.z); \
		else Tile<GRADIENT, ROWS, COLS, WR, WC, false, true>::run(p, j.x, j.y, j.z); \
	}
TENSOR(broad, 128, 64, 32, 32, 256, 1)
TENSOR(large, 128, 64, 32, 16, 512, 1)
TENSOR(medium, 64, 64, 32, 16, 256, 2)
TENSOR(small, 64, 32, 16, 16, 256, 2)
TENSOR(tiny, 32, 32, 16, 16, 128, 4)

// Operands whose rows do not begin at multiples of 16 bytes.
KERNEL_MANY(tensor_forward_odd, Product, 256, 2, block_z) { if (!failed(a.results)) Tile<FORWARD, 64, 32, 16, 16, true, false>::run(a, block(), block_y(), 0); }
KERNEL_MANY(tensor_backward_odd, Product, 256, 2, block_z) { if (!failed(a.results)) Tile<BACKWARD, 64, 32, 16, 16, true, false>::run(a, block(), block_y(), 0); }
