// A wide layer in one launch: its products and what follows them, for layers whose tiles
// of 128 × 128 would leave multiprocessors idle. A block has a tile of 64 × 64 results. Three
// groups of four warps have a product each; their sums meet in shared memory, and all
// threads finish the elements. Every sum has the order of wide_forward and wide_backward,
// and so the same bits. hopper.cu includes this file.
#pragma once
#include "finish.cu"

constexpr int WHOLE = 64, WHOLE_OPERAND = WHOLE / BLOCK * BLOCK_BYTES, WHOLE_RING = 3, MOST_PRODUCTS = 3;
constexpr int WHOLE_PRODUCT = 6 * WHOLE_OPERAND, WHOLE_STAGE = MOST_PRODUCTS * WHOLE_PRODUCT; // bytes, three planes of both operands
constexpr int WHOLE_THREADS = 512;

struct Whole {
	Planes a[MOST_PRODUCTS], b[MOST_PRODUCTS];
	int depth, pad; // in blocks
	WideFinish finish;
};
static_assert(sizeof(Whole) == 488, "");

// A Ring counts the stages that were taken.
struct Ring {
	int stage;
	uint32 phase;
	METHOD void next() {
		if (++stage == WHOLE_RING) stage = 0, phase ^= 1;
	}
};

template <bool BT>
struct WholeKernel {
	// supply fetches the operands of a tile. Of twelve lanes, each has a block of a plane of
	// every product.
	DEVICE void supply(const Whole& a, int x, int y, char* memory, Barrier* full, Barrier* empty, Ring& ring) {
		int lane = thread() % 32, plane = lane % 6 / 2, w = lane % 2, products = a.finish.products;
		bool left = lane < 6, turned = !left && BT;
		char* to = memory + (left ? 0 : 3 * WHOLE_OPERAND) + plane * WHOLE_OPERAND + w * BLOCK_BYTES;
		int side = (left ? y : x) * (WHOLE / BLOCK) + w;
		const unsigned short* from[MOST_PRODUCTS];
		long long far[MOST_PRODUCTS];
#pragma unroll
		for (int p = 0; p < MOST_PRODUCTS; p++) {
			const Planes& o = left ? a.a[p] : a.b[p];
			from[p] = o.at + plane * o.plane + (turned ? (long long)side : (long long)side * o.across) * (BLOCK * BLOCK);
			far[p] = (turned ? (long long)o.across : 1ll) * (BLOCK * BLOCK);
		}
		for (int k = 0; k < a.depth; k++) {
			wait(empty + ring.stage, ring.phase ^ 1);
			if (lane == 0) expect(full + ring.stage, products * WHOLE_PRODUCT);
			warp_barrier();
#pragma unroll
			for (int p = 0; p < MOST_PRODUCTS; p++) {
				if (p < products && lane < 12) fetch(to + ring.stage * WHOLE_STAGE + p * WHOLE_PRODUCT, from[p], BLOCK_BYTES, full + ring.stage);
				from[p] += far[p];
			}
			ring.next();
		}
	}

	// consume adds up a group's product.
	DEVICE void consume(int depth, int group, float* sums, char* memory, Barrier* full, Barrier* empty, Ring& ring) {
		uint64 A = descriptor(memory + group * WHOLE_PRODUCT), B = descriptor(memory + group * WHOLE_PRODUCT + 3 * WHOLE_OPERAND);
		constexpr int DA = 32 >> 4, DB = (BT ? 1024 : 32) >> 4, P = WHOLE_OPERAND >> 4; // sixteen deeper; a plane further
#pragma unroll
		for (int e = 0; e < 32; e++) sums[e] = 0;
		for (int k = 0; k < depth; k++) {
			float s[32];
			wait(full + ring.stage, ring.phase);
			uint64 x = A + (ring.stage * WHOLE_STAGE >> 4), y = B + (ring.stage * WHOLE_STAGE >> 4);
			wgmma_begin();
			wgmma_half<false, BT>(s, x, y + 2 * P, 0), wgmma_half<false, BT>(s, x + DA, y + DB + 2 * P, 1);
			wgmma_half<false, BT>(s, x + 2 * P, y, 1), wgmma_half<false, BT>(s, x + DA + 2 * P, y + DB, 1);
			wgmma_half<false, BT>(s, x + P, y + P, 1), wgmma_half<false, BT>(s, x + DA + P, y + DB + P, 1);
			wgmma_half<false, BT>(s, x, y + P, 1), wgmma_half<false, BT>(s, x + DA, y + DB + P, 1);
			wgmma_half<false, BT>(s, x + P, y, 1), wgmma_half<false, BT>(s, x + DA + P, y + DB, 1);
			wgmma_half<false, BT>(s, x, y, 1), wgmma_half<false, BT>(s, x + DA, y + DB, 1);
			wgmma_end();
			wgmma_wait_half(s);
			arrive(empty + ring.stage);
			ring.next();
#pragma unroll
			for (int e = 0; e < 32; e++) sums[e] += s[e];
		}
	}

