// The gradients of a crowd's thin layers, summed up while the rows go back. A group of four warps leaves a part for
// its rows of a stretch; parts are added up in their order later.
#pragma once
#include "crowd_rows.h"

#ifndef EMULATED
// chosen is x where some of the bits are set, else y. The compiler would choose an address instead, and keep the numbers in memory.
DEVICE float chosen(uint32 bits, float x, float y) {
	float z;
	asm("{.reg .pred p; setp.ne.u32 p, %3, 0; selp.f32 %0, %1, %2, p;}" : "=f"(z) : "f"(x), "f"(y), "r"(bits));
	return z;
}
#else
DEVICE float chosen(uint32 bits, float x, float y) { return bits ? x : y; }
#endif

// turned adds up eight numbers over the eight rows that a warp's threads have of a column: a thread gets the sum of one of them.
template <int N>
DEVICE void turn_rows(float (&x)[8], int lane) {
	uint32 up = lane & 4 * N;
#pragma unroll
	for (int i = 0; i < N; i++) {
		float other = chosen(up, x[i], x[i + N]);
		x[i] = chosen(up, x[i + N], x[i]) + swap(other, 4 * N);
	}
}
DEVICE float turned(float (&x)[8], int lane) {
	turn_rows<4>(x, lane), turn_rows<2>(x, lane), turn_rows<1>(x, lane);
	return x[0];
}
// Sixteen sums by mean and then those by variance, column by column, are those of numbers 0 to 3 and 4 to 7 of four neighbours: turned_lane is
// the lane that has one of the 32.
DEVICE int turned_lane(int i) { return i / 8 * 8 + i % 2 * 4 + i / 2 % 4; }

// leave adds a sum to those of the group's part.
template <bool ONE>
DEVICE void leave(const Crowd<ONE>& k, const Seat& s, int at, float sum) {
	Out to = out(k.p.grad + (k.stretch * 2 + s.group) * k.p.size) + at;
	*to = k.within > 0 ? *to + sum : sum;
}

// Sums by mean and by variance of sixteen columns wait in a slot until the group adds up those of its warps: barriers are dear. There must be
// another one before the next sums come. where says where those by mean, or by variance, of a slot begin in a part, or is negative; by is what
// those by variance are multiplied by.
template <bool ONE, class Where>
DEVICE void flush_sums(const Crowd<ONE>& k, int count, float by, Where where) {
	int t = self() % 128;
	Seat s(self());
	Near tell = s.own(AT_TELL) + turned_lane(t % 32);
	bool variance = t & 16;
	if (!variance) by = 1;
	barrier_of_group();
#pragma unroll
	for (int i = 0; i < SLOTS; i += 4) {
		int slot = i + t / 32, to = where(slot, variance);
		if (slot < count && to >= 0) {
			float sum = tell[32 * slot];
#pragma unroll
			for (int j = 1; j < 4; j++) sum += tell[32 * (SLOTS * j + slot)];
			leave(k, s, to + t % 16, sum * by);
		}
	}
}
// put_sums fills a slot with the sums over rows of x, four columns by mean and then by variance.
DEVICE void put_sums(int t, int slot, float (&x)[8]) {
	float sum = turned(x, t);
	Seat(t).own(AT_TELL)[32 * (SLOTS * (t / 32 % 4) + slot) + t % 32] = sum;
}

// put_first puts the sums of sixteen columns of the first layer into slots: for the bias, whose input is one, and for each input. Shared
// memory has room for fewer inputs than there are slots.
template <bool ONE>
DEVICE void put_first(const Crowd<ONE>& k, const Entry& a, int slot, const float (&dm)[8], const float (&dv)[8], int col) {
	int in = a.in, t = self();
	Near x = a.inputs, y = x + GROUP_ROWS * in;
	const auto input = [&](int i, float (&sums)[8]) INLINED {
		float u[2] = {x[i], x[8 * in + i]}, q[2] = {u[0] * u[0], u[1] * u[1]};
		bool uncertain = k.uncertain();
		if (uncertain) q[0] += y[i], q[1] += y[8 * in + i];
#pragma unroll
		for (int j = 0; j < 4; j++) {
			int e = j / 2 * 4 + j % 2;
			sums[j] = fma(u[1], dm[e + 2], u[0] * dm[e]), sums[4 + j] = fma(q[1], dv[e + 2], q[0] * dv[e]);
		}
		if (!uncertain) return;
		Near w = a.columns + (AT_INPUTS + 2 * BROADEST * i + col);
		float by_var = 2 * k.bend(0)[BY_VAR], z[2] = {by_var * y[i], by_var * y[8 * in + i]};
#pragma unroll
		for (int j = 0; j < 4; j++) {
			int e = j / 2 * 4 + j % 2;
			sums[j] = fma(w[j / 2 * 8 + j % 2], fma(z[1], dv[e + 2], z[0] * dv[e]), sums[j]);
		}
	};
	float bias[8], sums[8]; // at once: each takes long
#pragma unroll
	for (int j = 0; j < 4; j++) {
		int e = j / 2 * 4 + j % 2;
		bias[j] = dm[e] + dm[e + 2], bias[4 + j] = dv[e] + dv[e + 2];
	}
	input(0, sums);
	put_sums(t, slot, bias), put_sums(t, slot + 1, sums);
#pragma unroll 1
	for (int i = 1; i < in; i++) {
		input(i, sums);
		put_sums(t, slot + 1 + i, sums);
	}
}
// flush_first adds up the sums of slots that were filled up to a column.
template <bool ONE>
DEVICE void flush_first(const Crowd<ONE>& k, int count, int end) {
	int each = k.inputs() + 1, first = end - count / each * 16;
	flush_sums(k, count, k.bend(0)[BY_VAR], [&](int slot, bool variance) INLINED {
		const Places& p = k.p.first;
		int i = slot % each, col = first + slot / each * 16;
		return col + (i == 0 ? variance ? p.bias_rho : p.bias : (variance ? p.rho : p.mean) + (i - 1) * k.thin().out);
	});
}
