// Both ends of a crowd's network: the first layer, and the last one with the score.
#pragma once
#include "crowd_thin.h"

// first_layer computes sixteen columns of the first layer before its function: of each eight, two of row
// g, then of row g + 8; the variances times x².
template <bool ONE>
DEVICE void first_layer(const Crowd<ONE>& k, const Entry& a, int col, float (&m)[8], float (&v)[8]) {
	int in = a.in;
	Near b = a.columns + (AT_FIRST + col), w = a.columns + (AT_INPUTS + col), x = a.inputs;
	auto input = [&](Near w, float u0, float u1, bool first) INLINED {
		const float u[2] = {u0, u1}, u2[2] = {u0 * u0, u1 * u1};
#pragma unroll
		for (int j = 0; j < 2; j++) {
			Two32 p = load2(w + 8 * j), q = load2(w + BROADEST + 8 * j), c = {}, d = {};
			if (first) c = load2(b + 8 * j), d = load2(b + BROADEST + 8 * j);
#pragma unroll
			for (int e = 0; e < 4; e++) m[4 * j + e] = fma(u[e / 2], p.x[e % 2], first ? c.x[e % 2] : m[4 * j + e]), v[4 * j + e] = fma(u2[e / 2], q.x[e % 2], first ? d.x[e % 2] : v[4 * j + e]);
		}
	};
	input(w, x[0], x[8 * in], true);
#pragma unroll 1
	for (int i = 1; i < in; i++) input(w + 2 * BROADEST * i, x[i], x[8 * in + i], false);
	if (!k.uncertain()) return;
	float stretch = k.bend(0)[WIDEN];
	x += GROUP_ROWS * in;
#pragma unroll 1
	for (int i = 0; i < in; i++, w += 2 * BROADEST) {
		float z[2] = {x[i], x[8 * in + i]};
#pragma unroll
		for (int j = 0; j < 2; j++) {
			Two32 p = load2(w + 8 * j), q = load2(w + BROADEST + 8 * j);
#pragma unroll
			for (int e = 0; e < 4; e++) v[4 * j + e] = fma(z[e / 2], fma(p.x[e % 2] * stretch, p.x[e % 2], q.x[e % 2]), v[4 * j + e]);
		}
	}
}

// A Sizing is what the signals of a group behind the first layer are multiplied by, and what sums of their products are. The
// squares of means and the variances share sums, so these have one scale.
struct Sizing {
	float mean, again, var, by_mean, by_var; // a square is (m·mean)·(m·again)
};
template <bool ONE>
DEVICE Sizing size_rows(const Crowd<ONE>& k) {
	const Seat seat(self());
	int in = k.inputs();
	Near b = place(AT_BOUNDS), f = k.bend(0);
	float stretch = f[WIDEN], mean = 0, var = 0;
	constexpr int ROWS = ONE ? 2 : 1; // at a time
#pragma unroll ROWS
	for (int r = 0; r < 16; r += 8) {
		Near x = seat.inputs(k) + (seat.row + r) * in, y = x + GROUP_ROWS * in;
		float m = b[2 * in], v = b[2 * in + 1];
#pragma unroll 1
		for (int i = 0; i < in; i++) {
			float u = size(x[i]), w = b[2 * i], s = b[2 * i + 1];
			m = fma(u, w, m), v = fma(u * u, s, v);
			if (k.uncertain()) v = fma(y[i], fma(w * stretch, w, s), v);
		}
		mean = upper(mean, m), var = upper(var, v);
	}
	float most = upper(1.0f, size(f[SLOPE])); // the function stretches no more than that
	var *= tiny_inverse(stretch);
	uint32 p = bits(most * (mean + tiny_root(var))), q = bits(most * most * var);
	tell_most(0, p, q);
	barrier_of_group();
	find_most(0, p, q);
	int a = exponent(p), c = exponent(q), ew = k.state(STATE_W), es = k.state(STATE_S), ep = k.state(STATE_P);
	int square = 2 * a - 15 + es, other = c + ep, both = square < other ? square : other;
	if (self() % 128 == 0) {
		Out to = out(k.p.scales + (k.unit() * 2 + seat.group) * SIGNALS);
		to[0] = power(-a), to[1] = power(ep - both);
	}
	// Tensor cores cut sums towards zero: of a sum that grows evenly they lose so much on average, with as many products.
	constexpr float LOST_MEAN = 1 + 3.5f / (1 << 23), LOST_VAR = 1 + 7.0f / (1 << 23);
	return {power(a), power(both - es - a), power(both - ep) * f[SPREAD], power(-a - ew) * LOST_MEAN, power(-both) * k.bend(1)[WIDEN] * LOST_VAR};
}

