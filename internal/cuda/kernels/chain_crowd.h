// A chain with one broad layer where many networks run side by side: forward, score and
// backward, 32 rows at a time. What a network needs to end early, many threads for few
// rows, costs instructions: every warp splits weights for eight rows only. Here four warps
// multiply split weights with 32 rows, and rows are split once, when they are written. Each
// element has the order of sums that it has in product, so its bits are the same.
#pragma once
#include "chain_links.h"
#include "crowd_product.h"

// A Crowd is a block's view of its chain: the three links, and where signals lie.
struct Crowd {
	const Chain& c;
	const Link &thin, &broad, &last;
	Near x, y, planes; // inputs and their variances; targets; signals
};

// function_of copies what pass needs of a link: stores might change it where it is.
DEVICE Link function_of(const Link& l) {
	Link o;
	o.a = l.a;
#pragma unroll
	for (int i = 0; i < 6; i++) o.three[i] = l.three[i];
	return o;
}

// first_layer computes a column of the first layer before its function: of two rows, or of the rows that store gets.
template <int ROWS>
DEVICE void first_layer(const Crowd& k, int row, int col, Sums (&t)[ROWS]) {
	const Link& l = k.thin;
	int in = l.in, pitch = l.pitch;
	Near w = here(l.at_w) + col, s = here(l.at_s) + col, x = k.x + row * in, y = x + CROWD * in;
	float b = here(l.at_b)[col], bs = here(l.at_bs)[col];
#pragma unroll
	for (int i = 0; i < ROWS; i++) t[i] = {0, 0, 0};
#pragma unroll 1
	for (int j = in; j > 0; j--) {
		float u = *w, e = *s, both = fma(u, u, e);
#pragma unroll
		for (int i = 0; i < ROWS; i++) {
			int far = (i % 2 + i / 2 * 8) * in;
			add<THROUGH>(t[i], x[far], y[far], u, e, both);
		}
		w += pitch, s += pitch, x++, y++;
	}
#pragma unroll
	for (int i = 0; i < ROWS; i++) t[i].a += b, t[i].b += bs;
}

// crowd_in takes rows through the first layer. A warp has two rows, a thread two columns at a time.
template <bool EXACT>
DEVICE void crowd_in(const Crowd& k, int r0, int n) {
	const Link f = function_of(k.thin);
	int row = thread() / 32 * 2, width = k.thin.out, col = thread() % 32 * 2;
	bool first = row < n, second = row + 1 < n;
	if (!first) return;
	long long far = (long long)(r0 + row) * width + col;
	auto far_m = out(k.broad.m) + far, far_v = out(k.broad.v) + far;
	Near to = k.planes + place_of<THROUGH>(row, col);
#pragma unroll 1
	for (; col < width; col += 64) {
		Moments o[2][2];
#pragma unroll
		for (int j = 0; j < 2; j++) {
			Sums t[2];
			first_layer(k, row, col + j, t);
			o[0][j] = pass<EXACT>(f, t[0].a, t[0].b), o[1][j] = pass<EXACT>(f, t[1].a, t[1].b);
		}
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float m = o[i / 2][i % 2].m, v = o[i / 2][i % 2].v;
			Near p = to + i / 2 * 4 + i % 2 * HALF;
			p[MEANS] = m, p[MEANS_LEFT] = left_of(m), p[VARIANCES] = v, p[VARIANCES_LEFT] = left_of(v);
			if (col < BROADEST / 2) p[SQUARES] = m * m, p[SQUARES_LEFT] = left_of(m * m);
		}
		store2(far_m, o[0][0].m, o[0][1].m), store2(far_v, o[0][0].v, o[0][1].v);
		if (second) store2(far_m + width, o[1][0].m, o[1][1].m), store2(far_v + width, o[1][0].v, o[1][1].v);
		far_m += 64, far_v += 64, to += 8 * EIGHT;
	}
}

