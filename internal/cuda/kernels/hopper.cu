// Products of wide layers on Hopper (compute capability 9.0), on numbers of half precision. A
// number is the sum of two of them times a power of two, x = 2ᵉ(h + l), and
// xy = 2ᵉ⁺ᶠ(hh + hl + lh) to 2⁻²³.
//
// Operands are cut once, where they are made, into two planes (Planes). A plane lies in
// memory as tensor cores read it from shared memory: in blocks of 32 × 32, whose rows are
// swizzled. The depth of a product may run along either side of a block, so one copy
// serves forward, backward and gradients.
//
// A block has a tile of 128 × 128 results and takes one tile after the other. One warp
// fetches blocks of the operands into a ring of stages, two groups of four warps multiply.
// Tensor cores round sums towards zero, so they add up 32 neighbours at a time, small
// products first. The rest is added in float32, where the scales are applied: they may
// differ from block to block.
#include "wide.h"
#include "narrow.cu"
#include "update.cu"
#ifndef EMULATED // where there is one text only
#include "ops.h"
#include "thin.cu" // these two wait for the launch before them as the others do
#include "optim.cu"
#endif

// A WideProduct is a matrix product.
struct WideProduct {
	Planes a, b;
	float* out;
	long long pitch; // numbers between rows
	int cols, depth; // depth in blocks
};
constexpr int MOST_PRODUCTS = 3;
struct WideProducts {
	const WideProduct* products; // all of the same size
	int count, rows;
};

// BT says that the depth runs along the rows of blocks of the right operand.
template <bool BT>
struct WideKernel {
	// A Tile is one of a product.
	struct Tile {
		int product, x, y;
	};
	DEVICE Tile tile(int i, int rows, int cols) {
		int across = (cols + WIDE - 1) / WIDE, down = (rows + WIDE - 1) / WIDE;
		return {i / (across * down), i % across, i / across % down};
	}

	// supply fetches what the tiles need, stage by stage.
	DEVICE void supply(const WideProduct* products, int count, int rows, Stages r) {
		Supplier me = supplier<false, BT>();
		for (int i = block(); i < count; i += blocks()) {
			Tile t = tile(i, rows, products->cols);
			const WideProduct& p = products[t.product];
			const Planes& o = me.left ? p.a : p.b;
			int side = (me.left ? t.y : t.x) * (WIDE / BLOCK) + me.side;
			long long step = me.step(o.across);
			const char* from = (const char*)(o.at + (me.plane & 1) * o.plane) + (me.turned ? 1ll : (long long)o.across) * side * BLOCK_BYTES;
			for (int k = 0; k < p.depth; k++, from += step) supply_stage<false, BT>(me, from, r);
		}
	}

	DEVICE void multiply(const WideProduct* products, int count, int rows, Stages r) {
		Place at = place_in_tile();
		for (int i = block(); i < count; i += blocks()) {
			Tile t = tile(i, rows, products->cols);
			const WideProduct& p = products[t.product];
			int next = p.a.down, step = BT ? BLOCK : p.b.down, far = BT ? p.b.down : BLOCK;
			const float *a = scales_of(p.a) + t.y * WIDE + at.row, *b = scales_of(p.b) + (long long)t.x * (WIDE / BLOCK) * far;
			float sums[64] = {};
			multiply_stages<false, BT>(sums, p.depth, r, at, [&]() INLINED {
				Factors f = {{a[0], a[8]}, {b[0], b[far], b[2 * far], b[3 * far]}};
				a += next, b += step;
				return f;
			}, [] {});
			write_sums(p.out + (long long)t.y * WIDE * p.pitch + t.x * WIDE, p.pitch, rows - t.y * WIDE, p.cols - t.x * WIDE, at, sums);
		}
	}

	// run does not ask whether a step has failed: what it writes is not read then.
	DEVICE void run(const WideProducts& c) {
		SHARED Barrier full[RING], empty[RING];
		SHARED WideProduct near[MOST_PRODUCTS];
		int each = (c.products->cols + WIDE - 1) / WIDE * ((c.rows + WIDE - 1) / WIDE);
		for (int i = thread(); i < c.count / each * (int)(sizeof(WideProduct) / 8); i += WIDE_THREADS) ((uint64*)near)[i] = ((const uint64*)c.products)[i];
		char* memory = (char*)dynamic();
		memory += -(uint64)memory & 1023;
		if (thread() == 0) {
			for (int i = 0; i < RING; i++) begin(full + i, 1), begin(empty + i, 8);
			begun();
		}
		barrier();
		follow();
		if (thread() >= 256) {
			fewer_registers();
			if (thread() < 288) supply(near, c.count, c.rows, {memory, full, empty, 0, 1});
		} else {
			more_registers();
			multiply(near, c.count, c.rows, {memory, full, empty, 0, 0});
		}
	}
};

KERNEL_CHAIN(wide_forward, WideProducts, WIDE_THREADS, 1) { WideKernel<true>::run(c); }
KERNEL_CHAIN(wide_backward, WideProducts, WIDE_THREADS, 1) { WideKernel<false>::run(c); }

#include "wide_gradients.h"
#include "narrow_score.h"

static_assert(sizeof(WideFinish) == 344 && sizeof(WideProduct) == 72 && sizeof(Cuts) == 96 && sizeof(CutTensor) == 104 && sizeof(CutPlanes) == 176, "");