// A Gradient is that of a score by mean and variance of the network's output, for both rows of a thread: by variance half of twice,
// by mean twice·ratio.
struct Gradient {
	float twice[2], ratio[2];
};

// finish is the last layer, which has one output, the noise and the score. Distances take the place of the variances v.
template <bool EXACT, bool ONE>
DEVICE Gradient finish(const Crowd<ONE>& k, const Sizing& z, float (&m)[64], float (&v)[64]) {
	const Chain& c = k.p.chain;
	float mean[2] = {0, 0}, var[2] = {0, 0};
	{
		const Seat seat(self());
		const Bend<EXACT> f(k.bend(1));
		Near b = place(AT_BROAD) + seat.col;
		float xs[16] = {}, ys[16] = {};
		const auto give = [&](int at) INLINED {
#pragma unroll
			for (int i = 0; i < 16; i++) m[at + i] = xs[i], v[at + i] = ys[i];
		};
#pragma unroll 1
		for (int first = 0; first < 64; first += 16) {
			Two32 bias[4], spread[4];
#pragma unroll
			for (int j = 0; j < 4; j++) bias[j] = load2(b + 8 * j), spread[j] = load2(b + BROADEST + 8 * j);
			with_part<16>(first, [&](int at) INLINED {
				if (at > 0) give(at - 16);
#pragma unroll
				for (int i = 0; i < 16; i++) xs[i] = fma(m[at + i], z.by_mean, bias[i / 4].x[i % 2]), ys[i] = fma(v[at + i], z.by_var, spread[i / 4].x[i % 2]);
			});
#pragma unroll
			for (int j = 0; j < 4; j++) {
				Two32 u = load2(b + AT_LAST + 8 * j), e = load2(b + AT_LAST + BROADEST + 8 * j), both = load2(b + AT_LAST + 2 * BROADEST + 8 * j);
#pragma unroll
				for (int i = 0; i < 2; i++) {
#pragma unroll
					for (int r = 0; r < 2; r++) {
						float &y = ys[4 * j + 2 * r + i], p, q;
						y = f.distance(y);
						f.ahead(xs[4 * j + 2 * r + i], y, p, q);
						mean[r] = fma(p, u.x[i], mean[r]), var[r] = fma(p * p, e.x[i], fma(q, both.x[i], var[r]));
					}
				}
			}
			b += 32;
		}
		give(48);
	}
#pragma unroll
	for (int r = 0; r < 2; r++)
#pragma unroll
		for (int i = 1; i < 4; i *= 2) mean[r] += swap(mean[r], i), var[r] += swap(var[r], i);
	// Even lanes have row g, odd ones row g + 8.
	const Seat seat(self());
	int lane = self() % 32, odd = lane % 2, row = seat.row + 8 * odd, r0 = seat.first(k);
	bool live = row < seat.count(k);
	Near end = place(AT_END);
	double e = (double)((odd ? mean[1] : mean[0]) + end[0]) - seat.targets(k.parity)[row], V = (odd ? var[1] : var[0]) + end[1] + end[2];
	bool low = V < c.p;
	if (low) V = c.p;
	double by = 1 / V, gv = 0.5 * by * (1 - e * e * by);
	float gm = live ? (float)(e * by * c.scale) : 0.0f, h = live ? (float)((low && gv > 0 ? 0 : gv) * c.scale) : 0.0f;
	if (live && lane % 4 < 2) {
		if (c.tape) out(c.tape)[r0 + row] = h;
		c.floored[r0 + row] = low;
		score_place(seat)[2 * row] = e, score_place(seat)[2 * row + 1] = V;
	}
	// Where the gradient by variance vanishes, a tiny one takes its place, so that there is a ratio.
	float twice = h == 0 ? gm * 1e-20f : 2 * h, ratio = twice == 0 ? 0.0f : gm / twice;
	int of = lane / 4 * 4;
	return {{lane_value(twice, of), lane_value(twice, of + 1)}, {lane_value(ratio, of), lane_value(ratio, of + 1)}};
}

