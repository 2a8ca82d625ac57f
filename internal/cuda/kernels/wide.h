// Tiles of products of planes: a ring of stages that one warp fills, and the products of
// its stages.
#pragma once
#include "hopper.h"
#include "planes.h"

constexpr int BLOCK_BYTES = 2 * BLOCK * BLOCK, WIDE = 128, RING = 6;
constexpr int OPERAND = WIDE / BLOCK * BLOCK_BYTES, WIDE_STAGE = 4 * OPERAND, STAGE_SCALES = 8 * 16; // bytes: of a plane in a stage, of a stage, of its scales behind the ring
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
// A Supplier is what a lane of the warp fetches in every stage: of sixteen, a block of a
// plane, or the first of four all of them, where they lie behind one another: what copies
// cost is their number. Of eight, it is the scale of a block, where both operands have one
// for a block.
struct Supplier {
	int lane, side, plane; // plane 2: scales; 3: nothing
	bool left, turned;
	METHOD int bytes() const { return plane == 2 ? 16 : turned ? OPERAND : BLOCK_BYTES; }
	// step is how far the next block of the depth is.
	METHOD long long step(int across) const { return plane == 2 ? 4ll * BLOCK : (turned ? (long long)across : 1ll) * BLOCK_BYTES; }
};
template <bool AT, bool BT>
DEVICE Supplier supplier() {
	int lane = thread() % 32;
	bool left = lane % 8 < 4, turned = left ? AT : BT;
	bool spare = lane < 16 ? turned && lane % 4 > 0 : !(AT && BT);
	return {lane, lane % 4, spare ? 3 : lane / 8, left, turned};
}

// scales_in are the scales of a stage, where they are fetched: those of the left blocks, then
// those of the right ones, in sixteen bytes each.
DEVICE float* scales_in(const Stages& r) { return (float*)(r.memory + RING * WIDE_STAGE + r.stage * STAGE_SCALES); }

template <bool AT, bool BT>
DEVICE void supply_stage(const Supplier& s, const char* from, Stages& r) {
	char* to = s.plane < 2 ? r.memory + r.stage * WIDE_STAGE + (s.left ? 0 : 2 * OPERAND) + s.plane * OPERAND + s.side * BLOCK_BYTES
		: (char*)(scales_in(r) + (s.left ? 0 : 16) + s.side * 4);
	wait(r.empty + r.stage, r.phase);
	if (s.lane == 0) expect(r.full + r.stage, WIDE_STAGE + (AT && BT ? STAGE_SCALES : 0));
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
// Factors are the scales of a thread's rows and of the blocks of its columns.
struct Factors {
	float down[2], across[4];
};
// Staged says that they are in the stage.
struct Staged {};
DEVICE Factors resolve(const Factors& f, const Stages&, Place) { return f; }
DEVICE Factors resolve(Staged, const Stages& r, Place at) {
	const float* f = scales_in(r);
	float x = f[at.row / BLOCK * 4];
	return {{x, x}, {f[16], f[20], f[24], f[28]}};
}

// add_sums adds the sums of a stage whose product has ended, and frees the stage.
template <class F>
DEVICE void add_sums(float* sums, const float* s, const F& factors, Stages& r, Place at) {
	Factors f = resolve(factors, r, at);
	warp_barrier(); // all lanes have read
	arrive(r.empty + r.stage);
	advance(r);
#pragma unroll
	for (int e = 0; e < 64; e++) sums[e] = fma(s[e], f.down[e / 2 % 2] * f.across[e / 16], sums[e]);
}

// multiply_stages multiplies a number of stages; the sums of one are added while the next is
// multiplied. factors() are the scales of the next stage, added() is called behind the sums of
// each.
template <bool AT, bool BT, class F, class G>
DEVICE void multiply_stages(float* sums, int left, Stages& r, Place at, F factors, G added) {
	Stages done = r; // products that have ended
	float s[64], u[64];
	auto f = factors(), g = f;
	start<AT, BT>(s, r);
#pragma unroll 1
	for (; left > 2; left -= 2) {
		g = factors();
		start<AT, BT>(u, r);
		wgmma_wait<1>(s);
		add_sums(sums, s, f, done, at);
		added();
		f = factors();
		start<AT, BT>(s, r);
		wgmma_wait<1>(u);
		add_sums(sums, u, g, done, at);
		added();
	}
	if (left == 2) {
		g = factors();
		start<AT, BT>(u, r);
		wgmma_wait<1>(s);
		add_sums(sums, s, f, done, at);
		added();
		wgmma_wait(u);
		add_sums(sums, u, g, done, at);
	} else {
		wgmma_wait(s);
		add_sums(sums, s, f, done, at);
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