// crowd_end is the last layer, the noise, the score, and the way back to the broad layer. A warp has
// two rows, which share what it reads of the weights; an output of the first has a lane of the
// lower sixteen, one of the second a lane of the upper.
template <bool EXACT>
DEVICE void crowd_end(const Crowd& k, int r0, int n) {
	constexpr int MOST = BROADEST / 32; // inputs of a lane
	const Link &l = k.last, &prior = k.broad;
	int lane = thread() % 32, row = thread() / 32 * 2, in = l.in, width = l.out, pitch = 32 * l.pitch;
	Near w = here(l.at_w) + lane * l.pitch, s = here(l.at_s) + lane * l.pitch, z = k.planes + place_of<BACK>(row, lane);
	long long far = (long long)(r0 + row) * in + lane;
	bool live[2] = {row < n, row + 1 < n};
	float f[2][MOST][2]; // outputs of the broad layer; its slopes stay in the planes
	{
		const Link of = function_of(prior);
		auto far_m = out(l.m) + far, far_v = out(l.v) + far;
#pragma unroll
		for (int j = 0; j < MOST; j++)
			if (32 * j < in)
#pragma unroll
				for (int i = 0; i < 2; i++) {
					Near at = z + 4 * i + 4 * j * EIGHT;
					Moments p = pass<EXACT>(of, at[MEANS], at[VARIANCES]);
					f[i][j][0] = p.m, f[i][j][1] = p.v;
					at[MEANS] = p.mm, at[MEANS_LEFT] = p.mv, at[VARIANCES] = p.vm, at[VARIANCES_LEFT] = p.vv;
					if (live[i]) far_m[i * in + 32 * j] = p.m, far_v[i * in + 32 * j] = p.v;
				}
	}
	float m = 0, v = 0;
#pragma unroll 1
	for (int o = 0; o < width; o++) {
		Sums t = {0, 0, 0}, u = {0, 0, 0};
#pragma unroll
		for (int j = 0; j < MOST; j++)
			if (32 * j < in) {
				float a = w[j * pitch + o], e = s[j * pitch + o], both = fma(a, a, e);
				add<THROUGH>(t, f[0][j][0], f[0][j][1], a, e, both), add<THROUGH>(u, f[1][j][0], f[1][j][1], a, e, both);
			}
		t.a = warp_sum(t.a), t.b = warp_sum(t.b), u.a = warp_sum(u.a), u.b = warp_sum(u.b);
		if (lane % 16 == o) m = (lane < 16 ? t.a : u.a) + here(l.at_b)[o], v = (lane < 16 ? t.b : u.b) + here(l.at_bs)[o];
	}
	int of = lane % 16, mine_row = row + lane / 16;
	bool mine = mine_row < n && of < width;
	if (mine && k.c.raw) {
		float a = softplus(k.c.raw[of]);
		v += a * a;
	}
	double var = v, e = mine ? (double)m - k.y[mine_row * k.c.targets + of] : 0.0;
	bool low = var < k.c.p;
	if (low) var = k.c.p;
	float gm = 0, h = 0;
	if (mine) {
		double by = 1 / var, scale = k.c.scale, gv = 0.5 * by * (1 - e * e * by);
		gm = (float)(e * by * scale), h = (float)((low && gv > 0 ? 0 : gv) * scale);
		long long at = (long long)(r0 + mine_row) * width + of;
		out(l.g)[at] = gm, out(l.h)[at] = h;
		if (k.c.tape) out(k.c.tape)[at] = h;
	}
	auto far_g = out(prior.g) + far, far_h = out(prior.h) + far;
#pragma unroll
	for (int j = 0; j < MOST; j++)
		if (32 * j < in) {
			Sums t[2] = {};
#pragma unroll 1
			for (int o = 0; o < width; o++) {
				float a = w[j * pitch + o], q = s[j * pitch + o], both = fma(a, a, q);
				add<BACK>(t[0], lane_value(gm, o), lane_value(h, o), a, q, both), add<BACK>(t[1], lane_value(gm, 16 + o), lane_value(h, 16 + o), a, q, both);
			}
#pragma unroll
			for (int i = 0; i < 2; i++) {
				Near to = z + 4 * i + 4 * j * EIGHT;
				float g = fma(2 * f[i][j][0], t[i].b, t[i].a), by_m = g * to[MEANS] + t[i].c * to[VARIANCES], by_v = g * to[MEANS_LEFT] + t[i].c * to[VARIANCES_LEFT];
				to[MEANS] = by_m, to[MEANS_LEFT] = left_of(by_m), to[VARIANCES] = by_v, to[VARIANCES_LEFT] = left_of(by_v);
				if (live[i]) far_g[i * in + 32 * j] = by_m, far_h[i * in + 32 * j] = by_v;
			}
		}
	double score = mine ? normal_nll(e, var) : 0.0, nll = 0; // behind what needs many registers
	int floored = 0;
#pragma unroll 1
	for (int o = 0; o < width; o++) {
		int from = lane / 16 * 16 + o;
		nll += lane_value(score, from), floored += lane_value(low ? 1.0f : 0.0f, from) > 0;
	}
	if (of == 0 && mine_row < n) k.c.nll[r0 + mine_row] = nll, k.c.floored[r0 + mine_row] = floored;
}

