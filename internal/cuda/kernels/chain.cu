// A chain in one launch: forward, score and backward, a few rows in a block. The functions
// are part of the products before them, or behind them on the way back; what the gradients
// of the weights need is written as soon as it is known.
#include "chain.h"
#include "few_rows.h"
#include "likelihood.h"
#include "chain_gradients.h"
#include "chain_update.h"

// A Link is a dense layer with the function behind it. Offsets are numbers in shared
// memory; variances, or gradients by them, lie PER rows behind the means.
struct Link {
	const float *w, *s, *b, *bs; // weights, row-major, and biases
	float *m, *v, *g, *h;        // input, and gradients by the outputs before the function; null: nobody wants them
	int in, out, pitch;
	int at_w, at_s, at_b, at_bs;
	int x, z, d;                 // input, outputs before the function, gradients by them
	float a, three[6];           // of the leaky ReLU
	int pad;
};

struct Chain {
	Link links[MOST_LINKS];
	int count, rows, per, turns; // turns: how often a block takes rows
	int back, room, targets, at_y; // back: score and go back
	const Control* control;
	const Result* results;       // null in prediction
	Turn* turn;
	const int* index;            // as in an input's Op
	const float *tm, *tv, *ty;
	const float* raw;            // of the noise, or null
	float *tape, *om, *ov;       // om, ov: outputs, where nothing goes back
	double* nll;
	int* floored;
	double p;                    // least variance of the likelihood
	int batch, thin;             // thin: the first layer has few inputs
};
static_assert(sizeof(Link) == 136 && sizeof(Chain) == 136 * MOST_LINKS + 152, "");

// pass is the function of a link.
template <bool EXACT>
DEVICE Moments pass(const Link& l, float m, float v) {
	if (EXACT) return leaky_exact(l.a, m, v);
	float xi[3] = {0, l.three[1], l.three[2]}, w[3] = {l.three[3], l.three[4], l.three[5]};
	return leaky_three(l.a, m, v, xi, w);
}

// start_weights starts copying the weights: first the biases and thin matrices, then the
// others. Blocks start in different rows, or all would want the same line at once.
DEVICE void start_weights(const Chain& c) {
#pragma unroll 1
	for (int i = 0; i < 4 * c.count; i++) {
		const Link& l = c.links[i / 4];
		bool matrix = i % 4 < 2;
		if (matrix && less(l.in, l.out) > SHALLOW) continue;
		const float* from = (&l.w)[i % 4];
		float* to = dynamic() + (&l.at_w)[i % 4];
#pragma unroll 1
		for (int j = thread(); j < (matrix ? l.in * l.out : l.out); j += THREADS) copy4(to + j, from + j, true);
	}
	copies_end();
#pragma unroll 1
	for (int i = 0; i < c.count; i++) {
		const Link& l = c.links[i];
		if (less(l.in, l.out) <= SHALLOW) continue;
		int start = block() * (THREADS / 32) % l.in;
#pragma unroll 1
		for (int r = thread() / 32; r < l.in; r += THREADS / 32) {
			int row = r + start < l.in ? r + start : r + start - l.in;
#pragma unroll 1
			for (int q = thread() % 32 * 4; q < l.out; q += 128) {
				copy16(dynamic() + l.at_w + row * l.pitch + q, l.w + row * l.out + q, true);
				copy16(dynamic() + l.at_s + row * l.pitch + q, l.s + row * l.out + q, true);
			}
		}
	}
	copies_end();
}

// gather reads the rows of a block and their targets.
DEVICE void gather(const Chain& c, int slot, int r0, int n) {
	const Link& l = c.links[0];
	Near x = near(dynamic() + l.x), y = near(dynamic() + c.at_y);
	long long first = (long long)slot * c.room + r0;
#pragma unroll 1
	for (int i = thread(); i < n * l.in; i += THREADS) {
		int r = l.in == 1 ? i : i / l.in;
		long long from = (c.index ? c.index[first + r] : first + r) * l.in + i - r * l.in;
		float m = c.tm[from];
		x[i] = m;
		if (l.m) out(l.m)[(long long)r0 * l.in + i] = m;
		if (!c.tv) continue;
		float v = c.tv[from];
		x[PER * l.in + i] = v;
		if (l.v) out(l.v)[(long long)r0 * l.in + i] = v;
	}
	if (!c.back) return;
#pragma unroll 1
	for (int i = thread(); i < n * c.targets; i += THREADS) {
		int r = c.targets == 1 ? i : i / c.targets;
		y[i] = c.ty[(c.index ? c.index[first + r] : first + r) * c.targets + i - r * c.targets];
	}
}