	// keep writes a group's sums to shared memory, in rows that do not meet in its banks.
	static constexpr int PITCH = WHOLE + 8;
	DEVICE void keep(float* to, const float* sums) {
		int t = thread() % 128, row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
#pragma unroll
		for (int e = 0; e < 32; e += 2) *(Two*)(to + (row + e / 2 % 2 * 8) * PITCH + col + e / 4 * 8) = {sums[e], sums[e + 1]};
	}

	// run calls each(r, c, sums, loaded) for pairs of neighbours of every tile. What it needs
	// besides the sums is loaded while the pair before it is computed.
	template <class Load, class Each>
	DEVICE void run(const Whole& a, Load load, Each each) {
		SHARED Barrier full[WHOLE_RING], empty[WHOLE_RING], met;
		char* memory = (char*)dynamic();
		memory += -(uint64)memory & 1023;
		const Product& p = a.finish.p;
		int group = thread() / 128, products = a.finish.products;
		int across = (p.cols + WHOLE - 1) / WHOLE, count = across * ((p.rows + WHOLE - 1) / WHOLE), end = (p.cols + BLOCK - 1) / BLOCK * BLOCK;
		if (thread() == 0) {
			for (int i = 0; i < WHOLE_RING; i++) begin(full + i, 1), begin(empty + i, 4 * products);
			begin(&met, WHOLE_THREADS / 32);
			begun();
		}
		barrier();
		uint32 meetings = 0;
		auto meet = [&] {
			warp_barrier();
			arrive(&met);
			wait(&met, meetings++ & 1);
		};
		Ring ring = {0, 0};
		for (int i = block(); i < count; i += blocks()) {
			int row = i / across * WHOLE + thread() / 32, col = i % across * WHOLE + thread() % 32 * 2;
			float sums[32];
			if (thread() / 32 == 4 * MOST_PRODUCTS) supply(a, i % across, i / across, memory, full, empty, ring);
			if (group < products) consume(a.depth, group, sums, memory, full, empty, ring);
			auto next = load(row, col, row < p.rows && col < end);
			meet(); // all operands have been read
			float* s = (float*)memory;
			if (group < products) keep(s + group * WHOLE * PITCH, sums);
			meet();
			for (int j = 0; j < WHOLE; j += DOWN) {
				auto now = next;
				bool in = row + j < p.rows && col < end;
				next = load(row + j + DOWN, col, j + DOWN < WHOLE && row + j + DOWN < p.rows && col < end);
				const Two* from = (const Two*)(s + (thread() / 32 + j) * PITCH + thread() % 32 * 2);
				constexpr int FAR = WHOLE * PITCH / 2;
				if (in) each(row + j, col, WideSums{from[0], from[FAR], products > 2 ? from[2 * FAR] : Two{0, 0}}, now);
			}
			begun(); // before the next copies
			meet();
		}
	}
	static constexpr int DOWN = WHOLE_THREADS / 32; // rows that the block finishes at a time
};

template <int WHAT>
DEVICE void whole_forward_by(const Whole& a) {
	WholeKernel<true>::run(a, [](int, int, bool) { return 0; },
		[&](int r, int c, const WideSums& s, int) { finish_forward<WHAT>(a.finish.p, a.finish.cuts, r, c, s.x, plus(s.y, s.z)); });
}
template <int WHAT>
DEVICE void whole_backward_by(const Whole& a) {
	WholeKernel<false>::run(a, [&](int r, int c, bool in) { return in ? load_reverse(a.finish.p, r, c) : Reverse{}; },
		[&](int r, int c, const WideSums& s, const Reverse& l) { finish_backward<WHAT>(a.finish.p, a.finish.cuts, r, c, l, s.x, s.y, plus(s.y, s.z)); });
}
#define WHOLE_BY_FUNCTION(name, v) \
	KERNEL_MANY(name, Whole, WHOLE_THREADS, 1, block_y) { \
		if (failed(a.finish.p.results)) return; \
		int what = common(a.finish.p, a.finish.p.v); \
		if (what == PLAIN) name##_by<PLAIN>(a); \
		if (what == THREE) name##_by<THREE>(a); \
		if (what == EXACT) name##_by<EXACT>(a); \
	} \
	KERNEL_MANY(name##_any, Whole, WHOLE_THREADS, 1, block_y) { \
		if (!failed(a.finish.p.results)) name##_by<ANY>(a); \
	}
WHOLE_BY_FUNCTION(whole_forward, o1)
WHOLE_BY_FUNCTION(whole_backward, q1)
