// Training by drawn networks: weights are drawn for a network of numbers, and its gradients
// become those by means and variances.
#include "optim.h"
#include "random.h"

// A Piece is a stretch of a tensor whose weights are drawn together: n parameters at mean
// and rho of theta, numbers at to of the drawn network, unit the first one of its stream.
struct Piece {
	long long mean, rho, to;
	int n, random, tensor, unit;
	int parts, pad; // partial gradients
};

struct Draws {
	const Piece* pieces;
	int count, rows;
	const float* theta;
	float *drawn, *slope;       // weights, and ε/(2σ) of each
	const float* from;          // partial gradients of the drawn network, one behind the other
	long long size;             // of one of them
	float* grad;                // means over the draws
	const double* nll;          // of a draw, by row
	const int* floored;
	double* mean_nll;           // over the draws
	int* all_floored;
	const Control* control;
	const Result* results;
	uint32 layer;               // the first number of the streams
	int number, draws;          // the draw under way, of so many
};

constexpr float LEAST_SIGMA = 1e-18f; // keeps ε/(2σ) finite

// draw_weights draws the weights of a piece: w = μ + σε. Four samples of a unit are spread
// over the quarters of a piece, as package vi does.
KERNEL_MANY(draw_weights, Draws, OPT, 1, block_y) {
	if (failed(a.results)) return;
	const Piece p = a.pieces[block()];
	const float *mean = a.theta + p.mean, *rho = a.theta + p.rho;
	float *w = a.drawn + p.to, *slope = a.slope + p.to;
	if (!p.random) {
		for (int i = thread(); i < p.n; i += OPT) w[i] = mean[i];
		return;
	}
	const Control& k = a.control[a.results->slot];
	Key key = sub_key(k.seed, k.step, a.layer | (uint32)a.number);
	int quads = (p.n + 3) / 4;
	for (int q = thread(); q < quads; q += OPT) {
		Four z = normals(key, (uint64)p.tensor, (uint32)(p.unit + q), 0);
		float eps[4] = {z.a, z.b, z.c, z.d};
#pragma unroll
		for (int s = 0; s < 4; s++) {
			int i = s * quads + q;
			if (i >= p.n) continue;
			float sigma = softplus(rho[i]);
			if (sigma < LEAST_SIGMA) sigma = LEAST_SIGMA;
			w[i] = mean[i] + sigma * eps[s], slope[i] = eps[s] / (2 * sigma);
		}
	}
}

// gather_draws adds the gradients of a piece to their means over the draws: g by the mean,
// g·ε/(2σ) by the variance. The last block does so for the scores of the rows.
KERNEL_MANY(gather_draws, Draws, OPT, 1, block_y) {
	if (failed(a.results)) return;
	bool first = a.number == 0;
	if (block() == a.count) {
		double share = 1.0 / a.draws;
		for (int i = thread(); i < a.rows; i += OPT) {
			a.mean_nll[i] = (first ? 0.0 : a.mean_nll[i]) + a.nll[i] * share;
			a.all_floored[i] = (first ? 0 : a.all_floored[i]) + a.floored[i];
		}
		return;
	}
	const Piece p = a.pieces[block()];
	float share = 1.0f / a.draws;
	for (int i = thread(); i < p.n; i += OPT) {
		const float* from = a.from + p.to + i;
		float g = *from;
		for (int j = 1; j < p.parts; j++) g += from[j * a.size];
		g *= share;
		float *gm = a.grad + p.mean + i, *gv = a.grad + p.rho + i;
		*gm = (first ? 0.0f : *gm) + g;
		if (p.random) *gv = (first ? 0.0f : *gv) + g * a.slope[p.to + i];
	}
}
