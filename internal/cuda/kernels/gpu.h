// What the kernels need of the machine. nvcc's headers are not used: clang compiles
// these files to PTX by itself. With EMULATED set they compile for a processor, where
// package emulator runs them thread by thread.
#pragma once

typedef unsigned int uint32;
typedef unsigned long long uint64;

#ifndef EMULATED

#define DEVICE __attribute__((device)) static inline __attribute__((always_inline))
#define METHOD __attribute__((device)) inline __attribute__((always_inline)) // of a structure
#define CALLED __attribute__((device)) static __attribute__((noinline)) // not inlined: it is large
#define INLINED __attribute__((always_inline)) // a function without a name
#define SHARED __attribute__((shared))
// KERNEL begins a kernel with one argument, a structure.
#define KERNEL(name, Args, threads) \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(threads))) void name(const Args a)
// KERNEL_OF begins one of which several blocks fit into a multiprocessor.
#define KERNEL_OF(name, Args, threads, blocks) \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(threads, blocks))) void name(const Args a)

DEVICE int thread() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE int threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE int block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE int block_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
DEVICE int block_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
DEVICE int blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE void barrier() { __syncthreads(); }
DEVICE float root(float x) { return __nvvm_sqrt_rn_f(x); }
DEVICE double root(double x) { return __nvvm_sqrt_rn_d(x); }
DEVICE float fma(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
DEVICE double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
DEVICE uint32 bits(float x) { return __nvvm_bitcast_f2i(x); }
DEVICE float from_bits(uint32 x) { return __nvvm_bitcast_i2f(x); }
DEVICE uint64 bits(double x) { return __nvvm_bitcast_d2ll(x); }
DEVICE double from_bits(uint64 x) { return __nvvm_bitcast_ll2d(x); }
DEVICE uint32 high(uint32 x, uint32 y) { return (uint64)x * y >> 32; }
// quick_root and quick_inverse are off by a bit at most, and never branch.
DEVICE float quick_root(float x) { float y; asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float quick_inverse(float x) { float y; asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// swap returns the value of the thread of the warp whose number differs by mask.
DEVICE float swap(float x, int mask) { return from_bits((uint32)__nvvm_shfl_sync_bfly_i32(~0u, (int)bits(x), mask, 31)); }

// lane_value returns the value of a lane of the warp.
DEVICE float lane_value(float x, int lane) { return from_bits((uint32)__nvvm_shfl_sync_idx_i32(~0u, (int)bits(x), lane, 31)); }

#else

#include <cmath>
#include <cstring>

#define DEVICE static inline
#define METHOD inline
#define CALLED static
#define INLINED
#define SHARED static
#define KERNEL(name, Args, threads) \
	static void name(const Args& a); \
	static emulated::Entry entry_##name(#name, [](void** p) { name(*(const Args*)p[0]); }); \
	static void name(const Args& a)
#define KERNEL_OF(name, Args, threads, blocks) KERNEL(name, Args, threads)

namespace emulated {
struct Entry {
	Entry(const char* name, void (*run)(void**));
};
extern int thread, threads, block[3], blocks, rank, cluster; // rank: of the block in its cluster; cluster: blocks of it
// A barrier is a turn of all threads, so all must come to as many. The cluster's waits for all its threads, however often they
// paused; a pause lets all others run until they wait, too.
void barrier(), cluster_barrier(), pause();
}
DEVICE int thread() { return emulated::thread; }
DEVICE int threads() { return emulated::threads; }
DEVICE int block() { return emulated::block[0]; }
DEVICE int block_y() { return emulated::block[1]; }
DEVICE int block_z() { return emulated::block[2]; }
DEVICE int blocks() { return emulated::blocks; }
DEVICE void barrier() { emulated::barrier(); }
DEVICE float root(float x) { return __builtin_sqrtf(x); }
DEVICE double root(double x) { return __builtin_sqrt(x); }
DEVICE float quick_root(float x) { return root(x); }
DEVICE float quick_inverse(float x) { return 1 / x; }
DEVICE uint32 bits(float x) { uint32 b; memcpy(&b, &x, 4); return b; }
DEVICE float from_bits(uint32 b) { float x; memcpy(&x, &b, 4); return x; }
DEVICE uint64 bits(double x) { uint64 b; memcpy(&b, &x, 8); return b; }
DEVICE double from_bits(uint64 b) { double x; memcpy(&x, &b, 8); return x; }
DEVICE uint32 high(uint32 x, uint32 y) { return (uint64)x * y >> 32; }
DEVICE float swap(float x, int mask) { // of all threads of the block at once
	static float all[1024];
	all[thread()] = x;
	barrier();
	float y = all[thread() ^ mask];
	barrier();
	return y;
}
DEVICE float lane_value(float x, int lane) { // likewise
	static float all[1024];
	all[thread()] = x;
	barrier();
	float y = all[thread() / 32 * 32 + lane % 32];
	barrier();
	return y;
}
#define fma(x, y, z) emulated_fma(x, y, z)
DEVICE float emulated_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEVICE double emulated_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

#endif

DEVICE double swap(double x, int mask) {
	float lo = swap(from_bits((uint32)bits(x)), mask), hi = swap(from_bits((uint32)(bits(x) >> 32)), mask);
	return from_bits((uint64)bits(hi) << 32 | bits(lo));
}

DEVICE double lane_value(double x, int lane) {
	float lo = lane_value(from_bits((uint32)bits(x)), lane), hi = lane_value(from_bits((uint32)(bits(x) >> 32)), lane);
	return from_bits((uint64)bits(hi) << 32 | bits(lo));
}

// warp_sum adds up x over the threads of each warp, in pairs; every thread gets the sum.
template <class T>
DEVICE T warp_sum(T x) {
#ifndef EMULATED
#pragma unroll
	for (int m = 16; m > 0; m /= 2) x += swap(x, m);
	return x;
#else // the same sums, with two barriers instead of ten
	static T all[1024];
	all[thread()] = x;
	barrier();
	T y[32];
	for (int i = 0; i < 32; i++) y[i] = all[thread() / 32 * 32 + i];
	for (int m = 16; m > 0; m /= 2)
		for (int i = 0; i < m; i++) y[i] += y[i + m];
	barrier();
	return y[0];
#endif
}

// warp_most is the largest x of the threads of each warp.
DEVICE double warp_most(double x) {
#ifndef EMULATED
#pragma unroll
	for (int m = 16; m > 0; m /= 2) {
		double other = swap(x, m);
		x = other > x ? other : x;
	}
	return x;
#else // with two barriers
	static double all[1024];
	all[thread()] = x;
	barrier();
	for (int i = thread() / 32 * 32; i < thread() / 32 * 32 + 32; i++) x = all[i] > x ? all[i] : x;
	barrier();
	return x;
#endif
}

// total adds up x and y over a block of at most 1024 threads, in a fixed order; every
// thread gets the sums.
template <class T>
DEVICE void total(T& x, T& y) {
#ifndef EMULATED
	SHARED T p[32], q[32];
#pragma unroll
	for (int m = 16; m > 0; m /= 2) x += swap(x, m), y += swap(y, m);
	barrier();
	if (thread() % 32 == 0) p[thread() / 32] = x, q[thread() / 32] = y;
	barrier();
	x = p[0], y = q[0];
	for (int i = 1; i < threads() / 32; i++) x += p[i], y += q[i];
#else // swapping takes long there
	static T p[1024], q[1024], sums[2];
	barrier();
	p[thread()] = x, q[thread()] = y;
	barrier();
	if (thread() == 0) {
		sums[0] = sums[1] = 0;
		for (int i = 0; i < threads(); i++) sums[0] += p[i], sums[1] += q[i];
	}
	barrier();
	x = sums[0], y = sums[1];
#endif
}

DEVICE float less(float x, float y) { return x < y ? x : y; }
DEVICE float more(float x, float y) { return x > y ? x : y; }
DEVICE int less(int x, int y) { return x < y ? x : y; }
DEVICE float magnitude(float x) { return from_bits(bits(x) & 0x7fffffffu); }
DEVICE double magnitude(double x) { return x < 0 ? -x : x; }
DEVICE bool is_finite(float x) { return (bits(x) & 0x7f800000u) != 0x7f800000u; }
DEVICE bool is_finite(double x) { return (bits(x) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull; }