// turn_back takes the gradients to the outputs of the broad layer before its function, where they are to be multiplied by g.twice, and
// those by variances also by BY_VAR, and leaves those of the last layer. Most are the largest of them.
template <bool EXACT, bool ONE>
DEVICE void turn_back(const Crowd<ONE>& k, const Gradient& g, float (&m)[64], float (&v)[64], uint32 (&most)[2]) {
	float top[4] = {0, 0, 0, 0};
	{ // the bias of the last layer
		float a = fma(g.twice[0], g.ratio[0], g.twice[1] * g.ratio[1]), b = 0.5f * (g.twice[0] + g.twice[1]);
#pragma unroll
		for (int i = 4; i < 32; i *= 2) a += swap(a, i), b += swap(b, i);
		int t = self();
		Near to = Seat(t).own(AT_MOST + 16 + t / 32 % 4 * 2);
		if (t % 32 == 0) to[0] = a, to[1] = b;
	}
	float xs[16] = {}, ys[16] = {};
	const auto give = [&](int at) INLINED {
#pragma unroll
		for (int i = 0; i < 16; i++) m[at + i] = xs[i], v[at + i] = ys[i];
	};
#pragma unroll 1
	for (int first = 0; first < 64; first += 16) {
		with_part<16>(first, [&](int at) INLINED {
			if (at > 0) give(at - 16);
#pragma unroll
			for (int i = 0; i < 16; i++) xs[i] = m[at + i], ys[i] = v[at + i];
		});
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int t = self(), col = 2 * first + 16 * half;
			const Bend<EXACT> f(k.bend(1));
			Near w = place(AT_LAST) + Seat(t).col + col;
			float sums[8], spread = k.bend(1)[SPREAD];
#pragma unroll
			for (int j = 0; j < 2; j++) {
				Two32 u = load2(w + 8 * j), e = load2(w + BROADEST + 8 * j), both = load2(w + 2 * BROADEST + 8 * j);
#pragma unroll
				for (int i = 0; i < 2; i++) {
					float om[2], ov[2], by_m[2];
#pragma unroll
					for (int r = 0; r < 2; r++) {
						float &x = xs[8 * half + 4 * j + 2 * r + i], &y = ys[8 * half + 4 * j + 2 * r + i];
						f.back(x, y, tiny_inverse(y), g.ratio[r] * u.x[i], e.x[i], both.x[i], x, y, om[r], ov[r]);
						top[r] = upper(top[r], size(x)), top[2 + r] = upper(top[2 + r], size(y));
						by_m[r] = g.twice[r] * om[r];
					}
					float all = spread * fma(g.twice[1], ov[1], g.twice[0] * ov[0]);
					sums[2 * j + i] = fma(g.ratio[1], by_m[1], fma(g.ratio[0], by_m[0], all * u.x[i]));
					sums[4 + 2 * j + i] = fma(om[1], by_m[1], fma(om[0], by_m[0], all));
				}
			}
			put_sums(t, col / 16, sums);
		}
	}
	give(48);
	most[0] = bits(upper(top[0] * size(g.twice[0]), top[1] * size(g.twice[1]))), most[1] = bits(k.bend(1)[BY_VAR] * upper(top[2] * size(g.twice[0]), top[3] * size(g.twice[1])));
	tell_most(1, most[0], most[1]);
	flush_sums(k, SLOTS, 0.5f, [&](int slot, bool variance) INLINED { return slot * 16 < k.last().in ? (variance ? k.p.last.rho : k.p.last.mean) + slot * 16 : -1; });
	int t = self() % 128;
	const Seat seat(self());
	Near from = seat.own(AT_MOST + 16 + t % 2);
	if (t < 2) leave(k, seat, t ? k.p.last.bias_rho : k.p.last.bias, from[0] + from[2] + from[4] + from[6]);
	find_most(1, most[0], most[1]);
}
