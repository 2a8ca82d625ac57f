// A chain with one broad layer where many networks run side by side: forward, score and
// backward, 128 rows of a network at a time, 64 in each of two groups of four warps. A thread has two rows
// of its warp's sixteen, g and g + 8, and two columns of each eight, as tensor cores
// want left operands and leave sums; so signals stay in registers from the inputs to the score
// and back. What a product left is the left operand of the next one.
#pragma once
#include "crowd_ends.h"
#include "crowd_start.h"

// Signals are outputs of the first layer behind its function, sixteen columns of a thread's two rows.
struct Signals {
	float m[8], v[8];
};
template <bool EXACT, bool ONE>
DEVICE Signals first_signals(const Crowd<ONE>& k, const Entry& a, int col) {
	Signals s;
	const Bend<EXACT> f(k.bend(0));
	float x[8], y[8];
	first_layer(k, a, col, x, y);
#pragma unroll
	for (int i = 0; i < 8; i++) f.ahead(x[i], f.distance(y[i]), s.m[i], s.v[i]);
	return s;
}
// cut_signals cuts means, their squares and variances into left operands.
DEVICE void cut_signals(const Signals& s, const Sizing& z, int half, uint32 (&h)[3][8], uint32 (&l)[3][8]) {
#pragma unroll
	for (int i = 0; i < 4; i++) { // two columns of a row
		float p = s.m[2 * i], q = s.m[2 * i + 1], a = p * z.mean, b = q * z.mean;
		Halved cuts[3] = {cut_two(a, b), cut_two(a * (p * z.again), b * (q * z.again)), cut_two(s.v[2 * i] * z.var, s.v[2 * i + 1] * z.var)};
#pragma unroll
		for (int j = 0; j < 3; j++) h[j][4 * half + i] = cuts[j].h, l[j][4 * half + i] = cuts[j].l;
	}
}

// signals_ahead computes what is computed of 32 columns while others are multiplied: with one input all of it, else the first half,
// since registers do not suffice.
template <bool EXACT, bool ONE>
DEVICE void signals_ahead(const Crowd<ONE>& k, const Entry& a, int col, Signals (&s)[2]) {
	s[0] = first_signals<EXACT>(k, a, col);
	if (ONE) s[1] = first_signals<EXACT>(k, a, col + 16);
}

// forward takes the rows of a thread to the outputs of the broad layer before its function, but for scales and biases. s is ahead for the
// first columns.
template <bool EXACT, bool ONE>
DEVICE void forward(const Crowd<ONE>& k, const Sizing& z, Signals (&s)[2], float (&m)[64], float (&v)[64]) {
#pragma unroll
	for (int i = 0; i < 64; i++) m[i] = v[i] = 0;
	int depth = k.depth();
	const Entry entry(k, Seat(self()));
	const Cells cells(k, Seat(self()));
#pragma unroll 1
	for (int col = 0; col < depth; col += 32) {
		uint32 h[3][8], l[3][8];
		cut_signals(s[0], z, 0, h, l);
		if (!ONE) s[1] = first_signals<EXACT>(k, entry, col + 16);
		cut_signals(s[1], z, 1, h, l);
		uint32 w = describe_planes<1>(planes_at() + PLANE_W) + (64 * col >> 4), sp = describe_planes<2>(planes_at() + PLANE_SP) + (128 * col >> 4);
		take_turn();
		wgmma_begin();
#pragma unroll
		for (int i = 0; i < 6; i++) halves<true>(m, (i < 2 ? l : h)[0] + i % 2 * 4, w + i % 2 * DEEPER + (i / 2 == 1 ? PLANE >> 4 : 0));
#pragma unroll
		for (int i = 0; i < 12; i++) halves<true>(v, (i < 4 ? l : h)[1 + i / 2 % 2] + i % 2 * 4, sp + i / 2 % 2 * (32 * 64 >> 4) + i % 2 * DEEPER + (i / 4 == 1 ? 2 * PLANE >> 4 : 0));
		wgmma_end();
		give_turn();
#pragma unroll
		for (int i = 0; i < 4; i++) cells.write(i / 2, col / 32, i % 2, h[i / 2 * 2] + i % 2, l[i / 2 * 2] + i % 2);
		if (col + 32 < depth) signals_ahead<EXACT>(k, entry, col + 32, s);
		halves_wait();
		settled(m), settled(v);
	}
}

