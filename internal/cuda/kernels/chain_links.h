// The layers of a chain, their function, and how their weights come into shared memory.
#pragma once
#include "chain.h"
#include "chain_product.h"

// A Link is a dense layer with the function behind it. Offsets are numbers in shared
// memory, those of signals in that of a group; variances, or gradients by them, lie PER rows behind the means. Rows of inputs are
// input_pitch apart, all others output_pitch.
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
	double p, scale;             // least variance of the likelihood; one by the rows that share the loss
	int thin, scratch, broad;    // thin: the first layer has few inputs; broad: links that are products
	int groups, signals, span;   // groups of a block; where their signals begin, and how many numbers they are
};
static_assert(sizeof(Link) == 136 && sizeof(Chain) == 136 * MOST_LINKS + 176, "");

DEVICE Near here(int at) { return near(dynamic() + at); }
DEVICE Near here(const Group& g, int at) { return near(dynamic() + g.base + at); }

// three_points is leaky_three without a branch and with one inverse for its divisions, so
// that a thread can compute two of them beside one another.
DEVICE Moments three_points(const Link& l, float m, float v) {
	float a = l.a, x1 = l.three[1], x2 = l.three[2], w0 = l.three[3], w1 = l.three[4], w2 = l.three[5];
	float s = quick_root(v), d1 = x1 * s, d2 = x2 * s, by = s > 0 ? quick_inverse(s) : 0.0f;
	float g0 = m > 0 ? 1.0f : a, g1 = m + d1 > 0 ? 1.0f : a, g2 = m + d2 > 0 ? 1.0f : a;
	float e1 = fma(g1 - g0, m, d1 * g1), e2 = fma(g2 - g0, m, d2 * g2), M = fma(w1, e1, w2 * e2);
	float q0 = w0 * M, q1 = w1 * (e1 - M), q2 = w2 * (e2 - M), t1 = q1 * g1, t2 = q2 * g2;
	Moments o = {};
	o.m = fma(m, g0, M), o.v = fma(q0, M, fma(q1, e1 - M, q2 * (e2 - M)));
	o.mm = fma(w0, g0, fma(w1, g1, w2 * g2)), o.mv = fma(w1 * x1, g1, w2 * x2 * g2) * (0.5f * by);
	o.vm = 2 * (t1 + t2 - q0 * g0), o.vv = s > 0 ? fma(t1, x1, t2 * x2) * by : g0 * g0;
	return o;
}

// pass is the function of a link.
template <bool EXACT>
DEVICE Moments pass(const Link& l, float m, float v) {
	if (EXACT) return leaky_exact(l.a, m, v);
	return three_points(l, m, v);
}

// start_weights starts copying the weights: first the biases and thin matrices, an array by
// each warp; then the broad ones, 32 rows at a time, of which the fourth are all that are left.
DEVICE void start_weights(const Chain& c) {
	int lane = thread() % 32, warp = thread() / 32;
#pragma unroll 1
	for (int i = warp; i < 4 * c.count; i += THREADS / 32) {
		const Link& l = c.links[i / 4];
		bool matrix = i % 4 < 2;
		if (matrix && less(l.in, l.out) > SHALLOW) continue;
		const float* from = (&l.w)[i % 4];
		float* to = dynamic() + (&l.at_w)[i % 4];
		int n = matrix ? l.in * l.out : l.out;
#pragma unroll 4
		for (int j = lane; j < n; j += 32) copy4(to + j, from + j, true);
	}
	copies_end();
#pragma unroll 1
	for (int i = 0; i < c.count; i++) {
		const Link& l = c.links[i];
		int in = l.in, out = l.out, pitch = l.pitch;
		if (less(in, out) <= SHALLOW) continue;
		const float *w = l.w, *s = l.s;
		float *to_w = dynamic() + l.at_w, *to_s = dynamic() + l.at_s;
#pragma unroll 1
		for (int part = 0; part < 4; part++) {
			int end = part == 3 ? in : less(in, 32 * part + 32);
#pragma unroll 1
			for (int q = 4 * lane; q < out; q += 128)
#pragma unroll 2
				for (int r = 32 * part + warp; r < end; r += THREADS / 32) {
					copy16(to_w + r * pitch + q, w + r * out + q, true);
					copy16(to_s + r * pitch + q, s + r * out + q, true);
				}
			copies_end();
		}
	}
}
