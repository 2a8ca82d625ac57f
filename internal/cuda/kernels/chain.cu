// A chain in one launch: forward, score and backward, a few rows in a block. The functions
// are part of the products before them, or behind them on the way back; what the gradients
// of the weights need is written as soon as it is known.
#include "chain.h"
#include "chain_links.h"
#include "likelihood.h"
#include "chain_gradients.h"
#include "chain_update.h"

// wait_depth waits until the rows of the first broad matrix from a depth on, 32 of them or
// all that are left, have arrived; all matrices, if there are more.
DEVICE void wait_depth(int depth, bool more) {
	if (depth > 96) return;
	if (more) copies_wait<0>();
	else if (depth == 0) copies_wait<3>();
	else if (depth == 32) copies_wait<2>();
	else if (depth == 64) copies_wait<1>();
	else copies_wait<0>();
	barrier();
}

// gather reads the rows of a group and their targets. Threads that have none do not wait for the slot.
DEVICE void gather(const Chain& c, const Group& group, int slot, int r0, int n) {
	const Link& l = c.links[0];
	int in = l.in, apart = input_pitch(in), all = 32 * group.warps, self = 32 * group.warp + group.lane;
	Near x = here(group, l.x), y = here(group, c.at_y);
#pragma unroll 1
	for (int i = self; i < n * in; i += all) {
		int r = in == 1 ? i : i / in, k = i - r * in;
		long long at = (long long)slot * c.room + r0 + r, from = (c.index ? c.index[at] : at) * in + k;
		float m = c.tm[from], v = c.tv ? c.tv[from] : 0.0f;
		x[r * apart + k] = m, x[(PER + r) * apart + k] = v;
		if (l.m) out(l.m)[(long long)r0 * in + i] = m;
		if (l.v) out(l.v)[(long long)r0 * in + i] = v;
	}
	if (!c.back) return;
#pragma unroll 1
	for (int i = self - 64; i >= 0 && i < n * c.targets; i += all - 64) { // other warps, at the same time
		int r = c.targets == 1 ? i : i / c.targets;
		long long at = (long long)slot * c.room + r0 + r;
		y[i] = c.ty[(c.index ? c.index[at] : at) * c.targets + i - r * c.targets];
	}
}

// forward takes rows through a link and its function to the next one. What becomes of two
// sums is computed from the link again: it must not take registers during the product.
template <bool EXACT, class Ready>
DEVICE void forward(const Chain& chain, const Group& group, const Link& l, const Link& next, int r0, int n, Ready ready) {
	Near x = here(group, l.x), w = here(l.at_w), s = here(l.at_s);
	int in = l.in, width = l.out, pitch = l.pitch, apart = input_pitch(in);
	auto store = [&](int r, int c, bool here_, Sums t, Moments p) {
		int to = output_pitch(l.out), z = r * to + c, a = input_pitch(l.out), at = r * a + c;
		if (!here_) return;
		here(group, l.z)[z] = t.a, here(group, l.z)[PER * to + z] = t.b;
		here(group, next.x)[at] = p.m, here(group, next.x)[PER * a + at] = p.v;
		long long far = (long long)(r0 + r) * l.out + c;
		if (next.m) out(next.m)[far] = p.m, out(next.v)[far] = p.v;
	};
	auto two = [&](int r, int c, Sums t, Sums u) { // of rows r and r + 1
		float b = here(l.at_b)[c], bs = here(l.at_bs)[c];
		t.a += b, t.b += bs, u.a += b, u.b += bs;
		Moments p = pass<EXACT>(l, t.a, t.b), o = pass<EXACT>(l, u.a, u.b);
		store(r, c, r < n, t, p), store(r + 1, c, r + 1 < n, u, o);
	};
	if (in > SHALLOW) {
		Near scratch = here(chain.scratch) + group.number * group.warps * TELL;
		if (in % 32 == 0 && width % 16 == 0) product<THROUGH, true>(group, x, x + PER * apart, apart, in, w, s, pitch, width, scratch, ready, two);
		else product<THROUGH, false>(group, x, x + PER * apart, apart, in, w, s, pitch, width, scratch, ready, two);
		return;
	}
	int share = group.warps / (PER / 2), r = group.warp / share * 2; // a thread has two rows and every so many columns
	if (r < n)
#pragma unroll 1
		for (int c = group.warp % share * 32 + group.lane; c < width; c += 32 * share) {
			Sums t = {0, 0, 0}, u = {0, 0, 0};
#pragma unroll 1
			for (int k = 0; k < in; k++) {
				float a = w[k * pitch + c], e = s[k * pitch + c], both = fma(a, a, e);
				Near from = x + r * apart + k;
				add<THROUGH>(t, from[0], from[PER * apart], a, e, both), add<THROUGH>(u, from[apart], from[(PER + 1) * apart], a, e, both);
			}
			two(r, c, t, u);
		}
}

