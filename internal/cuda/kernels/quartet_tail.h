// The end of a quartet: the last dense layer, the layers behind it, the score, and the way
// back. The last layer is the work of the threads that have its inputs. Behind it, a warp has
// a row and a lane a unit, so that nothing waits for other warps.
#pragma once
#include "quartet.h"
#include "conditional.h"
#include "likelihood.h"

constexpr int MOST_VALUES = 96;

// scored is where the warps of the rows and the one that writes their scores meet, when the
// scores are there.
#ifndef EMULATED
DEVICE void scored() { asm volatile("barrier.cta.sync 1, %0;" ::"n"(32 * (EACH + 1)) : "memory"); }
#else
DEVICE void scored() { // all of them leave in the same turn
	static int here, gone;
	here++;
	do barrier();
	while (here < 32 * (EACH + 1));
	if (++gone == 32 * (EACH + 1)) here = gone = 0;
}
#endif

// unit_points is by_points, where lanes share the points: each evaluates one at a time.
DEVICE Moments unit_points(const Func& f, float m, float v, int units) {
	SHARED Value values[EACH][MOST_VALUES];
	int lane = thread() % 32, n = f.points;
	Value* mine = values[thread() / 32];
	const float *xi = n == 3 ? f.three : f.nodes, *w = xi + n;
	float s = root(v);
	for (int first = 0; first < n * units; first += 32) {
		int e = first + lane, p = e / units, from = e - p * units;
		float m0 = lane_value(m, from), s0 = lane_value(s, from);
		if (e < n * units) mine[e] = evaluate(f.op, f.a, m0 + xi[p] * s0);
	}
	warp_ready();
	Moments o = {};
	if (lane < units) o = combine_points(f, m, v, s, n, xi, w, [&](int p) { return mine[p * units + lane]; });
	warp_ready();
	return o;
}

// push_unit is push, for all lanes of a warp.
DEVICE Moments push_unit(const Func& f, float m, float v, int units, Key key, uint64 row) {
	if (f.rule == BY_POINTS && f.points * units <= MOST_VALUES) return unit_points(f, m, v, units);
	Moments o = {};
	if (thread() % 32 < units) o = push(f, m, v, key, row, thread() % 32);
	return o;
}

// photon is the photon count of a row at the means; kept is what the way back needs.
DEVICE void photon(const Unit& u, double* kept, float& m, float& v) {
	int lane = thread() % 32;
	Photons p = photons_shared(u.n, lane_value(m, u.at[0]), lane_value(m, u.at[1]), lane_value(m, u.at[2]), true);
	double f = lane_value(p.f, 0), c = lane_value(p.root, 0);
	if (lane == 0) kept[0] = c, kept[1] = p.n[0], kept[2] = p.n[1];
	if (lane == u.at[0]) m = (float)f, v = (float)(c * c * v);
}
DEVICE void photon_back(const Unit& u, const double* kept, float m, float v, float& g, float& h) {
	int lane = thread() % 32;
	double dg = lane_value(g, u.at[0]), dh = lane_value(h, u.at[0]), t = lane_value(m, u.at[0]), var = lane_value(v, u.at[0]);
	double c = kept[0], by = dg + (dg * t + 2 * c * var * dh) / (2 * c);
	if (lane == u.at[0]) g = (float)(c * dg), h = (float)(c * c * dh);
	if (lane == u.at[1]) g += (float)(by * kept[1]);
	if (lane == u.at[2]) g += (float)(by * kept[2]);
}

// fold8 adds up eight numbers over groups of so many lanes, at least eight; a lane has the sum
// of number lane % 8 in x[0].
template <int M>
DEVICE void halve8(float (&x)[8]) {
	bool upper = thread() & M;
#pragma unroll
	for (int i = 0; i < M; i++) x[i] = (upper ? x[i + M] : x[i]) + swap(upper ? x[i] : x[i + M], M);
}
DEVICE void fold8(float (&x)[8], int lanes) {
	halve8<4>(x), halve8<2>(x), halve8<1>(x);
	if (lanes > 8) x[0] += swap(x[0], 8);
	if (lanes > 16) x[0] += swap(x[0], 16);
}

