// Gradients of the weights of wide layers: products of planes whose depth are the rows of
// the batch. A block is a lane: it takes parts of tiles one behind the other, so that all
// lanes have as much to do. norm adds up the parts of a tile. Warps that neither fetch nor
// multiply sum up the gradients of biases and narrow layers meanwhile.
#pragma once
#include "beside.h"
#include "chain.h"
#include "wide.h"

// A Part is a tile of weights and a stretch of the depth: of one product, or of two behind
// one another, of which the first is multiplied by 2·scale, element by element.
struct Part {
	const unsigned short *a[2], *b[2]; // blocks of the tile in the first planes
	long long aplane, bplane;          // numbers between planes
	float* out;
	const float* scale; // null: there is one product
	const float *as[2], *bs[2]; // scales of the blocks
	int aacross, bacross;      // blocks of a plane side by side
	int pitch, rows, cols;     // numbers between rows; what is left of the matrix from the tile on
	int depth, from, to;       // depth of a product in blocks; the stretch
	int down, pad;             // rows of the planes
};
struct WideGradients {
	const Part* parts;
	const int* lanes; // the first part of each lane; behind the last one, their number
	Beside beside;
	const Result* results;
	Turn* turn; // of the step, for wide_adamw
};
static_assert(sizeof(Part) == 136, "");

constexpr int NEAR_PARTS = 4; // of a lane, in shared memory

struct Lane {
	const Part *near, *far;
	int count;
	METHOD const Part& operator[](int i) const { return i < NEAR_PARTS ? near[i] : far[i]; }
};

DEVICE void supply_parts(const Lane& all, Stages r) {
	Supplier me = supplier<true, true>();
	for (int i = 0; i < all.count; i++) {
		const Part& p = all[i];
		long long step = me.step(me.left ? p.aacross : p.bacross);
		long long first = me.plane < 2 ? 2 * me.plane * (me.left ? p.aplane : p.bplane) + me.side * BLOCK_BYTES : 4ll * me.side * p.down;
		int depth = p.depth, end = p.to;
		for (int q = p.from; q < end; q++) {
			bool f = q >= depth;
			const void* o = me.plane < 2 ? (const void*)(me.left ? p.a[f] : p.b[f]) : me.left ? p.as[f] : p.bs[f];
			supply_stage<true, true>(me, (const char*)o + first + (f ? q - depth : q) * step, r);
		}
	}
}

DEVICE void scale_sums(float* sums, const Part& p, Place at) {
#pragma unroll
	for (int e0 = 0; e0 < 64; e0 += 8) { // few at a time: there are no registers for more
		float by[8];
#pragma unroll
		for (int i = 0; i < 8; i++) {
			int e = e0 + i, r = at.row + e / 2 % 2 * 8, c = at.col + e / 4 * 8 + e % 2;
			by[i] = r < p.rows && c < p.cols ? *(const volatile float*)(p.scale + (long long)r * p.pitch + c) : 0.0f;
		}
#pragma unroll
		for (int i = 0; i < 8; i++) sums[e0 + i] *= 2 * by[i];
	}
}
DEVICE void multiply_parts(const Lane& all, Stages r) {
	Place at = place_in_tile();
	int left = 0;
	for (int i = 0; i < all.count; i++) left += all[i].to - all[i].from;
	if (left == 0) return;
	int now = 0, end = all[0].from; // of blocks that were added
	float sums[64] = {};
	multiply_stages<true, true>(sums, left, r, at, []() INLINED { return Staged{}; }, [&]() INLINED { // at the end of a product, sums are scaled; at the end of a part, they are written
		const Part& p = all[now];
		end++;
		if (p.scale && end <= p.depth && (end == p.depth || end == p.to)) scale_sums(sums, p, at);
		if (end < p.to) return;
		write_sums(p.out, p.pitch, p.rows, p.cols, at, sums);
#pragma unroll
		for (int e = 0; e < 64; e++) sums[e] = 0;
		if (++now < all.count) end = all[now].from;
	});
}

KERNEL_MANY(wide_gradients, WideGradients, WIDE_THREADS, 1, block_y) {
	if (block() == 0 && thread() == 0 && a.turn) *a.turn = {a.results->slot, a.results->finite};
	if (failed(a.results)) return;
	SHARED Barrier full[RING], empty[RING];
	SHARED Part near[NEAR_PARTS];
	int first = a.lanes[block()], count = a.lanes[block() + 1] - first;
	for (int i = thread(); i < less(count, NEAR_PARTS) * (int)(sizeof(Part) / 8); i += WIDE_THREADS) ((uint64*)near)[i] = ((const uint64*)(a.parts + first))[i];
	char* memory = (char*)dynamic();
	memory += -(uint64)memory & 1023;
	if (thread() == 0) {
		for (int i = 0; i < RING; i++) begin(full + i, 1), begin(empty + i, 8);
		begun();
	}
	barrier();
	Lane all = {near, a.parts + first, count};
	if (thread() >= 256) {
		fewer_registers<72>();
		if (thread() < 288) supply_parts(all, {memory, full, empty, 0, 1});
		else sum_beside<3>(a.beside, thread() / 32 - 9);
	} else {
		more_registers<216>();
		multiply_parts(all, {memory, full, empty, 0, 0});
	}
}
