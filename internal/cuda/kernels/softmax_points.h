// Softmax of Normal logits by the points of a joint rule, as joint_tile.go of package
// moment. A warp has a row, and each of its threads every 32nd logit.
#pragma once
#include "joint.h"

// o.nodes holds the points, each followed by its weight, o.targets how many there are and
// o.likelihood how many groups they form. With o.f.rule set to SAMPLES, they are drawn.
struct Points {
	const Op& o;
	int d, lane;
	bool in;             // the warp has a row
	long long row;
	Key key;
	uint64 drawn;        // row of the draws
	double *f0, *var, *y, *z, *shift, *l, *dl; // in the scratch of the row; l: root of the covariance
};
DEVICE int point_scratch(int d, int groups) { return (6 + groups) * d + 2 * d * d; }

DEVICE Points points_of(const Op& o, const Control& k, long long r0, int rows) {
	int d = o.in, r = thread() / 32;
	bool in = r < rows, draws = o.f.rule == SAMPLES;
	long long row = r0 + (in ? r : 0);
	double *s = o.scratch + row * point_scratch(d, o.likelihood), *shift = s + 4 * d, *l = shift + o.likelihood * d;
	return {o, d, thread() % 32, in, row, draws ? sub_key(k.seed, k.step, o.f.index) : Key{0, 0}, k.row + row, s, s + d, s + 2 * d, s + 3 * d, shift, l, l + d * d};
}

DEVICE double weight(const Points& s, int p) { return s.o.f.rule == SAMPLES ? 1.0 / s.o.targets : s.o.nodes[(long long)p * (s.d + 1) + s.d]; }
DEVICE double spread_of(const Points& s) { return s.o.f.rule == SAMPLES ? s.o.targets / (s.o.targets - 1.0) : 1.0; } // n/(n−1)

// point_at writes the softmax at point p to y; −1 is the mean. It returns the point's
// standardised coordinates.
DEVICE const double* point_at(const Points& s, int p) {
	const Op& o = s.o;
	const double* z = o.nodes + (long long)p * (s.d + 1);
	if (p >= 0 && o.f.rule == SAMPLES) {
		barrier(); // the last point has been used
		for (int i = s.lane; s.in && i < s.d; i += 32) {
			Four four = normals(s.key, s.drawn, i, p / 4);
			s.z[i] = p % 4 == 0 ? four.a : p % 4 == 1 ? four.b : p % 4 == 2 ? four.c : four.d;
		}
		barrier();
		z = s.z;
	}
	double top = -1e300, sum = 0;
	for (int i = s.lane; s.in && i < s.d; i += 32) {
		double x = o.m[s.row * s.d + i];
		if (p >= 0 && !o.cov) x += s.l[i] * z[i];
		for (int j = 0; p >= 0 && o.cov && j <= i; j++) x += s.l[i * s.d + j] * z[j];
		s.y[i] = x, top = x > top ? x : top;
	}
	top = warp_most(top);
	for (int i = s.lane; s.in && i < s.d; i += 32) s.y[i] = expo(s.y[i] - top), sum += s.y[i];
	sum = warp_sum(sum);
	for (int i = s.lane; s.in && i < s.d; i += 32) s.y[i] /= sum;
	return z;
}

// roots writes σ, or the lower root of the covariance, to l; none below least·(1+|m|).
DEVICE void roots(const Points& s, double least) {
	const Op& o = s.o;
	int d = s.d;
	const float* m = o.m + s.row * d;
	if (o.f.rule == SAMPLES) least = 0;
	for (int i = s.lane; s.in && !o.cov && i < d; i += 32) {
		double sd = root((double)o.v[s.row * d + i]), small = least * (1 + magnitude((double)m[i]));
		s.l[i] = sd > small ? sd : small;
	}
	if (o.cov && s.in && s.lane == 0) {
		const float* c = o.cov + s.row * d * d;
		for (int i = 0; i < d; i++)
			for (int j = 0; j <= i; j++) {
				double t = c[i * d + j], noise = 1e-6 * c[i * d + i], pivot = s.l[j * d + j];
				for (int k = 0; k < j; k++) t -= s.l[i * d + k] * s.l[j * d + k];
				if (i != j) {
					s.l[i * d + j] = pivot == 0 ? 0.0 : t / pivot;
					continue;
				}
				double sd = root(t > noise ? t : noise), small = least * (1 + magnitude((double)m[i]));
				s.l[i * d + i] = sd > small ? sd : small;
			}
	}
	barrier();
}

