// What a block of a crowd's pass starts with, and how rows come into shared memory.
#pragma once
#include "crowd_rows.h"

// The inputs and targets of rows are on their way while those before are computed: ask_rows asks for their numbers in the table,
// fetch_rows for themselves, where the rows before are not. A thread has a row; rows behind the last one are zeros.
template <bool ONE>
DEVICE void ask_rows(const Crowd<ONE>& k) {
	const Chain& c = k.p.chain;
	int t = self() % 128;
	Seat s(self());
	bool in = t < s.count(k);
	if (t < GROUP_ROWS && c.index) copy4((float*)(s.own(AT_ASKED) + t), (const float*)(c.index + (in ? (long long)k.state(STATE_SLOT) * c.room + s.first(k) + t : 0)), in);
	copies_end();
}
template <bool ONE>
DEVICE void fetch_rows(const Crowd<ONE>& k) {
	const Chain& c = k.p.chain;
	int t = self() % 128, in = k.inputs();
	Seat s(self());
	copies_wait<0>();
	if (t < GROUP_ROWS) {
		bool live = t < s.count(k);
		long long row = !live ? 0 : c.index ? (long long)bits(s.own(AT_ASKED)[t]) : (long long)k.state(STATE_SLOT) * c.room + s.first(k) + t;
		float* to = (float*)(s.inputs(k) + t * in);
#pragma unroll 1
		for (int i = 0; i < in; i++) {
			copy4(to + i, c.tm + (row * in + i), live);
			if (k.uncertain()) copy4(to + GROUP_ROWS * in + i, c.tv + (row * in + i), live);
		}
		copy4((float*)(s.targets(k.parity) + t), c.ty + row, live);
	}
	copies_end();
}

// A Thin is what a thread reads of the thin layers, all at once: of a column a weight of the first input, the biases and a weight of
// the last layer, or their spreads; then what the last layer has once.
struct Thin {
	float input, first, broad, last, other, end;
};
DEVICE Thin read_thin(const Chain& c) {
	const Link &thin = c.links[0], &broad = c.links[1], &last = c.links[2];
	int t = thread() % 128, spread = thread() / 128;
	Far input = Far(spread ? thin.s : thin.w), first = Far(spread ? thin.bs : thin.b), bias = Far(spread ? broad.bs : broad.b), w = Far(spread ? last.s : last.w), other = Far(last.s);
	Thin o = {};
	if (t < thin.out) o.input = input[t], o.first = first[t];
	if (t < broad.out) o.broad = bias[t], o.last = w[t], o.other = other[t];
	if (thread() < 3 && (thread() < 2 || c.raw)) o.end = Far(thread() == 0 ? last.b : thread() == 1 ? last.bs : c.raw)[0];
	return o;
}
// start writes the thin layers to shared memory, and finds the largest of the weights of each input, and of the biases.
DEVICE void start(const Chain& c, const Thin& o) {
	const Link& thin = c.links[0];
	int t = thread() % 128, spread = thread() / 128, lane = thread() % 32, warp = thread() / 32, in = thin.in;
	Near bends = place(AT_BENDS), bounds = place(AT_BOUNDS), to = place(spread * BROADEST + t);
	constexpr float TINY = 1e-30f; // variances have inverses
	float by = spread ? bends[WIDEN] : 1.0f, least = spread ? TINY : 0.0f;
	to[AT_INPUTS] = o.input * by, to[AT_FIRST] = fma(o.first, by, least), to[AT_BROAD] = fma(o.broad, spread ? bends[BEND + WIDEN] : 1.0f, least), to[AT_LAST] = o.last;
	if (!spread) to[AT_LAST + 2 * BROADEST] = bends[BEND + SPREAD] * fma(o.last, o.last, o.other);
	if (thread() < 3) {
		float a = thread() == 2 && c.raw ? softplus(o.end) : 0.0f;
		place(AT_END)[thread()] = thread() == 2 ? a * a : o.end;
	}
#pragma unroll 1
	for (int i = 1; i < in; i++) to[AT_INPUTS + 2 * i * BROADEST] = t < thin.out ? (spread ? thin.s : thin.w)[i * thin.out + t] * by : 0.0f;
	barrier();
#pragma unroll 1
	for (int i = 0; i < 2 * in + 2; i += CROWD_THREADS / 32) { // as often for all warps
		int j = i + warp;
		uint32 most = 0;
		if (j < 2 * in + 2) {
			Near from = place(j / 2 < in ? AT_INPUTS : AT_FIRST - 2 * in * BROADEST) + j * BROADEST;
#pragma unroll
			for (int e = 0; e < 4; e++) {
				uint32 x = bits(from[lane + 32 * e]) & 0x7fffffff;
				most = x > most ? x : most;
			}
		}
		most = all_most(most);
		if (lane == 0 && j < 2 * in + 2) bounds[j] = from_bits(most);
	}
}