// An Ahead is what a thread copies of the next rows: an input and a target.
struct Ahead {
	int input, target; // rows of the table; negative: none
};
DEVICE Ahead look_ahead(const Chain& c, int slot, int r0) {
	int t = thread(), in = c.links[0].in, a = t / in, b = t / c.targets;
	auto row = [&](int r) {
		long long at = (long long)slot * c.room + r0 + r;
		return c.index ? c.index[at] : (int)at;
	};
	return {a < CROWD && r0 + a < c.rows ? row(a) : -1, b < CROWD && r0 + b < c.rows ? row(b) : -1};
}
DEVICE void fetch_ahead(const Crowd& k, const Ahead& a) {
	const Chain& c = k.c;
	int t = thread(), in = k.thin.in;
	if (a.input >= 0) {
		long long from = (long long)a.input * in + t % in;
		copy4(dynamic() + k.thin.x + t, c.tm + from, true), copy4(dynamic() + k.thin.x + CROWD * in + t, c.tv ? c.tv + from : c.tm, c.tv);
	}
	if (a.target >= 0) copy4(dynamic() + c.at_y + t, c.ty + (long long)a.target * c.targets + t % c.targets, true);
	copies_end();
}

// run_crowd takes the rows of a network through it: a block has every so many groups of CROWD rows.
template <bool EXACT>
DEVICE void run_crowd(const Chain& c) {
	follow();
	int slot = c.results->slot, finite = c.results->finite, r0 = block() * CROWD, step = blocks() * CROWD;
	const Link &thin = c.links[0], &broad = c.links[1], &last = c.links[2];
	const Crowd k = {c, thin, broad, last, here(thin.x), here(c.at_y), here(c.signals)};
	Ahead ahead = look_ahead(c, slot, r0);
	start_weights(c);
	fetch_ahead(k, ahead);
	if (block() == 0 && thread() == 0) *c.turn = {slot, finite};
	if (!finite) return;
	auto keep = [&](int row, int col, const Sums (&t)[4]) { // outputs of the broad layer
		float b = here(broad.at_b)[col], bs = here(broad.at_bs)[col];
		Near z = k.planes + place_of<BACK>(row, col);
#pragma unroll
		for (int i = 0; i < 4; i++) z[(i % 2 + i / 2 * 8) * 4 + MEANS] = t[i].a + b, z[(i % 2 + i / 2 * 8) * 4 + VARIANCES] = t[i].b + bs;
	};
	for (; r0 < c.rows; r0 += step) {
		int n = less(CROWD, c.rows - r0);
		ahead = look_ahead(c, slot, r0 + step);
		copies_wait<0>();
		barrier();
		if (thin.m && thread() < n * thin.in) out(thin.m)[(long long)r0 * thin.in + thread()] = k.x[thread()];
		if (thin.v && thread() < n * thin.in) out(thin.v)[(long long)r0 * thin.in + thread()] = k.x[CROWD * thin.in + thread()];
		CHAIN_STAMP(0, 5);
		crowd_in<EXACT>(k, r0, n);
		CHAIN_STAMP(0, 6);
		begun();
		barrier();
		CHAIN_STAMP(0, 7);
		product_of_crowd<THROUGH>(k.planes, broad.in, here(broad.at_w), here(broad.at_s), broad.pitch, broad.out, keep);
		CHAIN_STAMP(0, 8);
		barrier();
		CHAIN_STAMP(0, 9);
		crowd_end<EXACT>(k, r0, n);
		CHAIN_STAMP(0, 10);
		begun();
		barrier();
		CHAIN_STAMP(0, 11);
		product_of_crowd<BACK>(k.planes, broad.out, here(broad.at_w), here(broad.at_s), broad.pitch, broad.in, [&](int row, int col, const Sums (&t)[4]) {
			const Link f = function_of(thin);
			Sums z[4];
			first_layer(k, row, col, z);
			int width = thin.out;
			long long far = (long long)(r0 + row) * width + col;
			auto far_g = out(thin.g) + far, far_h = out(thin.h) + far;
#pragma unroll
			for (int i = 0; i < 4; i++) {
				int r = i % 2 + i / 2 * 8;
				Moments p = pass<EXACT>(f, z[i].a, z[i].b);
				float g = fma(2 * p.m, t[i].b, t[i].a);
				if (row + r < n) far_g[r * width] = g * p.mm + t[i].c * p.vm, far_h[r * width] = g * p.mv + t[i].c * p.vv;
			}
		});
		CHAIN_STAMP(0, 12);
		barrier(); // the inputs are needed no more
		fetch_ahead(k, ahead);
		CHAIN_STAMP(0, 15);
	}
}
