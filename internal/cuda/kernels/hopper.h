// What products on Hopper's tensor cores need of the machine: copies that run by
// themselves, barriers that count them, and products of operands in shared memory.
#pragma once
#include "mma.h"
#include "half.h"

#ifndef EMULATED
struct Barrier {
	uint64 state;
};
DEVICE uint32 shared_place(const void* p) { return (uint32)(uint64)(__attribute__((address_space(3))) const char*)p; }
// begin prepares a barrier for a number of arrivals; begun makes all of them visible.
DEVICE void begin(Barrier* b, int arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_place(b)), "r"(arrivals) : "memory"); }
DEVICE void begun() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// expect arrives and makes the barrier wait for bytes that fetch copies.
DEVICE void expect(Barrier* b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_place(b)), "r"(bytes) : "memory"); }
DEVICE void fetch(void* to, const void* from, int bytes, Barrier* b) {
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_place(to)), "l"(from), "r"(bytes), "r"(shared_place(b)) : "memory");
}
// arrive arrives once for a warp.
DEVICE void arrive(Barrier* b) {
	if (thread() % 32 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_place(b)) : "memory");
}
DEVICE void wait(Barrier* b, uint32 phase) {
	uint32 done;
	do asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(shared_place(b)), "r"(phase) : "memory");
	while (!done);
}
DEVICE void warp_barrier() { __nvvm_bar_warp_sync(~0u); }
// fewer_registers and more_registers share the registers of a block anew among its groups
// of four warps.
template <int N = 40>
DEVICE void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N = 232>
DEVICE void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }

#define SUMS8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS64(d) SUMS8(d, 0), SUMS8(d, 8), SUMS8(d, 16), SUMS8(d, 24), SUMS8(d, 32), SUMS8(d, 40), SUMS8(d, 48), SUMS8(d, 56)
DEVICE void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmma_end() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// wgmma_wait waits until all products have ended but those behind the last N ends.
template <int N = 0>
DEVICE void wgmma_wait(float* d) { asm volatile("wgmma.wait_group.sync.aligned %64;" : SUMS64(d) : "n"(N) : "memory"); }
// wgmma adds a product of 64 × 16 by 16 × 128 halves to d, or sets d. AT and BT
// say that an operand's depth runs along its rows of blocks.
template <bool AT, bool BT>
DEVICE void wgmma(float* d, uint64 a, uint64 b, int add) {
	asm volatile("{.reg .pred p; setp.ne.b32 p, %66, 0;"
		"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
		"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
		"%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
		"%64, %65, p, 1, 1, %67, %68;}"
		: SUMS64(d)
		: "l"(a), "l"(b), "r"(add), "n"((int)AT), "n"((int)BT));
}
#else
#include <map>

struct Barrier {
	int count, pending, bytes;
	uint32 phase;
};
DEVICE uint32 shared_place(const void* p) { return (uint32)((const char*)p - (const char*)dynamic()) | (uint32)emulated::rank << 24; } // in a cluster, with the number of the block
DEVICE void begin(Barrier* b, int arrivals) { *b = {32 * arrivals, 32 * arrivals, 0, 0}; }
DEVICE void begun() {}
DEVICE void complete(Barrier* b) {
	if (b->pending == 0 && b->bytes == 0) b->pending = b->count, b->phase++;
}
DEVICE void expect(Barrier* b, int bytes) {
	b->bytes += bytes, b->pending -= 32;
	complete(b);
}
static uint32 fetched; // so often
DEVICE void fetch(void* to, const void* from, int bytes, Barrier* b) {
	memcpy(to, from, bytes);
	fetched++;
	b->bytes -= bytes;
	complete(b);
}
DEVICE void arrive(Barrier* b) { // every thread of the warp
	b->pending--;
	complete(b);
}
DEVICE void wait(Barrier* b, uint32 phase) {
	while ((b->phase & 1) == phase) barrier();
}
DEVICE void warp_barrier() {}
template <int N = 40>
DEVICE void fewer_registers() {}
template <int N = 232>
DEVICE void more_registers() {}
DEVICE void wgmma_begin() {}
DEVICE void wgmma_end() {}
template <int N = 0>
DEVICE void wgmma_wait(float*) {}
// A Tabulated operand is what a descriptor describes, for all threads: [k][i].
struct Tabulated {
	uint32 when;
	double x[16][128];
};
DEVICE const Tabulated& operand(uint64 descriptor, bool turned, int size) {
	static std::map<uint64, Tabulated> all[2];
	Tabulated& o = all[turned][descriptor];
	if (o.when == fetched) return o;
	o.when = fetched;
	uint32 start = (descriptor & 0x3fff) << 4, leading = (descriptor >> 16 & 0x3fff) << 4, stride = (descriptor >> 32 & 0x3fff) << 4;
	for (int k = 0; k < 16; k++)
		for (int i = 0; i < size; i++) {
			uint32 at = turned ? start + i / 32 * leading + k / 8 * stride + k % 8 * 64 + i % 32 * 2 : start + i / 8 * stride + i % 8 * 64 + k * 2;
			at ^= (at >> 7 & 3) << 4; // the swizzle
			unsigned short x;
			memcpy(&x, (const char*)dynamic() + at, 2);
			o.x[k][i] = from_half(x, 0);
		}
	return o;
}
template <bool AT, bool BT>
DEVICE void wgmma(float* d, uint64 a, uint64 b, int add) {
	const Tabulated &x = operand(a, AT, 64), &y = operand(b, BT, 128);
	int row = thread() / 32 % 4 * 16 + thread() % 32 / 4, col = thread() % 4 * 2;
	double sums[64];
	for (int e = 0; e < 64; e++) sums[e] = add ? (double)d[e] : 0.0;
	for (int k = 0; k < 16; k++)
		for (int c = 0; c < 16; c++) {
			double u = x.x[k][row], v = x.x[k][row + 8], w = y.x[k][col + 8 * c], z = y.x[k][col + 8 * c + 1], *s = sums + 4 * c;
			s[0] += u * w, s[1] += u * z, s[2] += v * w, s[3] += v * z;
		}
	for (int e = 0; e < 64; e++) d[e] = cut(sums[e]);
}
#endif
