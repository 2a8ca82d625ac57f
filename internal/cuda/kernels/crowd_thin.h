// The gradients of a crowd's thin layers, summed up while the rows go back. A group of four warps leaves a part for
// its rows of a stretch; parts are added up in their order later.
#pragma once
#include "crowd_rows.h"

#ifndef EMULATED
// chosen is yes ? x : y. The compiler would choose an address instead, and keep the numbers in memory.
DEVICE float chosen(bool yes, float x, float y) {
	float z;
	asm("{.reg .pred p; setp.ne.b32 p, %3, 0; selp.f32 %0, %1, %2, p;}" : "=f"(z) : "f"(x), "f"(y), "r"((int)yes));
	return z;
}
#else
DEVICE float chosen(bool yes, float x, float y) { return yes ? x : y; }
#endif

// turned adds up eight numbers over the eight rows that a warp's threads have of a column: a thread gets one sum, that of number
// turned_number.
template <int N>
DEVICE void turn_rows(float (&x)[8], int lane) {
	bool up = lane & 4 * N;
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
DEVICE int turned_number(int lane) { return lane / 16 * 4 + lane / 8 % 2 * 2 + lane / 4 % 2; }

// leave adds a sum to those of the group's part.
DEVICE void leave(const Crowd& k, const Seat& s, int at, float sum) {
	Out to = out(k.p.grad + (k.stretch * 2 + s.group) * k.p.size) + at;
	*to = k.within > 0 ? *to + sum : sum;
}

// Sums by mean and by variance of sixteen columns wait in a slot until the group adds up those of its warps: barriers are dear. There must be
// another one before the next sums come.
DEVICE void flush_sums(const Crowd& k, int count) {
	int t = self() % 128;
	Seat s(self());
	Near tell = s.own(AT_TELL), slots = s.own(AT_SLOTS);
	barrier_of_group();
#pragma unroll
	for (int i = 0; i < SLOTS; i += 4) {
		int slot = i + t / 32, to = (int)bits(slots[2 * slot + t / 16 % 2]);
		if (slot < count && to >= 0) {
			float sum = tell[32 * slot + t % 32];
#pragma unroll
			for (int j = 1; j < 4; j++) sum += tell[32 * (SLOTS * j + slot) + t % 32];
			leave(k, s, to + t % 16, sum);
		}
	}
}
// put_sums fills a slot with the sums over rows of x, four columns by mean and then by variance, of which those by variance are multiplied by
// by_var. They belong from at_mean and at_var on, or nowhere, if these are negative.
DEVICE void put_sums(const Crowd& k, int t, int slot, float (&x)[8], float by_var, int at_mean, int at_var) {
	int lane = t % 32, n = turned_number(lane);
	float sum = turned(x, lane);
	Seat s(t);
	s.own(AT_TELL + 32 * (SLOTS * (t / 32 % 4) + slot))[n / 2 * 8 + lane % 4 * 2 + n % 2] = n < 4 ? sum : sum * by_var;
	Near where = s.own(AT_SLOTS + 2 * slot);
	where[0] = from_bits((uint32)at_mean), where[1] = from_bits((uint32)at_var); // all write the same
}

// put_first puts the sums of sixteen columns of the first layer into slots: for the bias, whose input is one, and for each input. Shared
// memory has room for fewer inputs than there are slots.
DEVICE void put_first(const Crowd& k, const Entry& a, int slot, const float (&dm)[8], const float (&dv)[8], int col) {
	const Places& p = k.p.first;
	int in = a.in, t = self();
	float by_var = k.bend(0)[BY_VAR];
	Near x = a.inputs, y = x + GROUP_ROWS * in;
	const auto input = [&](int i, float (&sums)[8]) INLINED {
		float u[2] = {x[i], x[8 * in + i]}, q[2] = {u[0] * u[0], u[1] * u[1]};
		bool uncertain = !a.plain && k.uncertain();
		if (uncertain) q[0] += y[i], q[1] += y[8 * in + i];
#pragma unroll
		for (int j = 0; j < 4; j++) {
			int e = j / 2 * 4 + j % 2;
			sums[j] = fma(u[1], dm[e + 2], u[0] * dm[e]), sums[4 + j] = fma(q[1], dv[e + 2], q[0] * dv[e]);
		}
		if (!uncertain) return;
		Near w = a.columns + (AT_INPUTS + 2 * BROADEST * i + col);
		float z[2] = {2 * by_var * y[i], 2 * by_var * y[8 * in + i]};
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
	put_sums(k, t, slot, bias, by_var, p.bias + col, p.bias_rho + col), put_sums(k, t, slot + 1, sums, by_var, p.mean + col, p.rho + col);
#pragma unroll 1
	for (int i = 1; i < in; i++) {
		int at = i * k.thin().out + col;
		input(i, sums);
		put_sums(k, t, slot + 1 + i, sums, by_var, p.mean + at, p.rho + at);
	}
}
