// The end of a quartet, one row: the last dense layer, the layers behind it, the score, and
// the way back to the inputs of the last dense layer. A warp has a row and a lane a unit,
// so that nothing waits for other warps.
#pragma once
#include "quartet.h"
#include "conditional.h"
#include "likelihood.h"

constexpr int MOST_VALUES = 96;

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

// A Here is what a lane finds in shared memory of a unit: raw and b, and four numbers that
// it keeps for the way back.
struct Here {
	Near raw, b, kept;
};
DEVICE Here here(Near units, int i, int row) {
	Near p = units + i * UNIT_FLOATS;
	return {p, p + SHALLOW, p + 2 * SHALLOW + row * 4 * SHALLOW};
}
DEVICE void keep(Near kept, float a, float b, float c, float d) {
	int lane = thread() % 32;
	if (lane < SHALLOW) kept[lane] = a, kept[SHALLOW + lane] = b, kept[2 * SHALLOW + lane] = c, kept[3 * SHALLOW + lane] = d;
}

// prepare turns the raw numbers of scales and noises into those that are used. A warp does it.
DEVICE void prepare(const Quartet& c, const Floor& f) {
	Near all = on(f.thin) + 2 * (c.out + 1) * (c.last | 1);
	int lane = thread() % 32;
	for (int i = lane / SHALLOW; i < c.count; i += 2) {
		const Unit& u = c.units[i];
		if (lane % SHALLOW < c.last && u.raw && (u.kind == OP_SCALE || u.kind == OP_NOISE)) {
			Near raw = all + i * UNIT_FLOATS + lane % SHALLOW;
			*raw = softplus(*raw);
		}
	}
}

// A Score is that of a unit, until note writes that of its row.
struct Score {
	double e, var;
	bool live, low;
};
DEVICE void note(const Quartet& c, const Score& s, long long at, bool live) {
	double nll = warp_sum(s.live ? normal_nll(s.e, s.var) : 0.0);
	float floored = warp_sum(s.live && s.low ? 1.0f : 0.0f);
	if (thread() % 32 == 0 && live) c.nll[at] = nll, c.floored[at] = (int)floored;
}

// tail takes row number row of the block, of the batch at, through all of this. own are the
// columns of a block in the broad layer.
DEVICE Score tail(const Quartet& c, const Floor& f, const Control& k, int own, int rank, int row, long long at, bool live) {
	SHARED double photons_kept[EACH][3];
	SHARED float slopes[EACH][2][SHALLOW];
	int lane = thread() % 32, units = c.last, pitch = c.last | 1, place = lane < SHALLOW ? lane : 0;
	Near x = on(f.xm) + row * c.out, xv = on(f.xv) + row * c.out, y = on(f.y) + row * SHALLOW, thin = on(f.thin);
	Near w = thin, s = thin + c.out * pitch, b = s + c.out * pitch, bs = b + pitch, all = bs + pitch;
	bool mine = live && lane < units;
	float m = 0, v = 0;
	for (int o0 = 0; o0 < units; o0 += 4) {
		Sums t[4];
#pragma unroll
		for (int o = 0; o < 4; o++) t[o] = {0, 0, 0};
#pragma unroll 2
		for (int i = lane; i < c.out; i += 32) {
			float p = x[i], q = xv[i];
#pragma unroll
			for (int o = 0; o < 4; o++) {
				int e = i * pitch + less(o0 + o, units - 1);
				add<THROUGH>(t[o], p, q, w[e], s[e], fma(w[e], w[e], s[e]));
			}
		}
#pragma unroll
		for (int o = 0; o < 4; o++) {
			t[o].a = warp_sum(t[o].a), t[o].b = warp_sum(t[o].b);
			if (lane == o0 + o && lane < units) m = t[o].a + b[lane], v = t[o].b + bs[lane];
		}
	}
#pragma unroll 1
	for (int i = 0; i < c.count; i++) {
		const Unit& u = c.units[i];
		Here e = here(all, i, row);
		float raw = e.raw[place], plus = e.b[place];
		if (u.kind == OP_SCALE) {
			keep(e.kept, m, v, 0, 0);
			m = m / raw, v = v / (raw * raw);
		} else if (u.kind == OP_NOISE) {
			if (u.raw) v += raw * raw;
		} else if (u.kind == OP_MULTIPLY) {
			m = m * raw + plus, v = v * (raw * raw);
		} else if (u.kind == OP_CONDITIONAL) {
			keep(e.kept, m, v, 0, 0);
			photon(u, photons_kept[row], m, v);
		} else {
			Moments p = push_unit(u.f, m, v, units, u.f.rule == SAMPLES ? sub_key(k.seed, k.step, u.f.index) : Key{0, 0}, k.row + at);
			keep(e.kept, p.mm, p.mv, p.vm, p.vv);
			m = p.m, v = p.v;
		}
	}
	if (!c.back) {
		if (mine) out(c.om)[at * units + lane] = m, out(c.ov)[at * units + lane] = v;
		return {};
	}
	double var = v, e = mine ? (double)m - y[lane] : 0.0, scale = c.scale;
	bool low = var < c.p;
	if (low) var = c.p;
	double by = 1 / var, gv = 0.5 * by * (1 - e * e * by);
	float g = mine ? (float)(e * by * scale) : 0.0f, h = mine ? (float)((low && gv > 0 ? 0 : gv) * scale) : 0.0f;
	warp_ready();
#pragma unroll 1
	for (int i = c.count - 1; i >= 0; i--) {
		const Unit& u = c.units[i];
		Here z = here(all, i, row);
		float raw = z.raw[place], k0 = z.kept[place], k1 = z.kept[SHALLOW + place], k2 = z.kept[2 * SHALLOW + place], k3 = z.kept[3 * SHALLOW + place];
		if (u.kind == OP_SCALE) {
			float a = raw;
			if (mine) out(u.tape)[at * units + lane] = -(g * (k0 / a) + 2 * h * (k1 / (a * a))) / a;
			g = g / a, h = h / (a * a);
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
	}
	if (lane < units) slopes[row][0][lane] = g, slopes[row][1][lane] = h;
	if (mine) out(c.lg)[at * units + lane] = g, out(c.lh)[at * units + lane] = h;
	warp_ready();
	for (int i = lane; i < c.out; i += 32) {
		Sums t = {0, 0, 0};
#pragma unroll 1
		for (int o = 0; o < units; o++) {
			float p = w[i * pitch + o], q = s[i * pitch + o];
			add<BACK>(t, slopes[row][0][o], slopes[row][1][o], p, q, fma(p, p, q));
		}
		int to = i / own;
		Peer there = on(f.g, to);
		put(there, (EACH * rank + row) * own + i - to * own, live ? fma(2 * x[i], t.b, t.a) : 0.0f);
		put(there, (ROWS8 + EACH * rank + row) * own + i - to * own, live ? t.c : 0.0f);
	}
	return {e, var, mine, low};
}