// next_of is the view of the unit that follows.
template <bool ONE>
DEVICE Crowd<ONE> next_of(const Crowd<ONE>& k) {
	int within = anew(k.within) + 1;
	bool end = within == k.p.each;
	return {k.p, end ? k.stretch + blocks() : k.stretch, end ? 0 : within, k.parity ^ 1};
}
// prepare_rows fetches the rows of the next unit, whose numbers were asked for, and asks for those of the one behind it.
template <bool ONE>
DEVICE void prepare_rows(const Crowd<ONE>& k) {
	const Crowd<ONE> next = next_of(k);
	fetch_rows(next);
	ask_rows(next_of(next));
}
// leave_scores writes the scores of the group's rows, whose differences and variances lie in shared memory since other barriers. It calls
// nothing: a call may make the assembler wait for products that are under way.
template <bool ONE>
DEVICE void leave_scores(const Crowd<ONE>& k) {
	const Seat s(self());
	int t = self() % 128;
	if (t >= GROUP_ROWS || t >= s.count(k)) return;
	double e = score_place(s)[2 * t], V = score_place(s)[2 * t + 1];
	k.p.chain.nll[s.first(k) + t] = normal_nll(e, V, loga_inlined(V));
}

// backward takes the gradients to the outputs of the first layer before its function, and leaves those of its weights.
template <bool EXACT, bool ONE>
DEVICE void backward(const Crowd<ONE>& k, const Gradient& g, const float (&m)[64], const float (&v)[64], const uint32 (&most)[2]) {
	uint32 a[4][32]; // by mean, h and l; by variance
	int em = exponent(most[0]), ev = exponent(most[1]), width = k.depth(), slot = 0;
	const Entry entry(k, Seat(self()));
	const float scale[3] = {power(-em - k.state(STATE_W)), 2 * power(-ev - k.state(STATE_S)), 2 * k.bend(0)[SPREAD] * power(-ev - k.state(STATE_P))};
	{
		const float up_m[2] = {power(em) * g.twice[0], power(em) * g.twice[1]}, by_var = k.bend(1)[BY_VAR] * power(ev), up_v[2] = {by_var * g.twice[0], by_var * g.twice[1]};
#pragma unroll
		for (int i = 0; i < 32; i++) {
			Halved p = cut_two(m[2 * i] * up_m[i % 2], m[2 * i + 1] * up_m[i % 2]), q = cut_two(v[2 * i] * up_v[i % 2], v[2 * i + 1] * up_v[i % 2]);
			a[0][i] = p.h, a[1][i] = p.l, a[2][i] = q.h, a[3][i] = q.l;
		}
	}
	float t[32] = {}; // sums by W, of 64 columns at a time: half as many products
#pragma unroll 1
	for (int col = 0; col < width; col += 32) {
		float both[32]; // by S, then by P
		uint32 w = describe_planes<1>(planes_at() + PLANE_W) + (64 * col >> 4), sp = describe_planes<2>(planes_at() + PLANE_SP) + (128 * col >> 4);
		take_turn();
		if (col % 64 == 0) {
			wgmma_begin();
			halves<false>(t, a[1], w); // what is left first: sums are cut
#pragma unroll
			for (int i = 1; i < 24; i++) halves<true>(t, a[i < 8] + i % 8 * 4, w + (i % 8 / 2 * PANEL >> 4) + i % 2 * DEEPER_BACK + (i / 8 == 1 ? PLANE >> 4 : 0));
			wgmma_end();
			halves_wait();
			settled(t);
		}
		wgmma_begin();
		halves<false>(both, a[3], sp);
#pragma unroll
		for (int i = 1; i < 24; i++) halves<true>(both, a[2 + (i < 8)] + i % 8 * 4, sp + (i % 8 / 2 * 2 * PANEL >> 4) + i % 2 * DEEPER_BACK + (i / 8 == 1 ? 2 * PLANE >> 4 : 0));
		wgmma_end();
		give_turn();
		if (col == 0) {
			const Seat seat(self());
			const Cells cells(k, seat);
#pragma unroll
			for (int i = 0; i < 16; i++) cells.write(2 + i / 8, i / 2 % 4, i % 2, a[i / 8 * 2] + i / 2 % 4 * 8 + i % 2, a[i / 8 * 2 + 1] + i / 2 % 4 * 8 + i % 2);
			if (self() % 128 == 0) {
				Out to = out(k.p.scales + (k.unit() * 2 + seat.group) * SIGNALS);
				to[2] = power(-em), to[3] = power(-ev);
			}
		}
		if (col == less(32, width - 32)) prepare_rows(k); // what waits for no product is done meanwhile
		if (col == width - 32) leave_scores(k);
		halves_wait();
		settled(both);
#pragma unroll 1
		for (int half = 0; half < 2; half++) { // the sums are turned on by eight
			const Bend<EXACT> f(k.bend(0));
			float x[8], y[8], dm[8], dv[8];
			first_layer(k, entry, col + 16 * half, x, y);
#pragma unroll
			for (int i = 0; i < 8; i++) {
				float by = EXACT ? 0.0f : tiny_inverse_root(y[i]), om, ov;
				f.back(x[i], EXACT ? y[i] : y[i] * by, by, t[i] * scale[0], both[i] * scale[1], both[16 + i] * scale[2], dm[i], dv[i], om, ov);
				both[i] = both[8 + i], both[16 + i] = both[24 + i];
			}
#pragma unroll
			for (int i = 0; i < 24; i++) t[i] = t[8 + i];
			put_first(k, entry, slot, dm, dv, col + 16 * half);
			slot += entry.in + 1;
			bool end = col + 16 * half + 16 == width;
			if (slot + entry.in + 1 > SLOTS || end) flush_first(k, slot, col + 16 * half + 16), slot = 0;
			if (slot == 0 && half == 0) barrier_of_group(); // else the next turn is one
		}
	}
}

