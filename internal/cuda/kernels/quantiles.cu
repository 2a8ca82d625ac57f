// Central intervals of mixtures of Normals, as dist.Mixture finds them: Halley's method on
// the logarithm of a tail, within a bracket. A thread has one end of one number's interval.
#include "layers.h"

struct Quantiles {
	const float *m, *v;   // of each member, one behind the other
	const double* shapes; // of each target: weights and factors of the variance, parts of each
	double* out;          // lower and upper end of each number
	int n, room, members, targets, parts, pad;
	double p, z;          // of the lower end: its probability and the Normal's quantile
};

// A Mixture is that of one number.
struct Mixture {
	const float *m, *v;
	const double *w, *r;
	int members, parts, room;
	double total;

	template <class Visit>
	METHOD void each(Visit visit) const {
		for (int k = 0; k < members; k++) {
			double mu = m[(long long)k * room], variance = v[(long long)k * room];
			for (int j = 0; j < parts; j++)
				if (w[j] > 0) visit(w[j], mu, root(variance * r[j]));
		}
	}
};

// halley returns the step from x, and whether x lies above the quantile.
DEVICE double halley(const Mixture& d, double x, double side, double target, bool* above) {
	double tail = 0, density = 0, slope = 0;
	d.each([&](double w, double mu, double sigma) {
		double inv = 1 / sigma, z = side * ((x - mu) * inv), f = w * inv * expo(-0.5 * z * z);
		tail += w * 2 * upper(-z);
		density += f;
		slope -= f * z * inv;
	});
	tail /= 2 * d.total;
	double h = density * 0.39894228040143267794 / d.total / tail, n = -loga(tail / target) / h;
	double c = 1 + 0.5 * n * (slope / density - h);
	n /= c < 0.5 ? 0.5 : c > 2 ? 2 : c;
	*above = side * (tail - target) > 0;
	return side * n;
}

KERNEL(quantiles, Quantiles, 128) {
	int i = block() * 128 + thread();
	if (i >= 2 * a.n) return;
	int e = i / 2, t = e % a.targets;
	double side = i % 2 ? -1 : 1, z = side * a.z;
	Mixture d = {a.m + e, a.v + e, a.shapes + 2 * t * a.parts, a.shapes + (2 * t + 1) * a.parts, a.members, a.parts, a.room, 0};
	double mean = 0, lo = from_bits(0x7ff0000000000000ull), hi = -lo, least = lo;
	d.each([&](double w, double mu, double sigma) {
		double x = mu + z * sigma;
		if (x < lo) lo = x;
		if (x > hi) hi = x;
		if (sigma < least) least = sigma;
		d.total += w, mean += w * mu;
	});
	mean /= d.total;
	double variance = 0;
	d.each([&](double w, double mu, double sigma) { variance += w / d.total * (sigma * sigma + (mu - mean) * (mu - mean)); });
	double x = mean + z * root(variance), last = hi - lo;
	x = x < lo ? lo : x > hi ? hi : x;
	for (int turn = 0; turn < 200 && is_finite(x); turn++) {
		bool above;
		double step = halley(d, x, side, a.p, &above);
		if (magnitude(step) <= 1e-6 * least) {
			x += step;
			x = x < lo ? lo : x > hi ? hi : x;
			break;
		}
		if (above) hi = x;
		else lo = x;
		double next = x + step;
		if (!(next > lo && next < hi) || magnitude(step) > last) next = lo + (hi - lo) / 2;
		if (next == x) break;
		last = magnitude(next - x), x = next;
	}
	a.out[i] = x;
}
