// What the kernels of a chain have in common. A chain is a plain small network: dense
// layers with leaky ReLUs between them, perhaps a learned noise at its end, and the Normal
// likelihood. All that its kernels need to know comes as their argument, so that nothing
// is read before the first weights.
//
//	chain_three, chain_exact  gather the batch, forward, score, backward
//	chain_gradients           gradients of the weights, their sums, KL and norm
//	chain_update              AdamW
//
// Each of them starts while the one before it ends, and reads what that one
// writes only behind follow. While a launch runs, the last but one before it has ended.
#pragma once
#include "optim.h"

#ifndef EMULATED
// warp_ready makes what the threads of a warp wrote visible to one another.
DEVICE void warp_ready() { __nvvm_bar_warp_sync(~0u); }
#else
DEVICE void warp_ready() { barrier(); } // as often for all warps
#endif

// fresh reads what an earlier launch wrote, before follow, past the cache of the
// multiprocessor: that may hold what was there before.
template <class T>
DEVICE T fresh(const T* p) { return *(const volatile T*)p; }

// KERNEL_CHAIN is KERNEL_MANY, but all threads copy the arguments at once. An argument is
// read by its name: the compiler would first copy all of them to local memory.
#ifndef EMULATED
#define ARGUMENT_WORD(name, a, i, x) asm volatile("{.reg .u64 p; mov.u64 p, " #name "_param_0; add.u64 p, p, %1; ld.param.u64 %0, [p];}" : "=l"(x) : "l"((uint64)(i) * 8))
#else
#define ARGUMENT_WORD(name, a, i, x) x = ((const uint64*)&a)[i]
#endif
#define KERNEL_CHAIN(name, T, threads, blocks) \
	DEVICE void name##_of(const T& c); \
	KERNEL_OF(name, Many<T>, threads, blocks) { \
		STAMP_BEGIN; \
		static_assert(sizeof(T) % 8 == 0, ""); \
		SHARED T mine; \
		const T* list = a.list; \
		for (int i = thread(); i < (int)(sizeof(T) / 8); i += threads) { \
			uint64 x; \
			if (list) x = fresh((const uint64*)(list + block_y()) + i); \
			else ARGUMENT_WORD(name, a, i, x); \
			((uint64*)&mine)[i] = x; \
		} \
		barrier(); \
		name##_of(mine); \
	} \
	DEVICE void name##_of(const T& c)

// CHAIN_STAMP notes, in a build that measures phases, the clock of a block, and the time at its first and
// last phase; the place is behind the turn of the step.
#ifdef STAMPS
DEVICE uint32 clocks() { uint32 x; asm volatile("mov.u32 %0, %%clock;" : "=r"(x) :: "memory"); return x; }
DEVICE uint32 now_ns() { uint32 x; asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(x) :: "memory"); return x; }
DEVICE uint32 processor() { uint32 x; asm volatile("mov.u32 %0, %%smid;" : "=r"(x) :: "memory"); return x; }
SHARED uint32 stamped[2];
#define STAMP_BEGIN if (thread() == 0) stamped[0] = clocks(), stamped[1] = now_ns()
#define CHAIN_STAMP(kernel, i) if (thread() == 0) { uint32* to = (uint32*)c.turn + 64 + ((kernel * 2048 + block()) * 16 + i) * 2; to[0] = clocks(); \
	if (i == 15) to[1] = now_ns(); if (i == 1) to[1] = processor(), to[-2] = stamped[0], to[-1] = stamped[1]; }
#else
#define STAMP_BEGIN
#define CHAIN_STAMP(kernel, i)
#endif

constexpr int MOST_LINKS = 6;

// A Turn is the step that a chain makes: the first launch writes it for the others.
struct Turn {
	int slot, finite;
};
