// Products of wide layers on Hopper (compute capability 9.0), on bfloat16. A number is the
// sum of three of them, x = h + m + l, which keeps all bits of a float32 and its range, and
// xy = hh + hm + mh + mm + hl + lh to 2⁻²⁵.
//
// Operands are cut once, where they are made, into three planes (Planes). A plane lies in
// memory as tensor cores read it from shared memory: in blocks of 32 × 32, whose rows are
// swizzled. The depth of a product may run along either side of a block, so one copy
// serves forward, backward and gradients.
//
// A block has a tile of 128 × 128 results and takes one tile after the other. One warp
// fetches blocks of the operands into a ring of stages, two groups of four warps multiply.
// Tensor cores round sums towards zero, so they add up 32 neighbours at a time, small
// products first, and the rest is added in float32.
#include "planes.h"
#include "hopper.h"
#include "narrow.cu"
#include "update.cu"
#ifndef EMULATED // where there is one text only
#include "ops.h"
#include "thin.cu" // these two wait for the launch before them as the others do
#include "optim.cu"
#endif

constexpr int BLOCK_BYTES = 2 * BLOCK * BLOCK, WIDE = 128, RING = 4;
constexpr int OPERAND = WIDE / BLOCK * BLOCK_BYTES, WIDE_STAGE = 6 * OPERAND; // bytes: of a plane in a stage, of a stage
constexpr int WIDE_THREADS = 384;

// A WideProduct is a matrix product, or the sum of two: with two, the first is multiplied
// by 2·scale, element by element, before the second is added.
struct WideProduct {
	Planes a[2], b[2];
	float* out;
	const float* scale;
	long long pitch, part;             // numbers between rows; between parts of the depth
	int rows, cols, depth, split;      // depth in blocks; split: of one part
	int phases, pad;
};
struct WideProducts {
	const WideProduct* products;
	const Job* jobs; // null: all tiles of all products, which have the same size
	int count, rows; // rows: of the results, without jobs
	const Result* results;
};

// descriptor describes an operand in shared memory to wgmma: 64-byte swizzle; the stride
// between groups of eight rows, and between blocks where the depth runs along rows.
DEVICE uint64 descriptor(const char* p) {
	return (uint64)(shared_place(p) >> 4) | (uint64)(BLOCK_BYTES >> 4) << 16 | (uint64)(512 >> 4) << 32 | 2ull << 62;
}

// AT and BT say that the depth runs along the rows of blocks of an operand.
template <bool AT, bool BT, bool SCALED>
struct WideKernel {
	// turn is the number of a block's n-th tile. Long jobs come first, and every other round
	// runs backwards: who has a long one gets a short one next.
	DEVICE int turn(int n) { return n * blocks() + (n % 2 ? blocks() - 1 - block() : block()); }

	DEVICE Job job(const WideProducts& a, int i) {
		if (a.jobs) return a.jobs[i];
		int across = (a.products->cols + WIDE - 1) / WIDE, down = (a.rows + WIDE - 1) / WIDE;
		return {i / (across * down), i % across, i / across % down, 0};
	}

	// supply fetches what the tiles need, stage by stage. A lane has a block of a plane.
	DEVICE void supply(const WideProducts& a, char* memory, Barrier* full, Barrier* empty) {
		int lane = thread() % 32, plane = lane / 8, w = lane % 4, stage = 0;
		bool left = lane % 8 < 4;
		char* to = memory + (left ? 0 : 3 * OPERAND) + plane * OPERAND + w * BLOCK_BYTES;
		uint32 phase = 1;
		for (int n = 0; n * blocks() < a.count; n++) {
			int i = turn(n);
			if (i >= a.count) break; // this was the last round
			Job j = job(a, i);
			const WideProduct& p = a.products[j.product];
			int k0 = j.z * p.split, k1 = less(p.depth, k0 + p.split);
			for (int f = 0; f < p.phases; f++) {
				const Planes& o = left ? p.a[f] : p.b[f];
				int side = (left ? j.y : j.x) * (WIDE / BLOCK) + w;
				const bool turned = left ? AT : BT;
				const unsigned short* from = o.at + plane * o.plane + (turned ? (long long)k0 * o.across + side : (long long)side * o.across + k0) * (BLOCK * BLOCK);
				long long far = (turned ? (long long)o.across : 1ll) * (BLOCK * BLOCK);
				for (int k = k0; k < k1; k++, from += far) {
					wait(empty + stage, phase);
					if (lane == 0) expect(full + stage, WIDE_STAGE);
					warp_barrier();
					if (lane < 24) fetch(to + stage * WIDE_STAGE, from, BLOCK_BYTES, full + stage);
					if (++stage == RING) stage = 0, phase ^= 1;
				}
			}
		}
	}

