// Products on Hopper's tensor cores of halves whose left operand is in registers, and what
// blocks of a cluster tell one another beside them.
#pragma once
#include "cluster.h"
#include "hopper.h"

// The right operand is two cells behind one another, each 32 rows, the depth, of 32 columns, with the swizzle of a block of planes.
// A description is the lower half of its descriptor, in which a place counts sixteen bytes.
constexpr int CELL = 4096; // bytes: halves, then what they leave
// In a cluster, the upper bits of a place are the number of its block.
DEVICE uint32 describe_cells(uint32 place) { return (place & 0x3ffff) >> 4 | (uint32)(CELL >> 4) << 16; }

#ifndef EMULATED
#define SUMS_32(d) SUMS8(d, 0), SUMS8(d, 8), SUMS8(d, 16), SUMS8(d, 24)
#define WGMMA16 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " \
	"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, p, 1, 1, 1;}"
// wgmma16 adds a product of 64 × 16 by 16 × 64 halves to d; wgmma16_first sets d. That it does so is hidden from the assembler, which
// would choose other registers for d and have too few: the grid is flat, but nobody told it.
DEVICE void wgmma16(float* d, const uint32* a, uint32 b) {
	asm volatile("{.reg .pred p; setp.eq.u32 p, 1, 1; " WGMMA16 : SUMS_32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(0x8000002000000000ull | b));
}
DEVICE void wgmma16_first(float* d, const uint32* a, uint32 b) {
	asm volatile("{.reg .pred p; setp.ne.u32 p, %37, 0; " WGMMA16 : SUMS_32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(0x8000002000000000ull | b), "r"(block_z()));
}
template <int N>
DEVICE void wgmma16_wait(float* d) { asm volatile("wgmma.wait_group.sync.aligned %32;" : SUMS_32(d) : "n"(N) : "memory"); }
// holding keeps left operands where they are until now: products that have not ended read them.
DEVICE void holding(uint32 (&a)[8]) {
	asm volatile("" : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]), "+r"(a[4]), "+r"(a[5]), "+r"(a[6]), "+r"(a[7])::"memory");
}
// settled keeps the compiler from computing sums later.
DEVICE void settled(float* d) { asm volatile("" : SUMS_32(d)); }

