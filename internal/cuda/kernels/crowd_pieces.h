// The numbers of a crowd's network beside the weights of its broad layer: thin layers, biases and a noise, in pieces of 32. A
// warp has a piece, a lane a number. The engine deals the pieces to the warps of both blocks; those of the broad layer's
// bias lie in the block that sums up their gradients, which come later.
#pragma once
#include "crowd_step.h"
#include "crowd_sums.h"

// A Small says which number a lane has.
struct Small {
	const Chunk& t;
	int at, kept; // of the chunk; where the piece keeps its gradients
	bool live, noise, late; // late: of the broad layer's bias
};
// each_piece calls f with the pieces of a warp.
template <class F>
DEVICE void each_piece(const Learner& s, F f) {
	int lane = thread() % 32, warp = of_warp(thread() / 32);
#pragma unroll 1
	for (int i = 0; i < PIECES; i++) {
		int piece = s.desk().dealt[warp][i], chunk = piece % 16;
		if (piece < 0) break;
		const Chunk& t = s.desk().chunks[chunk];
		int at = t.lo + piece / 16 * 32 + lane;
		f(Small{t, at, i, at < t.hi, chunk == s.c.noise, chunk == s.c.broad});
	}
}

// add_parts adds up the parts of a gradient, in a fixed order; sixteen are on their way at a time.
DEVICE void add_parts(const Norm& a, int parts, long long mean, long long rho, float& g, float& gr) {
	const float *by_mean = a.grad + mean, *by_rho = a.grad + rho;
	g = gr = 0;
#pragma unroll 1
	for (; parts > 0; parts -= 16) {
		float x[16], y[16];
#pragma unroll
		for (int i = 0; i < 16; i++) {
			x[i] = y[i] = 0;
			if (i < parts) x[i] = fresh(by_mean), y[i] = fresh(by_rho);
			by_mean += a.size, by_rho += a.size;
		}
#pragma unroll
		for (int i = 0; i < 16; i++) g += x[i], gr += y[i];
	}
}

// read_small reads the parameters of a number: its mean, from the centre of its prior, and its ρ.
DEVICE Two32 read_small(const Learner& s, const Small& p) {
	const Adam& a = s.c.update.adam;
	const Chunk& t = p.t;
	Two32 o = {};
	if (p.live) o.x[0] = fresh(a.theta + t.mean + p.at), o.x[1] = t.random ? fresh(a.theta + t.rho + p.at) : 0.0f;
	if (p.live && t.center) o.x[0] -= t.center[p.at];
	return o;
}

// weigh_piece keeps the gradients of a piece, given those of the score, and adds its KL and squared norm.
DEVICE void weigh_piece(const Learner& s, const Two32& at, const Small& p, float g, float gr, double& kl, double& norm2) {
	const Chunk& t = p.t;
	const float mu = at.x[0], rho = at.x[1];
	if (p.noise) { // it adds to the variances as the last bias does
		Wide w = widen(mu);
		g *= 2 * w.sigma * w.slope;
	}
	float x = 0;
	if (t.random) x = Pull(t, s.desk().control).weigh(mu, rho, g, gr);
	else gr = 0;
	float(&kept)[2][32] = s.desk().pieces[thread() / 32][p.kept];
	kept[0][thread() % 32] = g, kept[1][thread() % 32] = gr;
	if (p.live) kl += x, norm2 += (double)g * g + (double)gr * gr;
}

// weigh_small weighs all pieces whose gradients the pass left; weigh_biases those of the broad layer's bias.
DEVICE void weigh_small(const Learner& s, double& kl, double& norm2) {
	each_piece(s, [&](const Small& p) INLINED {
		if (p.late) return;
		const int at = p.live ? p.at : p.t.lo;
		const long long mean = (p.noise ? s.c.last : p.t.mean) + at;
		const Two32 numbers = read_small(s, p);
		float g, gr;
		add_parts(s.c.update.norm, p.t.parts, mean, p.t.random ? p.t.rho + at : mean, g, gr);
		weigh_piece(s, numbers, p, g, gr, kl, norm2);
	});
}
DEVICE void weigh_biases(const Learner& s, double& kl, double& norm2) {
	each_piece(s, [&](const Small& p) INLINED {
		if (!p.late) return;
		const int at = p.at - s.rank * INPUTS;
		float g[2] = {};
#pragma unroll
		for (int i = 0; i < 8; i++) g[i / 4] += s.desk().biases[i / 4][i % 4][at];
		weigh_piece(s, read_small(s, p), p, g[0], g[1], kl, norm2);
	});
}

// move_pieces makes the step of all pieces.
DEVICE void move_pieces(const Learner& s, const Pace& pace) {
	const Adam& a = s.c.update.adam;
	const Control& k = s.desk().control;
	each_piece(s, [&](const Small& p) INLINED {
		if (!p.live) return;
		const Chunk& t = p.t;
		const float(&kept)[2][32] = s.desk().pieces[thread() / 32][p.kept];
		const long long mean = t.mean + p.at, rho = t.rho + p.at;
		float x = fresh(a.theta + mean), m1 = fresh(a.first + mean), m2 = fresh(a.second + mean), y = 0, r1 = 0, r2 = 0, center = t.center ? t.center[p.at] : 0.0f;
		if (t.random) y = fresh(a.theta + rho), r1 = fresh(a.first + rho), r2 = fresh(a.second + rho);
		x -= center;
		pace.move(t.no_decay ? 1.0f : k.keep_mean, x, kept[0][thread() % 32], m1, m2);
		a.theta[mean] = x + center, a.first[mean] = m1, a.second[mean] = m2;
		if (!t.random) return;
		pace.move(k.keep_rho, y, kept[1][thread() % 32], r1, r2);
		a.theta[rho] = y, a.first[rho] = r1, a.second[rho] = r2, t.s[p.at] = variance_of(y);
	});
}
