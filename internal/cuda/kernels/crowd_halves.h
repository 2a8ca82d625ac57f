// Products of rows with the weights of a chain's broad layer, on Hopper's tensor cores in halves. A
// number is 2ᵉ(h + l); three products make one: lh, hl, hh. The rows are the left operand, in
// registers; the weights are planes in shared memory, which serve both ways.
#pragma once
#include "near.h"
#include "hopper.h"

// A plane has BROADEST × BROADEST halves: four panels of 32 columns, row by row, swizzled as tensor cores
// read them. W has the means of the weights: h, then l. The others are one pair of planes, in which 32 rows of S, the
// variances, are followed by as many of P, the mean squares: a way back multiplies both at once.
constexpr int BROADEST = 128, PANEL = 64 * BROADEST, PLANE = 4 * PANEL; // bytes
enum { PLANE_W = 0, PLANE_SP = 2 * PLANE, PLANES = 6 * PLANE };

// A description is the lower half of the descriptor of a right operand, in which a place counts
// sixteen bytes: the distance of panels is in it; that of eights of rows is in the upper half. In a cluster, the upper bits of a place are
// the number of its block.
template <int PANELS>
DEVICE uint32 describe_planes(uint32 place) { return (place & 0x3ffff) >> 4 | (uint32)(PANELS * PANEL >> 4) << 16; }
DEVICE uint64 whole_description(uint32 d) { return (uint64)(2u << 30 | 512 >> 4) << 32 | d; }
// The rows of a plane are the depth going forward, the columns going back: so far is the
// next sixteen of the depth.
constexpr uint32 DEEPER = 16 * 64 >> 4, DEEPER_BACK = 32 >> 4;