// run_crowd takes the rows of a network through it: a block has every so many stretches of units.
template <bool EXACT, bool ONE>
DEVICE void run_crowd(const CrowdPass& p) {
	const Chain& c = p.chain;
	follow();
	int slot = c.results->slot, finite = c.results->finite;
	const Link& broad = c.links[1];
	const Broad weights = read_weights(broad.w, broad.s, broad.in, broad.out); // on their way meanwhile
	const Thin thin = read_thin(c);
	if (block() == 0 && thread() == 0) *c.turn = {slot, finite};
	if (!finite) return;
	Crowd<ONE> k = {p, block(), 0, 0};
	if (thread() == 0) place(AT_STATE)[STATE_SLOT] = from_bits((uint32)slot);
	if (thread() < 2) bend<EXACT>(c.links[thread()], k.bend(thread()));
	barrier();
	ask_rows(k);
	start(c, thin);
	fetch_rows(k);
	const Planes3 planes = cut_weights(weights, place(-PLANES / 4));
	if (thread() == 0) {
		Near to = place(AT_STATE);
		to[STATE_W] = from_bits((uint32)planes.w), to[STATE_S] = from_bits((uint32)planes.s), to[STATE_P] = from_bits((uint32)planes.p);
	}
	begun();
	copies_wait<0>();
	ask_rows(next_of(k));
	barrier();
	if (self() >= 128) give_turn();
#pragma unroll 1
	while (k.unit() * UNIT < c.rows) {
		{
			float m[64], v[64];
			uint32 most[2];
			Signals s[2];
			signals_ahead<EXACT>(k, Entry(k, Seat(self())), 0, s); // while others find their sizes
			const Sizing z = size_rows(k);
			forward<EXACT>(k, z, s, m, v);
			Gradient g = finish<EXACT>(k, z, m, v);
			turn_back<EXACT>(k, g, m, v, most);
			backward<EXACT>(k, g, m, v, most);
		}
		copies_wait<0>();
		barrier_of_group();
		const Crowd<ONE> next = next_of(k);
		k.stretch = next.stretch, k.within = next.within, k.parity = next.parity;
	}
	if (self() < 128) take_turn();
}
