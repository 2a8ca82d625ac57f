// Gradients of the weights of wide layers: products of planes whose depth are the rows of
// the batch. A block is a lane: it takes parts of tiles one behind the other, so that all
// lanes have as much to do. norm adds up the parts of a tile. Warps that neither fetch nor
// multiply sum up the gradients of biases and narrow layers meanwhile.
#pragma once
#include "beside.h"
#include "chain.h"
#include "hopper.h"

// A Part is a tile of weights and a stretch of the depth: of one product, or of two behind
// one another, of which the first is multiplied by 2·scale, element by element.
struct Part {
	const unsigned short *a[2], *b[2]; // blocks of the tile in the first planes
	long long aplane, bplane;          // numbers between planes
	float* out;
	const float* scale; // null: there is one product
	int aacross, bacross;      // blocks of a plane side by side
	int pitch, rows, cols;     // numbers between rows; what is left of the matrix from the tile on
	int depth, from, to;       // depth of a product in blocks; the stretch
};
struct WideGradients {
	const Part* parts;
	const int* lanes; // the first part of each lane; behind the last one, their number
	Beside beside;
	const Result* results;
	Turn* turn; // of the step, for wide_adamw
};
static_assert(sizeof(Part) == 96, "");

constexpr int NEAR_PARTS = 4; // of a lane, in shared memory

struct Lane {
	const Part *near, *far;
	int count;
	METHOD const Part& operator[](int i) const { return i < NEAR_PARTS ? near[i] : far[i]; }
};

// A Stages says where a group of warps stands in the ring of stages.
struct Stages {
	char* memory;
	Barrier *full, *empty;
	int stage;
	uint32 phase;
};
DEVICE void advance(Stages& r) {
	if (++r.stage == RING) r.stage = 0, r.phase ^= 1;
}

// supply_parts fetches what the parts need. A lane of the warp has a block of a plane.
DEVICE void supply_parts(const Lane& all, Stages r) {
	int lane = thread() % 32, plane = lane / 8, w = lane % 4;
	bool left = lane % 8 < 4;
	char* to = r.memory + (left ? 0 : 3 * OPERAND) + plane * OPERAND + w * BLOCK_BYTES;
	for (int i = 0; i < all.count; i++) {
		const Part& p = all[i];
		long long far = (long long)(left ? p.aacross : p.bacross) * (BLOCK * BLOCK), first = plane * (left ? p.aplane : p.bplane) + w * (BLOCK * BLOCK);
		int depth = p.depth, end = p.to;
		for (int q = p.from; q < end; q++) {
			int f = q >= depth, k = f ? q - depth : q;
			const unsigned short* from = (left ? f ? p.a[1] : p.a[0] : f ? p.b[1] : p.b[0]) + first + k * far;
			wait(r.empty + r.stage, r.phase);
			if (lane == 0) expect(r.full + r.stage, WIDE_STAGE);
			warp_barrier();
			if (lane < 24) fetch(to + r.stage * WIDE_STAGE, from, BLOCK_BYTES, r.full + r.stage);
			advance(r);
		}
	}
}

// start begins the product of the next stage; s has the sums when it has ended.
DEVICE void start(float* s, Stages& r, uint64 x, uint64 y) {
	constexpr int D = 1024 >> 4, P = OPERAND >> 4; // sixteen deeper; a plane further
	wait(r.full + r.stage, r.phase);
	x += r.stage * WIDE_STAGE >> 4, y += r.stage * WIDE_STAGE >> 4;
	wgmma_begin();
	wgmma<true, true>(s, x, y + 2 * P, 0), wgmma<true, true>(s, x + D, y + D + 2 * P, 1);
	wgmma<true, true>(s, x + 2 * P, y, 1), wgmma<true, true>(s, x + D + 2 * P, y + D, 1);
	wgmma<true, true>(s, x + P, y + P, 1), wgmma<true, true>(s, x + D + P, y + D + P, 1);
	wgmma<true, true>(s, x, y + P, 1), wgmma<true, true>(s, x + D, y + D + P, 1);
	wgmma<true, true>(s, x + P, y, 1), wgmma<true, true>(s, x + D + P, y + D, 1);
	wgmma<true, true>(s, x, y, 1), wgmma<true, true>(s, x + D, y + D, 1);
	wgmma_end();
	advance(r);
}