// leave takes an element of the last layer's inputs to the outputs and leaves the sums of a
// quarter of the columns with the block that has the row.
DEVICE void leave(const Quartet& c, const Floor& f, float m, float v, int rank, int row, int col, bool live) {
	int quarter = c.out / QUARTERS, units = c.last, pitch = c.last | 1, place = col & (quarter - 1);
	Near w = on(f.thin) + col * pitch, s = w + f.own * pitch;
	for (int o0 = 0; o0 < units; o0 += 4) {
		float x[8] = {};
		if (live)
#pragma unroll
			for (int o = 0; o < 4; o++) {
				int e = less(o0 + o, units - 1);
				Sums t = {0, 0, 0};
				add<THROUGH>(t, m, v, w[e], s[e], fma(w[e], w[e], s[e]));
				x[o] = t.a, x[4 + o] = t.b;
			}
		fold8(x, quarter);
		int o = o0 + place % 4, at = (rank * f.own + col) / quarter;
		if (live && place < 8 && o < units) put(on(f.sums, row / EACH), ((at * EACH + row % EACH) * 2 + place / 4) * units + o, x[0]);
	}
}

// before_last has the sums of the gradients by an input of the last layer.
DEVICE Sums before_last(const Quartet& c, const Floor& f, int row, int col) {
	int units = c.last, pitch = c.last | 1;
	Near w = on(f.thin) + col * pitch, s = w + f.own * pitch, g = on(f.back) + 2 * row * units, h = g + units;
	Sums t = {0, 0, 0};
#pragma unroll 1
	for (int o = 0; o < units; o++) add<BACK>(t, g[o], h[o], w[o], s[o], fma(w[o], w[o], s[o]));
	return t;
}

// A Here is what a lane finds in shared memory of a unit: raw and b, and four numbers that
// it keeps for the way back.
struct Here {
	Near raw, b, kept;
};
DEVICE Here here(Near units, int last, int i, int row) {
	Near p = units + i * UNIT_NUMBERS * last;
	return {p, p + last, p + (2 + 4 * row) * last};
}
DEVICE void keep(Near kept, int last, float a, float b, float c, float d) {
	int lane = thread() % 32;
	if (lane < last) kept[lane] = a, kept[last + lane] = b, kept[2 * last + lane] = c, kept[3 * last + lane] = d;
}

// prepare turns the raw numbers of scales and noises into those that are used: one over a
// scale. A warp does it.
DEVICE void prepare(const Quartet& c, const Floor& f) {
	int lane = thread() % 32;
	for (int i = lane / SHALLOW; i < c.count; i += 2) {
		const Unit& u = c.units[i];
		if (lane % SHALLOW < c.last && u.raw && (u.kind == OP_SCALE || u.kind == OP_NOISE)) {
			Near raw = on(f.units) + i * UNIT_NUMBERS * c.last + lane % SHALLOW;
			float x = softplus(*raw);
			*raw = u.kind == OP_SCALE ? 1 / x : x;
		}
	}
}

// A Score is that of a unit. note writes those of rows, while the tail goes back: a warp of its
// own has that time.
struct Score {
	double e, var;
	int low;
};
DEVICE void note(const Quartet& c, const Score (*scores)[SHALLOW], long long r0, int n) {
	int lane = thread() % 32;
	scored();
	for (int row = 0; row < EACH; row++) {
		const Score& s = scores[row][lane % SHALLOW];
		bool mine = row < n && lane < c.last;
		double nll = warp_sum(mine ? normal_nll(s.e, s.var) : 0.0);
		float floored = warp_sum(mine && s.low ? 1.0f : 0.0f);
		if (lane == 0 && row < n) c.nll[r0 + row] = nll, c.floored[r0 + row] = (int)floored;
	}
}

