// nn.Conditional with the photon count of an emitter: the target t becomes N + √N·t, with
// N the count expected at the given units x and y. A warp has a row, its threads share
// the points of the rule.
#pragma once
#include "layers.h"

// o.nodes begins with photons, σ and the side of the sensor; behind these o.targets points
// of three numbers and a weight, or none: then N is taken at the means.
// o.table are the units t, x, y. At the means, o.scratch keeps √N and the slopes of N of
// every row for the way back.

DEVICE double caught(double x, double sigma, double side) {
	x = magnitude(x);
	return upper((x - side / 2) / sigma) - upper((side / 2 + x) / sigma);
}
DEVICE double caught_slope(double x, double sigma, double side) {
	return (density((-side / 2 - x) / sigma) - density((side / 2 - x) / sigma)) / sigma;
}

// photons is the count at t, x, y and its slopes.
struct Photons {
	double f, by[3], n[2], root; // n: slopes of N; root: √N
};
CALLED Photons photons(const double* node, double t, double x, double y) {
	constexpr double least = 1e-3;
	double a = caught(x, node[1], node[2]), b = caught(y, node[1], node[2]), n = node[0] * a * b;
	bool low = n < least;
	if (low) n = least;
	double c = root(n), dn = 1 + t / (2 * c);
	double nx = low ? 0 : node[0] * b * caught_slope(x, node[1], node[2]), ny = low ? 0 : node[0] * a * caught_slope(y, node[1], node[2]);
	return {n + c * t, {c, dn * nx, dn * ny}, {nx, ny}, c};
}

// photons_shared is photons for lane 0 of each warp; in is the same for all of its lanes.
// The tails and densities take long, so eight lanes compute one each.
DEVICE Photons photons_shared(const double* node, double t, double x, double y, bool in) {
	constexpr double least = 1e-3;
	int lane = thread() % 32;
	double at = lane & 2 ? y : x, half = node[2] / 2, value = 0; // lanes 0 to 3: tails, 4 to 7: densities
	bool second = lane & 1;
	bool tail = lane < 4;
	if (in && lane < 8) {
		double z = (tail ? (second ? half + magnitude(at) : magnitude(at) - half) : second ? half - at : -half - at) / node[1];
		value = density(tail ? upper_at(z) : z);
		if (tail) value = upper_by(z, value);
	}
	double a = value - swap(value, 1), b = swap(a, 2), da = swap(a, 4) / node[1], db = swap(a, 6) / node[1];
	double n = node[0] * a * b;
	bool low = n < least;
	if (low) n = least;
	double c = root(n), dn = 1 + t / (2 * c);
	double nx = low ? 0 : node[0] * b * da, ny = low ? 0 : node[0] * a * db;
	return {n + c * t, {c, dn * nx, dn * ny}, {nx, ny}, c};
}

// A Spot is a row's three units with a lower triangular root of their covariance.
struct Spot {
	double m[3], l[3][3];
};
DEVICE Spot spot(const Op& o, long long row, double least) {
	Spot s = {};
	for (int i = 0; i < 3; i++) {
		int u = o.table[i];
		s.m[i] = o.m[row * o.in + u];
		for (int j = 0; j <= i; j++) {
			double c = i == j ? (double)o.v[row * o.in + u] : o.cov ? (double)o.cov[(row * o.in + u) * o.in + o.table[j]] : 0.0, all = c;
			for (int k = 0; k < j; k++) c -= s.l[i][k] * s.l[j][k];
			if (i > j) {
				s.l[i][j] = s.l[j][j] > 0 ? c / s.l[j][j] : 0;
				continue;
			}
			if (o.cov && c < 1e-6 * all) c = 1e-6 * all; // the rest is rounding
			double sd = root(c > 0 ? c : 0.0), floor = least * (1 + magnitude(s.m[i]));
			s.l[i][i] = sd > floor ? sd : floor;
		}
	}
	return s;
}
DEVICE Photons photons_at(const Op& o, const Spot& s, const double* z) {
	double x[3];
	for (int i = 0; i < 3; i++) {
		x[i] = s.m[i];
		for (int j = 0; j <= i; j++) x[i] += s.l[i][j] * z[j];
	}
	return photons(o.nodes, x[0], x[1], x[2]);
}

// unroot turns the gradients by a root into those by its square, as package cholesky.
DEVICE void unroot(const double (&l)[3][3], double (&d)[3][3]) {
	for (int i = 2; i >= 0; i--)
		for (int j = i; j >= 0; j--) {
			double a = i == j ? d[i][i] / (2 * l[i][i]) : d[i][j] / l[j][j];
			if (i != j) d[j][j] -= a * l[i][j];
			for (int k = 0; k < j; k++) d[i][k] -= a * l[j][k], d[j][k] -= a * l[i][k];
			d[i][j] = a;
		}
}

