// What products on tensor cores need of the machine: copies into shared memory that run
// beside the arithmetic, and the product of fragments.
#pragma once
#include "gpu.h"

#ifndef EMULATED
extern __attribute__((shared)) __attribute__((aligned(16))) float dynamic_memory[];
DEVICE float* dynamic() { return dynamic_memory; } // shared memory, as much as the launch asks for
DEVICE uint32 shared_address(const float* p) { return (uint32)(uint64)(__attribute__((address_space(3))) const float*)p; }
DEVICE void copy16(float* to, const float* from, bool in) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(in ? 16 : 0));
}
DEVICE void copy4(float* to, const float* from, bool in) {
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from), "r"(in ? 4 : 0));
}
DEVICE void copies_end() { asm volatile("cp.async.commit_group;"); }
template <int N>
DEVICE void copies_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// mma adds a product of 16 × 8 by 8 × 8 numbers to d; mma_first sets d.
DEVICE void mma_first(float* d, const uint32* a, const uint32* b) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
		: "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}
DEVICE void mma(float* d, const uint32* a, const uint32* b) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
DEVICE float* dynamic() {
	alignas(1024) static float memory[8 * 227 * 256]; // of all blocks of a cluster
	return memory + emulated::rank * (227 * 256);
}
DEVICE void copy16(float* to, const float* from, bool in) {
	for (int i = 0; i < 4; i++) to[i] = in ? from[i] : 0.0f;
}
DEVICE void copy4(float* to, const float* from, bool in) { *to = in ? *from : 0.0f; }
DEVICE void copies_end() {}
template <int N>
DEVICE void copies_wait() {}
// cut rounds towards zero, to a float32.
DEVICE float cut(double x) {
	float f = (float)x;
	if ((f < 0 ? -(double)f : (double)f) > (x < 0 ? -x : x)) f = from_bits(bits(f) - 1);
	return f;
}
// The products of a row and a column are added exactly, and the sum is cut: what tensor
// cores do, to a few bits more.
DEVICE void mma(float* d, const uint32* a, const uint32* b) {
	static uint32 both[2][512][6], turns[512]; // used in turn, so that one barrier suffices
	int t = thread(), w = t / 32 * 32, g = t % 32 / 4, q = t % 4;
	uint32(*all)[6] = both[turns[t]++ % 2];
	for (int i = 0; i < 4; i++) all[t][i] = a[i];
	for (int i = 0; i < 2; i++) all[t][4 + i] = b[i];
	barrier();
	auto tf = [](uint32 x) { return (double)from_bits(x & 0xffffe000u); };
	for (int i = 0; i < 4; i++) {
		int r = g + i / 2 * 8, c = 2 * q + i % 2;
		double sum = d[i];
		for (int k = 0; k < 8; k++)
			sum += tf(all[w + r % 8 * 4 + k % 4][r / 8 + k / 4 * 2]) * tf(all[w + c * 4 + k % 4][4 + k / 4]);
		d[i] = cut(sum);
	}
}
DEVICE void mma_first(float* d, const uint32* a, const uint32* b) {
	for (int i = 0; i < 4; i++) d[i] = 0;
	mma(d, a, b);
}
#endif

// split cuts x into two TF32 numbers; the card ignores the low 13 bits of both. What is
// so lost of lo is on average 2⁻²³ of x, which the factor makes up for.
DEVICE void split(float x, uint32* hi, uint32* lo) {
	*hi = bits(x);
	*lo = bits(fma(x, 1.0000001192092896f, -from_bits(*hi & 0xffffe000u)));
}