DEVICE Near here(int at) { return near(dynamic() + at); }

// forward takes rows through a link and its function to the next one. What becomes of a
// sum is computed from the link again: it must not take registers during the product.
template <bool EXACT>
DEVICE void forward(const Link& l, const Link& next, bool second, int r0, int n) {
	Near x = here(l.x), w = here(l.at_w), s = here(l.at_s);
	int in = l.in, width = l.out, pitch = l.pitch;
	auto store = [&](int r, int c, Sums t) {
		int at = r * l.out + c, behind = PER * l.out + at;
		float m = t.a + here(l.at_b)[c], v = t.b + here(l.at_bs)[c];
		Moments p = pass<EXACT>(l, m, v);
		here(l.z)[at] = m, here(l.z)[behind] = v;
		here(next.x)[at] = p.m, here(next.x)[behind] = p.v;
		long long far = (long long)r0 * l.out + at;
		if (next.m) out(next.m)[far] = p.m, out(next.v)[far] = p.v;
	};
	if (in <= SHALLOW) { // a thread has a row and every so many columns
		int warp = thread() / 32, share = n > PER / 2 ? 2 : 4, r = n > PER / 2 ? warp / 2 : warp / 4;
		if (r < n)
#pragma unroll 1
			for (int c = (warp - r * share) * 32 + thread() % 32; c < width; c += 32 * share) {
				Sums t = {0, 0, 0};
#pragma unroll 1
				for (int k = 0; k < in; k++) {
					float u = w[k * pitch + c], e = s[k * pitch + c];
					add<THROUGH>(t, x[r * in + k], second ? x[PER * in + r * in + k] : 0.0f, u, e, fma(u, u, e));
				}
				store(r, c, t);
			}
		return;
	}
	if (second && in % 4 == 0) broad<THROUGH, true>(x, x + PER * in, true, n, in, w, s, true, pitch, width, store);
	else broad<THROUGH, false>(x, x + PER * in, second, n, in, w, s, true, pitch, width, store);
}

// backward takes gradients by the outputs of a link to those by the outputs of the one
// before it, before that one's function.
template <bool EXACT>
DEVICE void backward(const Link& l, const Link& prior, int r0, int n) {
	int depth = l.out;
	broad<BACK, true>(here(l.d), here(l.d) + PER * depth, true, n, depth, here(l.at_w), here(l.at_s), true, l.pitch, l.in, [&](int r, int c, Sums t) {
		int at = r * l.in + c, behind = PER * l.in + at;
		float g = fma(2 * here(l.x)[at], t.b, t.a), h = t.c;
		Moments p = pass<EXACT>(prior, here(prior.z)[at], here(prior.z)[behind]);
		float dm = g * p.mm + h * p.vm, dv = g * p.mv + h * p.vv;
		here(prior.d)[at] = dm, here(prior.d)[behind] = dv;
		long long far = (long long)r0 * l.in + at;
		out(prior.g)[far] = dm, out(prior.h)[far] = dv;
	});
}