// tail takes row number row of the block, of the batch at, from the sums of the last layer to
// the gradients by its outputs.
DEVICE void tail(const Quartet& c, const Floor& f, const Control& k, Score (*scores)[SHALLOW], int rank, int row, long long at, bool live) {
	SHARED double photons_kept[EACH][3];
	int lane = thread() % 32, units = c.last, place = lane < units ? lane : 0;
	Near y = on(f.y) + row * SHALLOW, all = on(f.units), bias = on(f.thin) + 2 * f.own * (c.last | 1), sums = on(f.sums) + 2 * row * units + place;
	bool mine = live && lane < units;
	float m = 0, v = 0;
#pragma unroll
	for (int i = 0; i < QUARTERS; i++, sums += 2 * EACH * units) m += sums[0], v += sums[units];
	m += bias[place], v += bias[(c.last | 1) + place];
	STAMP(16);
#pragma unroll 1
	for (int i = 0; i < c.count; i++) {
		const Unit& u = c.units[i];
		Here e = here(all, units, i, row);
		float raw = e.raw[place], plus = e.b[place];
		if (u.kind == OP_SCALE) {
			keep(e.kept, units, m, v, 0, 0);
			m = m * raw, v = v * (raw * raw);
		} else if (u.kind == OP_NOISE) {
			if (u.raw) v += raw * raw;
		} else if (u.kind == OP_MULTIPLY) {
			m = m * raw + plus, v = v * (raw * raw);
		} else if (u.kind == OP_CONDITIONAL) {
			keep(e.kept, units, m, v, 0, 0);
			photon(u, photons_kept[row], m, v);
		} else {
			Moments p = push_unit(u.f, m, v, units, u.f.rule == SAMPLES ? sub_key(k.seed, k.step, u.f.index) : Key{0, 0}, k.row + at);
			keep(e.kept, units, p.mm, p.mv, p.vm, p.vv);
			m = p.m, v = p.v;
		}
		STAMP(17 + i);
	}
	if (!c.back) {
		if (mine) out(c.om)[at * units + lane] = m, out(c.ov)[at * units + lane] = v;
		return;
	}
	double var = v, e = mine ? (double)m - y[lane] : 0.0, scale = c.scale;
	bool low = var < c.p;
	if (low) var = c.p;
	if (mine) scores[row][lane] = {e, var, low};
	scored();
	double by = 1 / var, gv = 0.5 * by * (1 - e * e * by);
	float g = mine ? (float)(e * by * scale) : 0.0f, h = mine ? (float)((low && gv > 0 ? 0 : gv) * scale) : 0.0f;
	warp_ready();
	STAMP(23);
#pragma unroll 1
	for (int i = c.count - 1; i >= 0; i--) {
		const Unit& u = c.units[i];
		Here z = here(all, units, i, row);
		float raw = z.raw[place], k0 = z.kept[place], k1 = z.kept[units + place], k2 = z.kept[2 * units + place], k3 = z.kept[3 * units + place];
		if (u.kind == OP_SCALE) {
			float r2 = raw * raw;
			if (mine) out(u.tape)[at * units + lane] = -(g * (k0 * raw) + 2 * h * (k1 * r2)) * raw;
			g = g * raw, h = h * r2;
		} else if (u.kind == OP_NOISE) {
			if (mine && u.tape) out(u.tape)[at * units + lane] = h;
		} else if (u.kind == OP_MULTIPLY) {
			g = g * raw, h = h * (raw * raw);
		} else if (u.kind == OP_CONDITIONAL) {
			photon_back(u, photons_kept[row], k0, k1, g, h);
		} else {
			float d = g * k0 + h * k2;
			h = g * k1 + h * k3, g = d;
		}
		STAMP(24 + i);
	}
	if (mine) out(c.lg)[at * units + lane] = g, out(c.lh)[at * units + lane] = h;
#pragma unroll 1
	for (int b = 0; b < f.team; b++) {
		Peer there = on(f.back, b);
		int to = 2 * (EACH * rank + row) * units + lane;
		if (lane < units) put(there, to, g), put(there, to + units, h);
	}
}