	DEVICE void consume(const WideProducts& a, char* memory, Barrier* full, Barrier* empty) {
		int t = thread() % 128, group = thread() / 128, stage = 0;
		uint32 phase = 0;
		uint64 A = descriptor(memory + group * 2 * BLOCK_BYTES), B = descriptor(memory + 3 * OPERAND);
		constexpr int DA = (AT ? 1024 : 32) >> 4, DB = (BT ? 1024 : 32) >> 4, P = OPERAND >> 4; // sixteen deeper; a plane further
		for (int n = 0; n * blocks() < a.count; n++) {
			int i = turn(n);
			if (i >= a.count) break; // this was the last round
			Job j = job(a, i);
			const WideProduct& p = a.products[j.product];
			int k0 = j.z * p.split, k1 = less(p.depth, k0 + p.split), row = j.y * WIDE + group * 64 + t / 32 * 16 + t % 32 / 4, col = j.x * WIDE + t % 4 * 2;
			int rows = a.jobs ? p.rows : a.rows, cols = p.cols;
			float sums[64] = {};
			for (int f = 0; f < p.phases; f++) {
				if (SCALED && f == 1) {
#pragma unroll
					for (int e = 0; e < 64; e++) {
						int r = row + e / 2 % 2 * 8, c = col + e / 4 * 8 + e % 2;
						sums[e] *= r < rows && c < cols ? 2 * p.scale[r * p.pitch + c] : 0.0f;
					}
				}
				for (int k = k0; k < k1; k++) {
					float s[64];
					wait(full + stage, phase);
					uint64 x = A + (stage * WIDE_STAGE >> 4), y = B + (stage * WIDE_STAGE >> 4);
					wgmma_begin();
					wgmma<AT, BT>(s, x, y + 2 * P, 0), wgmma<AT, BT>(s, x + DA, y + DB + 2 * P, 1);
					wgmma<AT, BT>(s, x + 2 * P, y, 1), wgmma<AT, BT>(s, x + DA + 2 * P, y + DB, 1);
					wgmma<AT, BT>(s, x + P, y + P, 1), wgmma<AT, BT>(s, x + DA + P, y + DB + P, 1);
					wgmma<AT, BT>(s, x, y + P, 1), wgmma<AT, BT>(s, x + DA, y + DB + P, 1);
					wgmma<AT, BT>(s, x + P, y, 1), wgmma<AT, BT>(s, x + DA + P, y + DB, 1);
					wgmma<AT, BT>(s, x, y, 1), wgmma<AT, BT>(s, x + DA, y + DB, 1);
					wgmma_end();
					wgmma_wait(s);
					arrive(empty + stage);
					if (++stage == RING) stage = 0, phase ^= 1;
#pragma unroll
					for (int e = 0; e < 64; e++) sums[e] += s[e];
				}
			}
			float* out = p.out + j.z * p.part + row * p.pitch + col;
			bool pairs = (p.pitch % 2 | (uint64)out / 4 % 2) == 0;
#pragma unroll
			for (int e = 0; e < 64; e += 2) {
				int r = e / 2 % 2 * 8, c = e / 4 * 8;
				float* to = out + r * p.pitch + c;
				if (row + r >= rows || col + c >= cols) continue;
				if (pairs && col + c + 1 < cols) {
					*(uint64*)to = (uint64)bits(sums[e + 1]) << 32 | bits(sums[e]);
					continue;
				}
				to[0] = sums[e];
				if (col + c + 1 < cols) to[1] = sums[e + 1];
			}
		}
	}

	DEVICE void run(const WideProducts& a) {
		SHARED Barrier full[RING], empty[RING];
		char* memory = (char*)dynamic();
		memory += -(uint64)memory & 1023;
		if (thread() == 0) {
			for (int i = 0; i < RING; i++) begin(full + i, 1), begin(empty + i, 8);
			begun();
		}
		barrier();
		if (thread() >= 256) {
			fewer_registers();
			if (thread() < 288) supply(a, memory, full, empty);
		} else {
			more_registers();
			consume(a, memory, full, empty);
		}
	}
};

KERNEL_MANY(wide_forward, WideProducts, WIDE_THREADS, 1, block_y) { if (!failed(a.results)) WideKernel<false, true, false>::run(a); }
KERNEL_MANY(wide_backward, WideProducts, WIDE_THREADS, 1, block_y) { if (!failed(a.results)) WideKernel<false, false, false>::run(a); }

#include "wide_gradients.h"
#include "narrow_score.h"

static_assert(sizeof(WideFinish) == 336 && sizeof(WideProduct) == 152 && sizeof(Cuts) == 88, "");
