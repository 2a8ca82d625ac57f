// Products on Hopper's tensor cores of TF32 numbers: the left operand is in registers, the
// right one in shared memory. They have the bits of mma.
#pragma once
#include "hopper.h"

// The right operand is 32 rows by eights of the depth: four of the depth are side by side, then the
// rows follow; HALF is the distance of the upper four, EIGHT that of the next eight. Both shift
// the banks by four.
// A description is the lower half of its descriptor, in which a place counts sixteen bytes.
constexpr int HALF = 132, EIGHT = 260;
DEVICE uint32 describe(Near p, int at) { return (place_near(p) + 4 * at) >> 4 | (uint32)(4 * HALF >> 4) << 16; }
DEVICE uint64 whole_descriptor(uint32 b) { return (uint64)(128 >> 4) << 32 | b; }

// left_of is what a split leaves of a number.
DEVICE float left_of(float x) {
	uint32 hi, lo;
	split(x, &hi, &lo);
	return from_bits(lo);
}

#ifndef EMULATED
#define SUMS16(d) SUMS8(d, 0), SUMS8(d, 8)
DEVICE void wgmma32_wait(float* d) { asm volatile("wgmma.wait_group.sync.aligned 0;" : SUMS16(d) :: "memory"); }
// wgmma32 adds a product of 64 × 8 by 8 × 32 numbers to d; wgmma32_first sets d.
DEVICE void wgmma32(float* d, const uint32* a, uint32 b) {
	asm volatile("{.reg .pred p; setp.eq.u32 p, 1, 1; wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 "
		"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19}, %20, p, 1, 1;}"
		: SUMS16(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(whole_descriptor(b)));
}
DEVICE void wgmma32_first(float* d, const uint32* a, uint32 b) {
	asm volatile("{.reg .pred p; setp.ne.u32 p, 1, 1; wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 "
		"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19}, %20, p, 1, 1;}"
		: SUMS16(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(whole_descriptor(b)));
}
#else
DEVICE void wgmma32_wait(float*) {}
DEVICE void wgmma32(float* d, const uint32* a, uint32 b) {
	static uint32 both[2][512][4], turns[512]; // used in turn, so that one barrier suffices
	int t = thread(), w = t / 32 * 32, g = t % 32 / 4, q = t % 4;
	uint32(*all)[4] = both[turns[t]++ % 2];
	for (int i = 0; i < 4; i++) all[t][i] = a[i];
	barrier();
	const float* from = dynamic() + (b & 0x3fff) * 4;
	int half = (b >> 16 & 0x3fff) * 4;
	auto tf = [](uint32 x) { return (double)from_bits(x & 0xffffe000u); };
	for (int i = 0; i < 16; i++) {
		int r = g + i % 4 / 2 * 8, c = i / 4 * 8 + 2 * q + i % 2;
		double sum = d[i];
		for (int k = 0; k < 8; k++) sum += tf(all[w + r % 8 * 4 + k % 4][r / 8 + k / 4 * 2]) * tf(bits(from[k / 4 * half + c * 4 + k % 4]));
		d[i] = cut(sum);
	}
}
DEVICE void wgmma32_first(float* d, const uint32* a, uint32 b) {
	for (int i = 0; i < 16; i++) d[i] = 0;
	wgmma32(d, a, b);
}
#endif
