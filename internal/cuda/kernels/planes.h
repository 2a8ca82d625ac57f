// Planes: matrices cut into bfloat16 for the tensor cores of Hopper.
#pragma once
#include "product.h"

constexpr int BLOCK = 32; // side of a block of a plane

struct Planes {
	unsigned short* at;
	long long plane; // numbers between planes
	int across, pad; // blocks side by side
};

// plane_place is where a plane has element (r, c).
DEVICE long long plane_place(const Planes& p, int r, int c) {
	return ((long long)(r / BLOCK) * p.across + c / BLOCK) * (BLOCK * BLOCK) + r % BLOCK * BLOCK + ((c % BLOCK / 8) ^ (r / 2 & 3)) * 8 + c % 8;
}
// A Two are neighbours in a row, the first one in an even column.
struct Two {
	float x, y;
};
// nearest rounds both to bfloat16; the first one has the lower half.
#ifndef EMULATED
DEVICE uint32 nearest(Two a) {
	uint32 both;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(a.y), "f"(a.x));
	return both;
}
#else
DEVICE uint32 nearest(float x) {
	uint32 b = bits(x);
	return x != x ? 0x7fff : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}
DEVICE uint32 nearest(Two a) { return nearest(a.y) << 16 | nearest(a.x); }
#endif
DEVICE void cut_at(unsigned short* to, long long plane, Two a) {
#pragma unroll
	for (int i = 0; i < 3; i++, to += plane) {
		uint32 both = nearest(a);
		*(uint32*)to = both;
		a.x -= from_bits(both << 16), a.y -= from_bits(both & 0xffff0000u);
	}
}
DEVICE void cut_one(unsigned short* to, long long plane, float x) {
#pragma unroll
	for (int i = 0; i < 3; i++, to += plane) {
		uint32 h = nearest({x, 0});
		*to = h;
		x -= from_bits(h << 16);
	}
}

// What is cut of two numbers x and y: x, and y; x² + y; x².
enum { CUT_FIRST, CUT_SECOND, CUT_SUM, CUT_SQUARE };
struct Cuts {
	Planes to[3];
	int what[3], count;
};
DEVICE float cut_of(int what, float x, float y) { return what == CUT_FIRST ? x : what == CUT_SECOND ? y : what == CUT_SUM ? fma(x, x, y) : x * x; }
DEVICE void cut_all(const Cuts& k, int r, int c, Two x, Two y) {
	long long at = plane_place(k.to[0], r, c); // planes of one size
	for (int i = 0; i < k.count; i++) cut_at(k.to[i].at + at, k.to[i].plane, {cut_of(k.what[i], x.x, y.x), cut_of(k.what[i], x.y, y.y)});
}

// Matrices are taken in pieces of a row: a thread has two neighbours. What a piece needs is
// loaded while the one before it is computed. A block takes one
// piece after the other, since its start costs more than a piece. Behind the last column,
// up to the end of its block of a plane, there are zeros, since the depth of a product may
// end there.
constexpr int CUT_THREADS = 256;
template <class Load, class Do>
DEVICE void pieces(int rows, int cols, Load load, Do each) {
	int end = (cols + BLOCK - 1) / BLOCK * BLOCK, across = (end / 2 + CUT_THREADS - 1) / CUT_THREADS, count = rows * across;
	int i = block(), r = i / across, c = 2 * (i % across * CUT_THREADS + thread());
	if (i >= count) return;
	auto next = load(r, c);
	while (i < count) {
		auto now = next;
		int row = r, col = c;
		i += blocks(), r = i / across, c = 2 * (i % across * CUT_THREADS + thread());
		if (i < count) next = load(r, c); // while this piece is computed
		if (col < end) each(row, col, now);
	}
}
// read2 and write2 are those of a matrix of so many columns.
DEVICE Two read2(const float* p, int r, int c, int cols) {
	if (!p) return {0, 0};
	p += (long long)r * cols + c;
	if (cols % 2 == 0 && (uint64)p % 8 == 0) {
		if (c >= cols) return {0, 0};
		uint64 b = *(const uint64*)p;
		return {from_bits((uint32)b), from_bits((uint32)(b >> 32))};
	}
	return {c < cols ? p[0] : 0.0f, c + 1 < cols ? p[1] : 0.0f};
}
DEVICE void write2(float* p, int r, int c, int cols, Two x) {
	if (!p) return;
	p += (long long)r * cols + c;
	if (cols % 2 == 0 && (uint64)p % 8 == 0) {
		if (c < cols) *(uint64*)p = (uint64)bits(x.y) << 32 | bits(x.x);
		return;
	}
	if (c < cols) p[0] = x.x;
	if (c + 1 < cols) p[1] = x.y;
}