// end is the last link, which has few outputs, the noise, the score, and the way back to
// the link before it. A row has two warps; both compute the outputs, then one goes back
// while the other writes the score. A thread has an output.
template <bool EXACT>
DEVICE void end(const Chain& c, double scale, int r0, int n) {
	SHARED double scores[PER][SHALLOW];
	SHARED int low_rows[PER][SHALLOW];
	const Link &l = c.links[c.count - 1], &prior = c.links[c.count - 2];
	int lane = thread() % 32, r = thread() / 32 % PER, in = l.in, width = l.out, pitch = l.pitch;
	bool live = r < n, scores_it = thread() / 32 >= PER;
	Near x = near(dynamic() + l.x + r * in), y = near(dynamic() + c.at_y), d = near(dynamic() + l.d + r * width);
	Near w = near(dynamic() + l.at_w), s = near(dynamic() + l.at_s), b = near(dynamic() + l.at_b), bs = near(dynamic() + l.at_bs);
	float m = 0, v = 0;
#pragma unroll 1
	for (int o = 0; o < width; o++) {
		Sums t = {0, 0, 0};
#pragma unroll 4
		for (int k = lane; live && k < in; k += 32) {
			float u = w[k * pitch + o], e = s[k * pitch + o];
			add<THROUGH>(t, x[k], x[PER * in + k], u, e, fma(u, u, e));
		}
		t.a = warp_sum(t.a), t.b = warp_sum(t.b);
		if (lane == o) m = t.a + b[o], v = t.b + bs[o];
	}
	bool mine = live && lane < width;
	long long at = (long long)(r0 + r) * width + lane;
	if (mine && c.raw) {
		float a = softplus(c.raw[lane]);
		v += a * a;
	}
	if (!c.back) {
		if (mine && !scores_it) out(c.om)[at] = m, out(c.ov)[at] = v;
		return;
	}
	double var = v, e = mine ? (double)m - y[r * c.targets + lane] : 0.0;
	bool low = var < c.p;
	if (low) var = c.p;
	if (mine && !scores_it) {
		double gv = 0.5 / var * (1 - e * e / var);
		float gm = (float)(e / var * scale), h = (float)((low && gv > 0 ? 0 : gv) * scale);
		d[lane] = gm, d[PER * width + lane] = h;
		out(l.g)[at] = gm, out(l.h)[at] = h;
		if (c.tape) out(c.tape)[at] = h;
	}
	if (mine && scores_it) scores[r][lane] = normal_nll(e, var), low_rows[r][lane] = low;
	warp_ready();
	if (!live) return;
	if (scores_it) {
		if (lane != 0) return;
		double nll = 0;
		int floored = 0;
#pragma unroll 1
		for (int o = 0; o < width; o++) nll += scores[r][o], floored += low_rows[r][o];
		c.nll[r0 + r] = nll, c.floored[r0 + r] = floored;
		return;
	}
	Near z = near(dynamic() + prior.z + r * in), to = near(dynamic() + prior.d + r * in);
	auto far_g = out(prior.g), far_h = out(prior.h);
	long long first = (long long)(r0 + r) * in;
#pragma unroll 4
	for (int k = lane; k < in; k += 32) {
		Sums t = {0, 0, 0};
#pragma unroll 1
		for (int o = 0; o < width; o++) {
			float u = w[k * pitch + o], q = s[k * pitch + o];
			add<BACK>(t, d[o], d[PER * width + o], u, q, fma(u, u, q));
		}
		float g = fma(2 * x[k], t.b, t.a), h = t.c;
		Moments p = pass<EXACT>(prior, z[k], z[PER * in + k]);
		float dm = g * p.mm + h * p.vm, dv = g * p.mv + h * p.vv;
		to[k] = dm, to[PER * in + k] = dv;
		far_g[first + k] = dm, far_h[first + k] = dv;
	}
}

// STAMP notes, in a build that measures phases, how many clocks have passed since the
// start of a block; the outputs, which nobody wants of a step, are the place for it.
#ifdef STAMPS
DEVICE uint32 clocks() { uint32 x; asm volatile("mov.u32 %0, %%clock;" : "=r"(x) :: "memory"); return x; }
#define STAMP(i) if (thread() == 0 && c.back) ((uint32*)c.om)[8 * block() + i] = clocks() - began
#else
#define STAMP(i)
#endif

template <bool EXACT>
DEVICE void run_chain(const Chain& c) {
#ifdef STAMPS
	uint32 began = clocks();
#endif
	double scale = 1.0 / c.batch;
	follow();
	STAMP(0);
	bool stop = failed(c.results); // the copies start meanwhile
	int slot = c.results ? c.results->slot : 0;
	start_weights(c);
	STAMP(1);
	if (block() == 0 && thread() == 0 && c.turn) *c.turn = {slot, !stop};
	for (int turn = 0; turn < c.turns && !stop; turn++) {
		int r0 = (block() * c.turns + turn) * c.per, n = less(c.per, c.rows - r0);
		if (n <= 0) break;
		if (turn > 0) barrier(); // the rows before need their places no more
		gather(c, slot, r0, n);
		STAMP(2);
		if (turn == 0 && c.thin) copies_wait<1>();
		if (turn == 0 && !c.thin) copies_wait<0>();
		barrier();
		for (int i = 0; i + 1 < c.count; i++) {
			forward<EXACT>(c.links[i], c.links[i + 1], i > 0 || c.tv, r0, n);
			STAMP(3 + i);
			if (turn == 0 && i == 0) copies_wait<0>();
			barrier();
		}
		STAMP(5);
		end<EXACT>(c, scale, r0, n);
		STAMP(6);
		for (int i = c.count - 2; c.back && i > 0; i--) {
			barrier();
			backward<EXACT>(c.links[i], c.links[i - 1], r0, n);
		}
		STAMP(7);
	}
}

KERNEL_CHAIN(chain_three, Chain, THREADS, 1) { run_chain<false>(c); }
KERNEL_CHAIN(chain_exact, Chain, THREADS, 1) { run_chain<true>(c); }