// wait_together waits at a barrier at which threads of other blocks arrive.
DEVICE void wait_together(Barrier* b, uint32 phase) { wait(b, phase); }
// of_warp is a number that all threads of a warp have: the compiler learns that they do.
DEVICE int of_warp(int x) { return __nvvm_shfl_sync_idx_i32(~0u, x, 0, 31); }
DEVICE uint32 place_at(const void* mine, int rank) { return peer((const float*)mine, rank); }
// arrive_both arrives once for a warp at a barrier of both blocks of a pair.
DEVICE void arrive_both(Barrier* b) {
	if (thread() % 32 < 2) asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(place_at(b, thread() % 32)) : "memory");
}
// fetch_both copies to the same place of both blocks of a pair, whose barriers count the bytes.
DEVICE void fetch_both(void* to, const void* from, int bytes, Barrier* b) {
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(shared_place(to)), "l"(from), "r"(bytes), "r"(shared_place(b)), "h"((unsigned short)3) : "memory");
}
// all_begun makes barriers visible to the other blocks; cluster_arrive and cluster_wait follow.
DEVICE void all_begun() { asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory"); }
// load_left reads four eights by eights of halves, turned: a left operand of which a lane names a row.
DEVICE void load_left(uint32* a, uint32 place) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(place) : "memory");
}
// Two halves at a time.
DEVICE uint32 multiply_halves(uint32 x, uint32 y) { uint32 z; asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y)); return z; }
DEVICE uint32 fma_halves(uint32 x, uint32 y, uint32 z) { uint32 o; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(o) : "r"(x), "r"(y), "r"(z)); return o; }
DEVICE uint32 add_halves(uint32 x, uint32 y) { uint32 z; asm("add.rn.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y)); return z; }
DEVICE uint32 minus_halves(uint32 x) { uint32 z; asm("neg.f16x2 %0, %1;" : "=r"(z) : "r"(x)); return z; }

// Copies by the machine's own unit see what threads wrote to global memory before proxies_meet; for shared memory, there is begun.
DEVICE void proxies_meet() { asm volatile("fence.proxy.async;" ::: "memory"); }
// bring copies to global memory; all that a thread brought is there behind brought.
DEVICE void bring(void* to, const void* from, int bytes) {
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_place(from)), "r"(bytes) : "memory");
}
DEVICE void brought() { asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); }
// expect_soon asks for what will be fetched: it comes nearer.
DEVICE void expect_soon(const void* from, int bytes) { asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory"); }
// tell writes to a place of a block, whose barrier counts eight bytes.
DEVICE void tell(const double* to, double x, const Barrier* b, int rank) {
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(place_at(to, rank)), "d"(x), "r"(place_at(b, rank)) : "memory");
}
// end gives back the place of a barrier.
DEVICE void end(Barrier* b) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_place(b)) : "memory"); }
// barrier_of_block is barrier, where warps of a block may have paused differently often.
DEVICE void barrier_of_block() { barrier(); }
#else
template <int N>
DEVICE void wgmma16_wait(float*) {}
DEVICE void holding(uint32 (&)[8]) {}
DEVICE void settled(float*) {}
DEVICE void wgmma16(float* d, const uint32* a, uint32 b) {
	static uint32 both[2][512][4], turns[512]; // used in turn, so that one barrier suffices
	static float number[1 << 16];
	if (!number[0x3c00])
		for (uint32 i = 0; i < 1 << 16; i++) number[i] = from_half(i, 0);
	int t = thread(), w = t / 32 * 32, g = t % 32 / 4, q = t % 4;
	uint32(*all)[4] = both[turns[t]++ % 2];
	for (int i = 0; i < 4; i++) all[t][i] = a[i];
	barrier();
	uint32 start = (b & 0x3fff) << 4, leading = (b >> 16 & 0x3fff) << 4;
	float left[2][16];
	for (int r = 0; r < 2; r++)
		for (int k = 0; k < 16; k++) left[r][k] = number[all[w + g * 4 + k % 8 / 2][r + k / 8 * 2] >> k % 2 * 16 & 0xffff];
	for (int c = 0; c < 16; c++) {
		int col = c / 2 * 8 + 2 * q + c % 2;
		float *x = d + c / 2 * 4 + c % 2, *y = x + 2;
		double sums[2] = {*x, *y};
		for (int k = 0; k < 16; k++) {
			uint32 at = start + col / 32 * leading + k / 8 * 512 + k % 8 * 64 + col % 32 * 2;
			at ^= (at >> 7 & 3) << 4; // the swizzle
			unsigned short right;
			memcpy(&right, (const char*)dynamic() + at, 2);
			for (int r = 0; r < 2; r++) sums[r] += (double)left[r][k] * number[right];
		}
		*x = cut(sums[0]), *y = cut(sums[1]);
	}
}
DEVICE void wgmma16_first(float* d, const uint32* a, uint32 b) {
	for (int i = 0; i < 32; i++) d[i] = 0;
	wgmma16(d, a, b);
}
DEVICE void wait_together(Barrier* b, uint32 phase) {
	while ((b->phase & 1) == phase) emulated::pause();
}
DEVICE void* place_at(const void* mine, int rank) { return peer((const float*)mine, rank); }
DEVICE void arrive_both(Barrier* b) {
	for (int i = 0; i < 2; i++) arrive((Barrier*)place_at(b, i));
}
DEVICE void fetch_both(void* to, const void* from, int bytes, Barrier* b) {
	for (int i = 0; i < 2; i++) fetch(place_at(to, i), from, bytes, (Barrier*)place_at(b, i));
}
DEVICE void all_begun() {}
DEVICE int of_warp(int x) { return x; }
DEVICE void load_left(uint32* a, uint32 place) { // of all threads of a warp at once
	static uint32 places[1024];
	places[thread()] = place & 0x3ffff;
	barrier();
	for (int i = 0; i < 4; i++) {
		uint32 both = 0;
		for (int j = 0; j < 2; j++) {
			unsigned short x;
			memcpy(&x, (const char*)dynamic() + places[thread() / 32 * 32 + 8 * i + thread() % 4 * 2 + j] + thread() % 32 / 4 * 2, 2);
			both |= (uint32)x << 16 * j;
		}
		a[i] = both;
	}
	barrier();
}
DEVICE uint32 fma_halves(uint32 x, uint32 y, uint32 z) {
	uint32 o[2];
	for (int i = 0; i < 2; i++) o[i] = half_of((float)((double)from_half(x, i) * from_half(y, i) + from_half(z, i)));
	return o[1] << 16 | o[0];
}
DEVICE uint32 multiply_halves(uint32 x, uint32 y) { return fma_halves(x, y, 0x80008000u); }
DEVICE uint32 add_halves(uint32 x, uint32 y) { return fma_halves(x, 0x3c003c00u, y); }
DEVICE uint32 minus_halves(uint32 x) { return x ^ 0x80008000u; }
DEVICE void proxies_meet() {}
DEVICE void bring(void* to, const void* from, int bytes) { memcpy(to, from, bytes); }
DEVICE void brought() {}
DEVICE void expect_soon(const void*, int) {}
DEVICE void tell(const double* to, double x, const Barrier* b, int rank) { fetch(place_at(to, rank), &x, 8, (Barrier*)place_at(b, rank)); }
DEVICE void end(Barrier*) {}
DEVICE void barrier_of_block() { emulated::cluster_barrier(); } // of both blocks of a pair
#endif
