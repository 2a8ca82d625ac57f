// Numbers of half precision, and the largest of some numbers.
#pragma once
#include "gpu.h"

#ifndef EMULATED
// two_halves rounds two numbers to nearest; the first one has the lower half.
DEVICE uint32 two_halves(float x, float y) {
	uint32 both;
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
	return both;
}
// from_half is the first or the second of two halves.
DEVICE float from_half(uint32 both, int second) {
	float x;
	asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)(second ? both >> 16 : both)));
	return x;
}
// all_most is the largest of a warp's, row_most of eight neighbours'.
DEVICE uint32 all_most(uint32 x) {
	uint32 most;
	asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(most) : "r"(x));
	return most;
}
DEVICE uint32 row_most(uint32 x) {
#pragma unroll
	for (int m = 4; m > 0; m /= 2) {
		uint32 y = __nvvm_shfl_sync_bfly_i32(~0u, (int)x, m, 31);
		x = y > x ? y : x;
	}
	return x;
}
#else
DEVICE uint32 half_of(float x) {
	uint32 b = bits(x), sign = b >> 16 & 0x8000;
	b &= 0x7fffffff;
	if (b > 0x7f800000) return 0x7fff;                                                // not a number
	if (b >= 0x477ff000) return sign | 0x7c00;                                        // infinite
	if (b < 0x38800000) return sign | (bits(from_bits(b) + 0.5f) - 0x3f000000);       // steps of 2⁻²⁴
	return sign | (b + 0xfff + (b >> 13 & 1) - 0x38000000) >> 13;
}
DEVICE float from_half(uint32 both, int second) {
	uint32 h = second ? both >> 16 : both & 0xffff, e = h >> 10 & 31, m = h & 1023, sign = h >> 15 << 31;
	if (e == 31) return from_bits(sign | 0x7f800000 | m << 13);
	if (e == 0) return from_bits(sign | bits(m / 16777216.0f));
	return from_bits(sign | (e + 112) << 23 | m << 13);
}
DEVICE uint32 two_halves(float x, float y) { return half_of(y) << 16 | half_of(x); }
DEVICE uint32 most_of(uint32 x, int threads) { // of all threads of the block at once
	static uint32 all[1024];
	all[thread()] = x;
	barrier();
	for (int i = thread() / threads * threads, end = i + threads; i < end; i++) x = all[i] > x ? all[i] : x;
	barrier();
	return x;
}
DEVICE uint32 all_most(uint32 x) { return most_of(x, 32); }
DEVICE uint32 row_most(uint32 x) { return most_of(x, 8); }
#endif