// A Halved is what becomes of numbers: two halves each, the rounded numbers and what is left of them.
struct Halved {
	uint32 h, l;
};
#ifndef EMULATED
DEVICE Two32 from_halves(uint32 both) {
	Two32 o;
	asm("{.reg .f16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(o.x[0]), "=f"(o.x[1]) : "r"(both));
	return o;
}
#else
DEVICE Two32 from_halves(uint32 both) { return {from_half(both, 0), from_half(both, 1)}; }
#endif
DEVICE Halved cut_two(float x, float y) {
	uint32 h = two_halves(x, y);
	Two32 f = from_halves(h);
	return {h, two_halves(x - f.x[0], y - f.x[1])};
}

// power is a power of two; exponent is the most that makes numbers below a bound less than 2¹⁵.
DEVICE float power(int e) { return from_bits((uint32)(e < -126 ? 1 : e > 127 ? 254 : e + 127) << 23); }
DEVICE int exponent(uint32 bound) {
	int e = 141 - (int)((bound & 0x7fffffff) >> 23);
	return e > 120 ? 120 : e;
}

#ifndef EMULATED
#define SUMS32(d) SUMS8(d, 0), SUMS8(d, 8), SUMS8(d, 16), SUMS8(d, 24)
// halves adds a product of halves to d: of 64 × 16 by 16 × 128 going forward, where the depth of the right operand is its
// rows, or by 16 × 64 going back, or it sets d. halves_wait waits for all products; settled says that d is no longer in use.
DEVICE void halves_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
DEVICE void settled(float (&d)[64]) { asm volatile("" : SUMS64(d) :: "memory"); }
DEVICE void settled(float (&d)[32]) { asm volatile("" : SUMS32(d) :: "memory"); }
template <bool ADD>
DEVICE void halves(float (&d)[64], const uint32* a, uint32 b) {
	asm volatile("{.reg .pred p; setp.ne.b32 p, %69, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
		"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
		"%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
		"{%64,%65,%66,%67}, %68, p, 1, 1, 1;}"
		: SUMS64(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(whole_description(b)), "n"((int)ADD));
}
template <bool ADD>
DEVICE void halves(float (&d)[32], const uint32* a, uint32 b) {
	asm volatile("{.reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
		"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
		"{%32,%33,%34,%35}, %36, p, 1, 1, 0;}"
		: SUMS32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(whole_description(b)), "n"((int)ADD));
}
#else
DEVICE void halves_wait() {}
template <int COUNT>
DEVICE void settled(float (&)[COUNT]) {}
template <bool ADD, int COUNT>
DEVICE void halves(float (&d)[COUNT], const uint32* a, uint32 b) {
	static uint32 both[2][256][4], turns[256]; // used in turn, so that one barrier suffices
	static float number[1 << 16];
	if (!number[0x3c00])
		for (uint32 i = 0; i < 1 << 16; i++) number[i] = from_half(i, 0);
	int t = thread(), w = t / 32 * 32, g = t % 32 / 4, q = t % 4;
	uint32(*all)[4] = both[turns[t]++ % 2];
	for (int i = 0; i < 4; i++) all[t][i] = a[i];
	barrier();
	uint32 start = (b & 0x3fff) << 4, panel = (b >> 16 & 0x3fff) << 4;
	float left[2][16];
	for (int r = 0; r < 2; r++)
		for (int k = 0; k < 16; k++) left[r][k] = number[all[w + g * 4 + k % 8 / 2][r + k / 8 * 2] >> k % 2 * 16 & 0xffff];
	for (int c = 0; c < COUNT / 2; c++) {
		int i = c / 2 * 8 + 2 * q + c % 2;
		double sums[2] = {ADD ? d[c / 2 * 4 + c % 2] : 0.0, ADD ? d[c / 2 * 4 + 2 + c % 2] : 0.0};
		for (int k = 0; k < 16; k++) {
			uint32 at = COUNT == 64 ? start + i / 32 * panel + k / 8 * 512 + k % 8 * 64 + i % 32 * 2 : start + i / 8 * 512 + i % 8 * 64 + k * 2;
			at ^= (at >> 7 & 3) << 4; // the swizzle
			unsigned short x;
			memcpy(&x, (const char*)dynamic() + at, 2);
			for (int r = 0; r < 2; r++) sums[r] += (double)left[r][k] * number[x];
		}
		for (int r = 0; r < 2; r++) d[c / 2 * 4 + 2 * r + c % 2] = ::cut(sums[r]);
	}
}
#endif

// Planes3 are the exponents of W, S and P.
struct Planes3 {
	int w, s, p;
};

// Broad are the weights of the broad layer that a thread cuts: eight columns of every sixteenth row, on their way from
// global memory. Rows and columns that are not there are zeros. Eight neighbours write two rows of a panel, and so to all banks.
struct Broad {
	static constexpr int EACH = BROADEST / 16;
	Four32 u[2 * EACH], v[2 * EACH];
};
DEVICE int broad_row() { return thread() / 32 * 2 + thread() / 4 % 2; }
DEVICE Broad read_weights(const float* w, const float* s, int in, int width) {
	Broad b;
	int row = broad_row(), col = thread() / 8 % 4 * 32 + thread() % 4 * 8;
	Far from_w = Far(w) + (row * width + col), from_s = Far(s) + (row * width + col);
#pragma unroll
	for (int i = 0; i < Broad::EACH; i++)
#pragma unroll
		for (int j = 0; j < 2; j++) {
			b.u[2 * i + j] = b.v[2 * i + j] = {};
			if (16 * i + row < in && col < width) b.u[2 * i + j] = load4(from_w + (16 * i * width + 4 * j)), b.v[2 * i + j] = load4(from_s + (16 * i * width + 4 * j));
		}
	return b;
}
DEVICE Planes3 cut_weights(const Broad& b, Near to) {
	SHARED uint32 most[2][8];
	int lane = thread() % 32, warp = thread() / 32, row = broad_row();
	uint32 size[2] = {0, 0};
#pragma unroll
	for (int i = 0; i < Broad::EACH * 8; i++) {
		uint32 x = bits(b.u[i / 4].x[i % 4]) & 0x7fffffff, y = bits(b.v[i / 4].x[i % 4]) & 0x7fffffff;
		size[0] = x > size[0] ? x : size[0], size[1] = y > size[1] ? y : size[1];
	}
#pragma unroll
	for (int i = 0; i < 2; i++) {
		size[i] = all_most(size[i]);
		if (lane == 0) most[i][warp] = size[i];
	}
	barrier();
#pragma unroll
	for (int i = 0; i < 16; i++) size[i / 8] = most[i / 8][i % 8] > size[i / 8] ? most[i / 8][i % 8] : size[i / 8];
	float x = from_bits(size[0]), y = from_bits(size[1]);
	Planes3 o = {exponent(size[0]), exponent(size[1]), exponent(bits(fma(x, x, y)))};
	float up[3] = {power(o.w), power(o.s), power(o.p)};
	Near at = to + (row * 64 + (lane % 4 ^ (row / 2 & 3)) * 16) / 4;
#pragma unroll
	for (int i = 0; i < Broad::EACH; i++)
#pragma unroll
		for (int k = 0; k < 3; k++) {
			Halved c[4];
#pragma unroll
			for (int j = 0; j < 4; j++) {
				float x[2];
#pragma unroll
				for (int e = 0; e < 2; e++) {
					float u = b.u[2 * i + j / 2].x[j % 2 * 2 + e], v = b.v[2 * i + j / 2].x[j % 2 * 2 + e];
					x[e] = (k == 0 ? u : k == 1 ? v : fma(u, u, v)) * up[k];
				}
				c[j] = cut_two(x[0], x[1]);
			}
			int panel = lane / 8;
			Near h = at + (k == 0 ? PLANE_W + panel * PANEL + 16 * i * 64 : PLANE_SP + panel * 2 * PANEL + (i / 2 * 64 + (k - 1) * 32 + i % 2 * 16) * 64) / 4;
			const float high[4] = {from_bits(c[0].h), from_bits(c[1].h), from_bits(c[2].h), from_bits(c[3].h)}, low[4] = {from_bits(c[0].l), from_bits(c[1].l), from_bits(c[2].l), from_bits(c[3].l)};
			store4(h, high), store4(h + (k == 0 ? PLANE : 2 * PLANE) / 4, low);
		}
	return o;
}