// sums fills f0, shift and var: the values at the means, M of each group, the variances.
DEVICE void sums_of(const Points& s) {
	int n = s.o.targets, groups = s.o.likelihood, each = n / groups;
	double c = spread_of(s);
	point_at(s, -1);
	for (int i = s.lane; s.in && i < s.d; i += 32) {
		s.f0[i] = s.y[i], s.var[i] = 0;
		for (int g = 0; g < groups; g++) s.shift[g * s.d + i] = 0;
	}
	double rest = 1;
	for (int p = 0; p < n; p++) {
		point_at(s, p);
		double w = weight(s, p), *shift = s.shift + p / each * s.d;
		rest -= w;
		bool last = p % each == each - 1;
		for (int i = s.lane; s.in && i < s.d; i += 32) {
			shift[i] += w * (s.y[i] - s.f0[i]);
			if (last) s.var[i] += c * rest * shift[i] * shift[i];
		}
		if (last) rest = 1;
	}
	for (int p = 0; p < n; p++) {
		point_at(s, p);
		double w = weight(s, p), *shift = s.shift + p / each * s.d;
		for (int i = s.lane; s.in && i < s.d; i += 32) {
			double e = s.y[i] - s.f0[i] - shift[i];
			s.var[i] += c * w * e * e;
		}
	}
}

CALLED void softmax_points(const Op& o, const Control& k, long long r0, int rows) {
	if (!o.v) {
		softmax(o, r0, rows);
		return;
	}
	Points s = points_of(o, k, r0, rows);
	roots(s, 0);
	sums_of(s);
	int groups = o.likelihood;
	for (int i = s.lane; s.in && i < s.d; i += 32) {
		double mean = s.f0[i];
		for (int g = 0; g < groups; g++) mean += s.shift[g * s.d + i];
		o.om[s.row * s.d + i] = (float)mean, o.ov[s.row * s.d + i] = s.var[i] > 0 ? (float)s.var[i] : 0.0f;
	}
}

// pull_point adds the gradients dy by the softmax in y, in var's place, to those by the
// logits; z are the coordinates of the point, null at the mean.
DEVICE void pull_point(const Points& s, const double* z, const double* dy) {
	double shared = 0;
	for (int i = s.lane; s.in && i < s.d; i += 32) shared += s.y[i] * dy[i];
	shared = warp_sum(shared);
	for (int i = s.lane; s.in && i < s.d; i += 32) {
		double dx = s.y[i] * (dy[i] - shared);
		s.f0[i] += dx; // by the mean
		for (int j = s.o.cov ? 0 : i; z && j <= i; j++) s.dl[i * s.d + j] += dx * z[j];
	}
}

CALLED void softmax_points_back(const Op& o, const Control& k, long long r0, int rows) {
	if (!o.v) {
		softmax_back(o, r0, rows);
		return;
	}
	Points s = points_of(o, k, r0, rows);
	int d = s.d, n = o.targets, each = n / o.likelihood;
	const float *g = o.g + s.row * d, *h = o.h + s.row * d;
	double c = spread_of(s), *dy = s.dl + d * d, *left = dy + d; // left: gradients by the values at the mean
	roots(s, 1e-5);
	sums_of(s);
	for (int i = s.lane; s.in && i < d; i += 32) {
		left[i] = g[i];
		for (int e = 0; e < o.likelihood; e++) s.shift[e * d + i] += s.f0[i];
		s.f0[i] = 0;
		for (int j = 0; j < d; j++) s.dl[i * d + j] = 0;
	}
	for (int p = 0; p < n; p++) {
		const double *z = point_at(s, p), *shift = s.shift + p / each * d;
		for (int i = s.lane; s.in && i < d; i += 32) {
			double by = g[i] + (s.var[i] > 0 ? 2 * c * h[i] * (s.y[i] - shift[i]) : 0.0);
			dy[i] = weight(s, p) * by, left[i] -= dy[i];
		}
		pull_point(s, z, dy);
	}
	point_at(s, -1);
	pull_point(s, 0, left);
	barrier();
	for (int i = s.lane; s.in && i < d; i += 32) {
		o.dm[s.row * d + i] = (float)s.f0[i];
		if (!o.cov) o.dv[s.row * d + i] = s.l[i] > 0 ? (float)(s.dl[i * d + i] / (2 * s.l[i])) : 0.0f;
	}
	if (!o.cov || !s.in || s.lane != 0) return;
	double *l = s.l, *dl = s.dl; // the gradients by the root become those by its square
	for (int i = d - 1; i >= 0; i--)
		for (int j = i; j >= 0; j--) {
			double pivot = l[j * d + j], a = pivot == 0 ? 0.0 : i == j ? dl[i * d + i] / (2 * pivot) : dl[i * d + j] / pivot;
			if (i != j) dl[j * d + j] -= a * l[i * d + j];
			for (int q = 0; q < j; q++) dl[i * d + q] -= a * l[j * d + q], dl[j * d + q] -= a * l[i * d + q];
			if (i == j) o.dv[s.row * d + i] = (float)a;
			o.dcov[(s.row * d + i) * d + j] = o.dcov[(s.row * d + j) * d + i] = i == j ? 0.0f : (float)(a / 2);
		}
}