// seen are the sums over the points of a row: the count at the means, M and the variance.
struct Seen {
	double f0, shift, var;
};
DEVICE Seen seen(const Op& o, const Spot& s, bool in) {
	double f0 = in ? photons(o.nodes, s.m[0], s.m[1], s.m[2]).f : 0.0, shift = 0, weight = 0, var = 0;
	for (int p = thread() % 32; in && p < o.targets; p += 32) {
		const double* z = o.nodes + 3 + 4 * p;
		shift += z[3] * (photons_at(o, s, z).f - f0), weight += z[3];
	}
	shift = warp_sum(shift), weight = warp_sum(weight);
	for (int p = thread() % 32; in && p < o.targets; p += 32) {
		const double* z = o.nodes + 3 + 4 * p;
		double d = photons_at(o, s, z).f - f0 - shift;
		var += z[3] * d * d;
	}
	var = warp_sum(var) + (1 - weight) * shift * shift;
	return {f0, shift, var > 0 ? var : 0.0};
}

CALLED void conditional(const Op& o, long long r0, int rows) {
	int lane = thread() % 32, r = thread() / 32, target = o.table[0];
	bool in = r < rows;
	long long row = (r0 + (in ? r : 0)) * o.in;
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long at = r0 * o.in + i;
		if (i % o.in == target) continue;
		o.om[at] = o.m[at];
		if (o.ov) o.ov[at] = o.v[at];
	}
	if (o.targets > 0 && o.v) {
		Spot s = spot(o, row / o.in, 0);
		Seen e = seen(o, s, in);
		if (in && lane == 0) o.om[row + target] = (float)(e.f0 + e.shift), o.ov[row + target] = (float)e.var;
		return;
	}
	Photons p = photons_shared(o.nodes, o.m[row + target], o.m[row + o.table[1]], o.m[row + o.table[2]], in);
	if (!in || lane != 0) return;
	o.om[row + target] = (float)p.f;
	if (o.ov) o.ov[row + target] = (float)(p.root * p.root * o.v[row + target]);
	double* kept = o.scratch + 3 * (r0 + r);
	kept[0] = p.root, kept[1] = p.n[0], kept[2] = p.n[1];
}

CALLED void conditional_back(const Op& o, long long r0, int rows) {
	int lane = thread() % 32, r = thread() / 32, target = o.table[0];
	bool in = r < rows;
	long long row = (r0 + (in ? r : 0)) * o.in;
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long at = r0 * o.in + i;
		o.dm[at] = i % o.in == target ? 0.0f : o.g[at];
		for (int j = 0; o.dcov && j < o.in; j++) o.dcov[at * o.in + j] = 0;
		if (o.dv) o.dv[at] = i % o.in == target ? 0.0f : o.h[at];
	}
	barrier();
	double g = o.g[row + target], h = o.h ? (double)o.h[row + target] : 0.0, dm[3] = {0, 0, 0}, dv[3] = {0, 0, 0}, dl[3][3] = {};
	if (o.targets > 0 && o.v) {
		Spot s = spot(o, row / o.in, 1e-5);
		Seen e = seen(o, s, in);
		double used = 0;
		for (int p = lane; in && p < o.targets; p += 32) {
			const double* z = o.nodes + 3 + 4 * p;
			Photons f = photons_at(o, s, z);
			double df = z[3] * (g + (e.var > 0 ? 2 * h * (f.f - e.f0 - e.shift) : 0.0));
			used += df;
			for (int i = 0; i < 3; i++) {
				dm[i] += df * f.by[i];
				for (int j = 0; j <= i; j++) dl[i][j] += df * f.by[i] * z[j];
			}
		}
		used = warp_sum(used);
		Photons f = photons(o.nodes, s.m[0], s.m[1], s.m[2]);
		for (int i = 0; i < 3; i++) {
			dm[i] = warp_sum(dm[i]) + (g - used) * f.by[i];
			for (int j = 0; j <= i; j++)
				if (o.cov || i == j) dl[i][j] = warp_sum(dl[i][j]); // of independent units, only the diagonal counts
				else dl[i][j] = 0;
		}
		unroot(s.l, dl);
		for (int i = 0; i < 3; i++) dv[i] = dl[i][i];
	} else if (in) { // at the means: c²·v varies with N as well
		double t = o.m[row + target], v = o.v ? (double)o.v[row + target] : 0.0;
		const double* kept = o.scratch + 3 * (r0 + r);
		double c = kept[0], by = g + (g * t + 2 * c * v * h) / (2 * c);
		dm[0] = c * g, dv[0] = c * c * h, dm[1] = by * kept[1], dm[2] = by * kept[2];
	}
	if (!in || lane != 0) return;
	for (int i = 0; i < 3; i++) {
		o.dm[row + o.table[i]] += (float)dm[i];
		if (o.dv) o.dv[row + o.table[i]] += (float)dv[i];
		for (int j = 0; o.dcov && j < 3; j++)
			if (i != j) o.dcov[(row + o.table[i]) * o.in + o.table[j]] = (float)(dl[i > j ? i : j][i > j ? j : i] / 2);
	}
}