// backward takes gradients by the outputs of a link to those by the outputs of the one
// before it, before that one's function.
template <bool EXACT>
DEVICE void backward(const Chain& chain, const Group& group, const Link& l, const Link& prior, int r0, int n) {
	int depth = l.out, width = l.in, apart = output_pitch(depth);
	auto two = [&](int r, int c, Sums t, Sums u) {
		int z = output_pitch(l.in), at = r * z + c, a = input_pitch(l.in);
		Near x = here(group, l.x) + r * a + c, from = here(group, prior.z) + at, to = here(group, prior.d) + at;
		float g = fma(2 * x[0], t.b, t.a), h = fma(2 * x[a], u.b, u.a);
		Moments p = pass<EXACT>(prior, from[0], from[PER * z]), o = pass<EXACT>(prior, from[z], from[(PER + 1) * z]);
		long long far = (long long)(r0 + r) * l.in + c;
		auto far_g = out(prior.g) + far, far_h = out(prior.h) + far;
		float gm = g * p.mm + t.c * p.vm, gv = g * p.mv + t.c * p.vv, hm = h * o.mm + u.c * o.vm, hv = h * o.mv + u.c * o.vv;
		if (r < n) to[0] = gm, to[PER * z] = gv, far_g[0] = gm, far_h[0] = gv;
		if (r + 1 < n) to[z] = hm, to[(PER + 1) * z] = hv, far_g[l.in] = hm, far_h[l.in] = hv;
	};
	Near d = here(group, l.d), scratch = here(chain.scratch) + group.number * group.warps * TELL;
	auto now = [](int) {};
	if (depth % 32 == 0 && width % 16 == 0) product<BACK, true>(group, d, d + PER * apart, apart, depth, here(l.at_w), here(l.at_s), l.pitch, width, scratch, now, two);
	else product<BACK, false>(group, d, d + PER * apart, apart, depth, here(l.at_w), here(l.at_s), l.pitch, width, scratch, now, two);
}

// end is the last link, which has few outputs, the noise, the score, and the way back to
// the link before it. A row has two warps, or one; both compute the outputs, a thread each, and
// go back to half of the inputs; the second writes the score.
template <bool EXACT>
DEVICE void end(const Chain& c, const Group& group, int r0, int n) {
	SHARED double all_scores[2][PER][SHALLOW];
	SHARED int all_low[2][PER][SHALLOW];
	double(*scores)[SHALLOW] = all_scores[group.number];
	int(*low_rows)[SHALLOW] = all_low[group.number];
	const Link &l = c.links[c.count - 1], &prior = c.links[c.count - 2];
	int lane = group.lane, r = group.warp & (PER - 1), share = group.warps / PER, which = group.warp >> 3, in = l.in, width = l.out, pitch = l.pitch, apart = input_pitch(in);
	bool live = r < n, writes = which == share - 1;
	Near x = here(group, l.x) + r * apart, y = here(group, c.at_y), d = here(group, l.d) + which * 2 * PER * width + r * width;
	Near w = here(l.at_w), s = here(l.at_s);
	float m = 0, v = 0;
#pragma unroll 1
	for (int o = 0; o < width; o++) {
		Sums t = {0, 0, 0};
#pragma unroll 4
		for (int k = lane; live && k < in; k += 32) {
			float u = w[k * pitch + o], e = s[k * pitch + o];
			add<THROUGH>(t, x[k], x[PER * apart + k], u, e, fma(u, u, e));
		}
		t.a = warp_sum(t.a), t.b = warp_sum(t.b);
		if (lane == o) m = t.a + here(l.at_b)[o], v = t.b + here(l.at_bs)[o];
	}
	bool mine = live && lane < width;
	long long at = (long long)(r0 + r) * width + lane;
	if (mine && c.raw) {
		float a = softplus(c.raw[lane]);
		v += a * a;
	}
	if (!c.back) {
		if (mine && writes) out(c.om)[at] = m, out(c.ov)[at] = v;
		return;
	}
	double var = v, e = mine ? (double)m - y[r * c.targets + lane] : 0.0;
	bool low = var < c.p;
	if (low) var = c.p;
	if (mine) {
		double by = 1 / var, scale = c.scale, gv = 0.5 * by * (1 - e * e * by);
		float gm = (float)(e * by * scale), h = (float)((low && gv > 0 ? 0 : gv) * scale);
		d[lane] = gm, d[PER * width + lane] = h;
		if (writes) {
			out(l.g)[at] = gm, out(l.h)[at] = h;
			if (c.tape) out(c.tape)[at] = h;
		}
	}
	warp_ready();
	int to = output_pitch(in);
	Near z = here(group, prior.z) + r * to, back = here(group, prior.d) + r * to;
	auto far_g = out(prior.g), far_h = out(prior.h);
	long long first = (long long)(r0 + r) * in;
#pragma unroll 1
	for (int k = which * 64 + lane; live && k < in; k += share * 64) { // two inputs at a time
		int other = k + 32 < in ? k + 32 : k; // none: not one that another thread writes
		Sums t = {0, 0, 0}, u = {0, 0, 0};
#pragma unroll 1
		for (int o = 0; o < width; o++) {
			float a = w[k * pitch + o], q = s[k * pitch + o], b = w[other * pitch + o], f = s[other * pitch + o];
			add<BACK>(t, d[o], d[PER * width + o], a, q, fma(a, a, q)), add<BACK>(u, d[o], d[PER * width + o], b, f, fma(b, b, f));
		}
		float g = fma(2 * x[k], t.b, t.a), h = fma(2 * x[other], u.b, u.a);
		Moments p = pass<EXACT>(prior, z[k], z[PER * to + k]), f = pass<EXACT>(prior, z[other], z[PER * to + other]);
		float gm = g * p.mm + t.c * p.vm, gv = g * p.mv + t.c * p.vv, hm = h * f.mm + u.c * f.vm, hv = h * f.mv + u.c * f.vv;
		back[k] = gm, back[PER * to + k] = gv, far_g[first + k] = gm, far_h[first + k] = gv;
		if (k + 32 < in) back[other] = hm, back[PER * to + other] = hv, far_g[first + other] = hm, far_h[first + other] = hv;
	}
	if (mine && writes) scores[r][lane] = normal_nll(e, var), low_rows[r][lane] = low;
	warp_ready();
	if (!live || !writes || lane != 0) return;
	double nll = 0;
	int floored = 0;
#pragma unroll 1
	for (int o = 0; o < width; o++) nll += scores[r][o], floored += low_rows[r][o];
	c.nll[r0 + r] = nll, c.floored[r0 + r] = floored;
}

