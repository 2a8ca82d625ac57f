// Tiles of products of planes: a ring of stages that one warp fills, and the products of
// its stages.
#pragma once
#include "hopper.h"
#include "planes.h"

constexpr int BLOCK_BYTES = 2 * BLOCK * BLOCK, WIDE = 128, RING = 6;
constexpr int OPERAND = WIDE / BLOCK * BLOCK_BYTES, WIDE_STAGE = 4 * OPERAND, STAGE_SCALES = 2 * 4 * WIDE; // bytes: of a plane in a stage, of a stage, of its scales behind the ring
constexpr int WIDE_THREADS = 384;

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
// scales_in are the scales of a stage: those of the rows of the left operand, then those of
// the right one. Where the depth runs along the rows of blocks, each block has one, which is
// that of its first row.
DEVICE float* scales_in(const Stages& r) { return (float*)(r.memory + RING * WIDE_STAGE + r.stage * STAGE_SCALES); }

// A Supplier is what a lane of the warp fetches in every stage: of sixteen, a block of a
// plane; of eight, the scales of a block.
struct Supplier {
	int lane, side, plane; // plane 2: scales
	bool left, turned;
	METHOD int bytes() const { return plane < 2 ? BLOCK_BYTES : turned ? 16 : 4 * BLOCK; }
	// step is how far the next block of the depth is.
	METHOD long long step(int across, int down) const { return plane < 2 ? (turned ? (long long)across : 1ll) * BLOCK_BYTES : 4ll * (turned ? BLOCK : down); }
};
template <bool AT, bool BT>
DEVICE Supplier supplier() {
	int lane = thread() % 32;
	bool left = lane % 8 < 4;
	return {lane, lane % 4, lane / 8, left, left ? AT : BT};
}
template <bool AT, bool BT>
DEVICE void supply_stage(const Supplier& s, const char* from, Stages& r) {
	constexpr int SCALES = (AT ? 4 * 16 : 4 * WIDE) + (BT ? 4 * 16 : 4 * WIDE);
	char* to = s.plane < 2 ? r.memory + r.stage * WIDE_STAGE + (s.left ? 0 : 2 * OPERAND) + s.plane * OPERAND + s.side * BLOCK_BYTES
		: (char*)(scales_in(r) + (s.left ? 0 : WIDE) + s.side * BLOCK);
	wait(r.empty + r.stage, r.phase);
	if (s.lane == 0) expect(r.full + r.stage, WIDE_STAGE + SCALES);
	warp_barrier();
	if (s.plane < 3) fetch(to, from, s.bytes(), r.full + r.stage);
	advance(r);
}

// descriptor describes an operand in shared memory to wgmma: 64-byte swizzle; the stride
// between groups of eight rows, and between blocks where the depth runs along rows.
DEVICE uint64 descriptor(const char* p) {
	return (uint64)(shared_place(p) >> 4) | (uint64)(BLOCK_BYTES >> 4) << 16 | (uint64)(512 >> 4) << 32 | 2ull << 62;
}

// A Place is what a thread has of a tile: rows row and row + 8, two columns in each eight.
struct Place {
	int row, col;
};
DEVICE Place place_in_tile() {
	int t = thread() % 128;
	return {thread() / 128 * 64 + t / 32 * 16 + t % 32 / 4, t % 4 * 2};
}

// start begins the product of the next stage; s has the sums when it has ended. AT and BT say
// that the depth runs along the rows of blocks of an operand.
template <bool AT, bool BT>
DEVICE void start(float* s, Stages& r) {
	constexpr int DA = (AT ? 1024 : 32) >> 4, DB = (BT ? 1024 : 32) >> 4, P = OPERAND >> 4; // sixteen deeper; a plane further
	wait(r.full + r.stage, r.phase);
	const char* at = r.memory + r.stage * WIDE_STAGE;
	uint64 x = descriptor(at + thread() / 128 * 2 * BLOCK_BYTES), y = descriptor(at + 2 * OPERAND);
	wgmma_begin();
	wgmma<AT, BT>(s, x, y + P, 0), wgmma<AT, BT>(s, x + DA, y + DB + P, 1);
	wgmma<AT, BT>(s, x + P, y, 1), wgmma<AT, BT>(s, x + DA + P, y + DB, 1);
	wgmma<AT, BT>(s, x, y, 1), wgmma<AT, BT>(s, x + DA, y + DB, 1);
	wgmma_end();
	advance(r);
}
// add_sums adds the sums of a stage whose product has ended, and frees the stage.
template <bool AT>
DEVICE void add_sums(float* sums, const float* s, Stages& r, Place at) {
	const float* f = scales_in(r);
	float x = f[AT ? at.row / BLOCK * BLOCK : at.row], y = AT ? x : f[at.row + 8], by[8];
#pragma unroll
	for (int i = 0; i < 4; i++) by[2 * i] = x * f[WIDE + i * BLOCK], by[2 * i + 1] = y * f[WIDE + i * BLOCK];
	warp_barrier(); // all lanes have read
	arrive(r.empty + r.stage);
	advance(r);
#pragma unroll
	for (int e = 0; e < 64; e++) sums[e] = fma(s[e], by[e / 16 * 2 + e / 2 % 2], sums[e]);
}

// multiply_stages multiplies a number of stages; the sums of one are added while the next is
// multiplied. added() is called behind the sums of each.
template <bool AT, bool BT, class F>
DEVICE void multiply_stages(float* sums, int left, Stages& r, Place at, F added) {
	Stages done = r; // products that have ended
	float s[64], u[64];
	start<AT, BT>(s, r);
#pragma unroll 1
	for (; left > 2; left -= 2) {
		start<AT, BT>(u, r);
		wgmma_wait<1>(s);
		add_sums<AT>(sums, s, done, at);
		added();
		start<AT, BT>(s, r);
		wgmma_wait<1>(u);
		add_sums<AT>(sums, u, done, at);
		added();
	}
	if (left == 2) {
		start<AT, BT>(u, r);
		wgmma_wait<1>(s);
		add_sums<AT>(sums, s, done, at);
		added();
		wgmma_wait(u);
		add_sums<AT>(sums, u, done, at);
	} else {
		wgmma_wait(s);
		add_sums<AT>(sums, s, done, at);
	}
	added();
}

// write_sums writes those of a tile at out; rows and cols are what is left of the matrix.
DEVICE void write_sums(float* out, long long pitch, int rows, int cols, Place at, const float* sums) {
	out += at.row * pitch + at.col;
	bool pairs = (pitch % 2 | (uint64)out / 4 % 2) == 0;
#pragma unroll
	for (int e = 0; e < 64; e += 2) {
		int row = e / 2 % 2 * 8, col = e / 4 * 8;
		float* to = out + row * pitch + col;
		if (at.row + row >= rows || at.col + col >= cols) continue;
		if (pairs && at.col + col + 1 < cols) {
			*(uint64*)to = (uint64)bits(sums[e + 1]) << 32 | bits(sums[e]);
			continue;
		}
		to[0] = sums[e];
		if (at.col + col + 1 < cols) to[1] = sums[e + 1];
	}
}