// A Place is what a thread has of a tile: rows row and row + 8, two columns in each eight.
struct Place {
	int row, col;
};
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
DEVICE void store_sums(const float* sums, const Part& p, Place at) {
	float* out = p.out + (long long)at.row * p.pitch + at.col;
	bool pairs = (p.pitch % 2 | (uint64)out / 4 % 2) == 0;
#pragma unroll
	for (int e = 0; e < 64; e += 2) {
		int row = e / 2 % 2 * 8, col = e / 4 * 8;
		float* to = out + (long long)row * p.pitch + col;
		if (at.row + row >= p.rows || at.col + col >= p.cols) continue;
		if (pairs && at.col + col + 1 < p.cols) {
			*(uint64*)to = (uint64)bits(sums[e + 1]) << 32 | bits(sums[e]);
			continue;
		}
		to[0] = sums[e];
		if (at.col + col + 1 < p.cols) to[1] = sums[e + 1];
	}
}

// A Cursor is a block of the depth, of one of a lane's parts.
struct Cursor {
	int part, block;
};
// add_sums adds the sums of a stage whose product has ended, and frees the stage. At the end
// of a product they are scaled, at the end of a part written.
DEVICE void add_sums(float* sums, const float* s, Stages& r, const Lane& all, Cursor& c, Place at) {
	arrive(r.empty + r.stage);
	advance(r);
#pragma unroll
	for (int e = 0; e < 64; e++) sums[e] += s[e];
	const Part& p = all[c.part];
	int next = c.block + 1;
	if (p.scale && next <= p.depth && (next == p.depth || next == p.to)) scale_sums(sums, p, at);
	if (next == p.to) {
		store_sums(sums, p, at);
#pragma unroll
		for (int e = 0; e < 64; e++) sums[e] = 0;
		if (++c.part < all.count) next = all[c.part].from;
	}
	c.block = next;
}

// multiply_parts multiplies a stage while it adds the sums of the one before.
DEVICE void multiply_parts(const Lane& all, Stages r) {
	int t = thread() % 128, group = thread() / 128, left = 0;
	Place at = {group * 64 + t / 32 * 16 + t % 32 / 4, t % 4 * 2};
	uint64 x = descriptor(r.memory + group * 2 * BLOCK_BYTES), y = descriptor(r.memory + 3 * OPERAND);
	for (int i = 0; i < all.count; i++) left += all[i].to - all[i].from;
	if (left == 0) return;
	Stages done = r; // products that have ended
	Cursor c = {0, all[0].from};
	float sums[64] = {}, s[64], u[64];
	start(s, r, x, y);
#pragma unroll 1
	for (; left > 2; left -= 2) {
		start(u, r, x, y);
		wgmma_wait<1>(s);
		add_sums(sums, s, done, all, c, at);
		start(s, r, x, y);
		wgmma_wait<1>(u);
		add_sums(sums, u, done, all, c, at);
	}
	if (left == 2) {
		start(u, r, x, y);
		wgmma_wait<1>(s);
		add_sums(sums, s, done, all, c, at);
		wgmma_wait(u);
		add_sums(sums, u, done, all, c, at);
	} else {
		wgmma_wait(s);
		add_sums(sums, s, done, all, c, at);
	}
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
		else sum_beside(a.beside, block() * 3 + thread() / 32 - 9, blocks() * 3);
	} else {
		more_registers<216>();
		multiply_parts(all, {memory, full, empty, 0, 0});
	}
}
