// Planes: matrices cut into halves of numbers for the tensor cores of Hopper.
#pragma once
#include "product.h"
#include "half.h"

constexpr int BLOCK = 32; // side of a block of a plane

// Planes are a matrix whose elements are the sums of two half-precision numbers, h + l, times
// a scale, a power of two. Elements that the tensor cores add up share it: all of a block
// in training, where sums run along rows and along columns; those of a row of a block in
// predictions, so that no row depends on its neighbours.
struct Planes {
	unsigned short* at;
	long long plane;  // numbers between planes
	int across, down; // blocks side by side; rows, filled up
};

// plane_place is where a plane has element (r, c).
DEVICE long long plane_place(const Planes& p, int r, int c) {
	return ((long long)(r / BLOCK) * p.across + c / BLOCK) * (BLOCK * BLOCK) + r % BLOCK * BLOCK + ((c % BLOCK / 8) ^ (r / 2 & 3)) * 8 + c % 8;
}
// scales_of are the scales of planes, behind them: those of a row of blocks' columns, one
// below the other, then those of the next.
DEVICE float* scales_of(const Planes& p) { return (float*)(p.at + 2 * p.plane); }

// A Span are four neighbours in a row, the first one in a column that is a multiple of four.
struct alignas(16) Span {
	float x[4];
};
template <class F>
DEVICE Span each_of(F f) {
	Span r;
#pragma unroll
	for (int i = 0; i < 4; i++) r.x[i] = f(i);
	return r;
}
DEVICE Span plus(const Span& a, const Span& b) { return each_of([&](int i) { return a.x[i] + b.x[i]; }); }

// size_of is the largest magnitude of numbers that are finite, as bits.
DEVICE uint32 size_of(const Span& a) {
	uint32 most = 0;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		uint32 b = bits(a.x[i]) & 0x7fffffffu;
		if (b < 0x7f800000u && b > most) most = b;
	}
	return most;
}

// A Scale makes the largest of some numbers at least 2¹⁴ and less than 2¹⁵: halves end at 2¹⁶,
// and have steps of 2⁻²⁴ near zero, 2⁻³⁹ of that number.
struct Scale {
	float up, down; // what the numbers are multiplied by; its inverse
};
DEVICE Scale scale_of(uint32 size) {
	int e = size >> 23;
	if (e < 15) e = 15;
	return {from_bits((uint32)(268 - e) << 23), from_bits((uint32)(e - 14) << 23)};
}
DEVICE void cut_at(unsigned short* to, long long plane, const Span& a, float up) {
	Span x = each_of([&](int i) { return a.x[i] * up; });
#pragma unroll
	for (int i = 0; i < 2; i++, to += plane) {
		uint32 p = two_halves(x.x[0], x.x[1]), q = two_halves(x.x[2], x.x[3]);
		*(uint64*)to = (uint64)q << 32 | p;
		x = each_of([&](int j) { return x.x[j] - from_half(j < 2 ? p : q, j % 2); });
	}
}

// What is cut of two numbers x and y: x, and y; x² + y; x².
enum { CUT_FIRST, CUT_SECOND, CUT_SUM, CUT_SQUARE };
struct Cuts {
	Planes to[3];
	int what[3], count;
	int apart, pad; // apart: each row has scales of its own
};
DEVICE float cut_of(int what, float x, float y) { return what == CUT_FIRST ? x : what == CUT_SECOND ? y : what == CUT_SUM ? fma(x, x, y) : x * x; }

// Matrices are taken in blocks of 32 × 32: a thread has four neighbours in a row. Behind the
// last column, up to the end of its block, there are zeros, since the depth of a product may
// end there.
constexpr int CUT_THREADS = 256, CUT_WARPS = CUT_THREADS / 32;

// share_most makes sizes those of the row, or of all threads.
DEVICE void share_most(uint32* size, int count, bool apart, int turn) {
	if (apart) {
#pragma unroll
		for (int i = 0; i < 3; i++)
			if (i < count) size[i] = row_most(size[i]);
		return;
	}
	SHARED uint32 most[2][3][CUT_WARPS];
#pragma unroll
	for (int i = 0; i < 3; i++)
		if (i < count) {
			uint32 m = all_most(size[i]);
			if (thread() % 32 == 0) most[turn % 2][i][thread() / 32] = m;
		}
	barrier(); // one for two turns: nobody is two turns ahead
#pragma unroll
	for (int i = 0; i < 3; i++)
		if (i < count) {
			const uint32* all = most[turn % 2][i];
			uint32 m = all[0];
#pragma unroll
			for (int j = 1; j < CUT_WARPS; j++) m = all[j] > m ? all[j] : m;
			size[i] = m;
		}
}

// cut_these cuts up to three numbers of each place that all threads of a block have; in says
// that a thread's row exists.
DEVICE void cut_these(const Planes* to, int count, bool apart, int r, int c, bool in, const Span* q, int turn) {
	uint32 size[3];
#pragma unroll
	for (int i = 0; i < 3; i++)
		if (i < count) size[i] = in ? size_of(q[i]) : 0;
	share_most(size, count, apart, turn);
	if (!in) return;
	long long at = plane_place(to[0], r, c); // planes of one size
#pragma unroll
	for (int i = 0; i < 3; i++)
		if (i < count) {
			const Planes& p = to[i];
			Scale s = scale_of(size[i]);
			cut_at(p.at + at, p.plane, q[i], s.up);
			if (c % BLOCK == 0) scales_of(p)[(long long)(c / BLOCK) * p.down + r] = s.down;
		}
}
DEVICE void cut_all(const Cuts& k, int r, int c, bool in, const Span& x, const Span& y, int turn) {
	if (k.count == 0) return;
	Span q[3];
#pragma unroll
	for (int i = 0; i < 3; i++)
		if (i < k.count) {
			int what = k.what[i];
			q[i] = each_of([&](int j) { return cut_of(what, x.x[j], y.x[j]); });
		}
	cut_these(k.to, k.count, k.apart, r, c, in, q, turn);
}

// each_block calls each(r, c, in, turn) for the four neighbours of a thread in all blocks of
// a matrix that are this block's.
template <class Each>
DEVICE void each_block(int rows, int cols, Each each) {
	int across = (cols + BLOCK - 1) / BLOCK, count = (rows + BLOCK - 1) / BLOCK * across, turn = 0;
	for (int i = block(); i < count; i += blocks()) {
		int r = i / across * BLOCK + thread() / 8, c = i % across * BLOCK + thread() % 8 * 4;
		each(r, c, r < rows, turn++);
	}
}

// read4 and write4 are those of a matrix of so many columns; read4 gives zeros outside.
DEVICE Span read4(const float* p, int r, int c, int cols, bool in) {
	if (!p || !in) return {};
	p += (long long)r * cols + c;
	if (cols % 4 == 0 && (uint64)p % 16 == 0) {
		if (c >= cols) return {};
		return *(const Span*)p;
	}
	return each_of([&](int i) { return c + i < cols ? p[i] : 0.0f; });
}
DEVICE void write4(float* p, int r, int c, int cols, bool in, const Span& x) {
	if (!p || !in) return;
	p += (long long)r * cols + c;
	if (cols % 4 == 0 && (uint64)p % 16 == 0) {
		if (c < cols) *(Span*)p = x;
		return;
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		if (c + i < cols) p[i] = x.x[i];
}
// inside makes numbers behind the last column zero.
DEVICE Span inside(const Span& x, int c, int cols) { return each_of([&](int i) { return c + i < cols ? x.x[i] : 0.0f; }); }