template <bool EXACT>
DEVICE void run_chain(const Chain& c) {
	CHAIN_STAMP(0, 1);
	follow();
	CHAIN_STAMP(0, 2);
	int slot = c.results ? c.results->slot : 0, finite = c.results ? c.results->finite : 1; // on their way while the copies start
	int wide = c.groups == 2 ? 3 : 4, warp = thread() / 32, number = warp >> wide; // 2^wide warps are a group
	const Group group = {number, thread() % 32, warp - (number << wide), 1 << wide, c.signals + number * c.span};
	int r0 = (block() * c.turns * c.groups + number) * c.per;
	gather(c, group, slot, r0, less(c.per, c.rows - r0)); // few warps wait for the rows
	CHAIN_STAMP(0, 3);
	start_weights(c);
	CHAIN_STAMP(0, 4);
	if (block() == 0 && thread() == 0 && c.turn) *c.turn = {slot, finite};
	for (int turn = 0; turn < c.turns && finite; turn++, r0 += c.groups * c.per) {
		int n = less(c.per, c.rows - r0); // may be negative
		if (r0 - number * c.per >= c.rows) break;
		if (turn > 0) {
			barrier(group); // the rows before need their places no more
			gather(c, group, slot, r0, n);
			barrier(group);
		} else {
			if (c.broad) copies_wait<4>();
			else copies_wait<0>();
			barrier();
		}
		CHAIN_STAMP(0, 5);
		for (int i = 0; i + 1 < c.count; i++) {
			forward<EXACT>(c, group, c.links[i], c.links[i + 1], r0, n, [&](int depth) {
				if (turn == 0 && i == c.thin) wait_depth(depth, c.broad > 1);
			});
			CHAIN_STAMP(0, 6 + 2 * i);
			barrier(group);
			CHAIN_STAMP(0, 7 + 2 * i);
		}
		end<EXACT>(c, group, r0, n);
		CHAIN_STAMP(0, 10);
		for (int i = c.count - 2; c.back && i > 0; i--) {
			barrier(group);
			CHAIN_STAMP(0, 11);
			backward<EXACT>(c, group, c.links[i], c.links[i - 1], r0, n);
		}
		CHAIN_STAMP(0, 15);
	}
}

KERNEL_CHAIN(chain_three, Chain, THREADS, 1) { run_chain<false>(c); }
KERNEL_CHAIN(chain_exact, Chain, THREADS, 1) { run_chain<true>(c); }

KERNEL_CHAIN(chain_gradients, ChainGradients, CG, 2) {
	CHAIN_STAMP(1, 1);
	int b = block(), i = 0;
	while (i + 1 < c.count && b >= c.links[i + 1].block) i++;
	const Slope& l = c.links[i];
	follow();
	CHAIN_STAMP(1, 2);
	bool finite = c.turn->finite;
	if (b < c.rest) {
		int number = divide(b - l.block, c.by_parts), part = b - l.block - number * c.parts, across = (l.out + SIDE - 1) / SIDE, down = divide(number, l.by_across);
		if (less(l.in, l.out) > SHALLOW) tile(c, l, finite, number - down * across, down, part);
		else elements(c, l, finite, number, part);
	} else
		beside_links(c, b, finite);
}

KERNEL_CHAIN(chain_update, ChainUpdate, OPT, 2) { update_chain(c); }
