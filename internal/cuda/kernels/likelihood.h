// The likelihoods of package likelihood, a row each, in float64.
#pragma once
#include "program.h"

DEVICE double normal_nll(double e, double v, double log) { return 0.91893853320467274178 + 0.5 * log + 0.5 * e * e / v; }
DEVICE double normal_nll(double e, double v) { return normal_nll(e, v, loga(v)); }

// surprise is −ln p and its slope, continued along its tangent below the floor.
DEVICE double surprise(double p, double floor, double* slope, int* floored) {
	if (p < floor) {
		*slope = -1 / floor;
		++*floored;
		return 1 - p / floor - loga(floor);
	}
	*slope = -1 / p;
	return -loga(p);
}

// count is the count n of a target, and NaN if it is below 0. o.nodes, if not null, hold
// for each target the code of 0, the step of a count, and what the log-mean is added to.
DEVICE double count(const Op& o, int i, double y) {
	if (o.nodes) {
		y = (y - o.nodes[3 * i]) / o.nodes[3 * i + 1];
		y = (double)(long long)(y + (y < 0 ? -0.5 : 0.5));
	}
	return y >= 0 ? y : from_bits(0x7ff8000000000000ull);
}

// A Negative is the expected score of a negative binomial count and its derivatives, as
// negativeBinomial of package likelihood.
struct Negative {
	double nll, dm, dv, da;
};
CALLED Negative negative_binomial(double y, double m, double v, double a) {
	if (y != y) return {y, 0, 0, 0};
	double r = expo(-a), sd = v > 0 ? root(v) : 0.0, mean = 0, slope = 0, bend = 0, total = 0;
	double h = 0.9 / (sd > 1 ? sd : 1.0), steps = 8.1 / (h > 0.125 ? h : 0.125);
	int n = v > 0 ? (int)steps + ((double)(int)steps < steps) : 0;
	for (int i = -n; i <= n; i++) {
		double xi = n ? 8.1 / n * i : 0.0, w = expo(-xi * xi / 2), x = m + a + sd * xi, e = expo(-magnitude(x)), p = (x < 0 ? e : 1.0) / (1 + e);
		mean += w * ((x > 0 ? x : 0.0) + loga(1 + e)), slope += w * p, bend += w * p * (1 - p), total += w;
	}
	mean /= total, slope /= total, bend /= total;
	return {log_gamma(r) + log_factorial(y) - log_gamma(y + r) - y * (m + a) + (y + r) * mean, (y + r) * slope - y, (y + r) * bend / 2,
		r * (digamma(y + r) - digamma(r)) - y - r * mean + (y + r) * slope};
}

// poisson is the expected score of a count and its derivatives.
DEVICE Negative poisson(double y, double m, double v, int* floored) {
	double x = m + v / 2, slope = expo(x < 30 ? x : 30), rate = slope;
	if (x > 30) rate *= 1 + x - 30, ++*floored;
	return {rate - y * m + log_factorial(y), slope - y, slope / 2, 0};
}

// score writes the negative log-likelihood of a row, and its gradient divided by the
// rows of the batch.
CALLED void score(const Op& o, int batch, long long row) {
	const double bad = from_bits(0x7ff8000000000000ull);
	int n = o.in, k = o.targets - o.weighted, floored = 0;
	const float *y = o.y + row * o.targets, *m = o.m + row * n, *v = o.v ? o.v + row * n : 0;
	float *dm = o.dm + row * n, *dv = o.dv ? o.dv + row * n : 0;
	double nll = 0, weight = o.weighted ? (double)y[k] : 1.0, scale = 1.0 / batch;
	if (!(weight >= 0) || !is_finite(weight)) weight = bad;
	scale *= weight;
	auto set = [&](int i, double gm, double gv) {
		dm[i] = (float)(gm * scale);
		if (dv) dv[i] = (float)(gv * scale);
	};
	switch (o.likelihood) {
	case NORMAL:
		for (int i = 0; i < n; i++) {
			double var = v ? (double)v[i] : 0.0, e = (double)m[i] - y[i];
			bool low = var < o.p;
			if (low) var = o.p, floored++;
			nll += normal_nll(e, var);
			double gv = 0.5 / var * (1 - e * e / var);
			set(i, e / var, low && gv > 0 ? 0 : gv);
		}
		break;
	case EXPECTED_NORMAL:
		for (int i = 0; i < n; i++) {
			double t = o.p * o.p, e = (double)m[i] - y[i];
			nll += normal_nll(e, t) + 0.5 * (v ? (double)v[i] : 0.0) / t;
			set(i, e / t, 0.5 / t);
		}
		break;
	case HETEROSCEDASTIC: { // with a common noise in the part o.q of the score
		double least = loga(o.p), c = o.q;
		for (int i = 0; i < k; i++) {
			double e = (double)m[i] - y[i], half = v ? v[k + i] / 2.0 : 0.0, at = m[k + i] - half;
			bool low = at < least;
			if (low) at = least, floored++;
			double w = expo(-at), q = w * ((v ? (double)v[i] : 0.0) + e * e), da = 0.5 * (1 - q);
			nll += (1 - c) * (0.91893853320467274178 + 0.5 * (at + half + q));
			if (low && da > 0) da = 0;
			set(k + i, (1 - c) * da, (1 - c) * (0.25 - 0.5 * da));
			double gm = (1 - c) * w * e, gv = (1 - c) * 0.5 * w;
			if (c > 0) {
				at = m[2 * k + i], low = at < least;
				if (low) at = least;
				w = expo(-at), q = w * ((v ? (double)v[i] : 0.0) + e * e);
				nll += c * (0.91893853320467274178 + 0.5 * (at + q));
				gm += c * w * e, gv += 0.5 * c * w;
				set(2 * k + i, low && q < 1 ? 0 : 0.5 * c * (1 - q), 0);
			}
			set(i, gm, gv);
		}
		break;
	}
	case TOTAL: // the same, of which the predicted Normal is scored as a whole
		for (int i = 0; i < k; i++) {
			double e = (double)m[i] - y[i], var = v ? (double)v[i] : 0.0, gm = 0, gv = 0;
			for (int common = 0; common < (o.q > 0 ? 2 : 1); common++) {
				double part = common ? o.q : 1 - o.q, at = m[(1 + common) * k + i] + (v && !common ? v[k + i] / 2.0 : 0.0);
				double noise = expo(at < 690 ? at : 690.0), all = var + noise;
				bool low = all < o.p;
				if (low) all = o.p, floored += !common;
				double by = 0.5 * (1 - e * e / all);
				if (low && by > 0) by = 0;
				nll += part * normal_nll(e, all);
				gm += part * e / all, gv += part * by / all;
				double log = at < 690 ? part * by * (noise / all) : 0.0;
				set((1 + common) * k + i, log, common ? 0.0 : log / 2);
			}
			set(i, gm, gv);
		}
		break;
	case CATEGORICAL: {
		for (int i = 0; i < n; i++) set(i, 0, 0);
		int c = (int)y[0];
		if (!(y[0] >= 0 && y[0] < n && (float)c == y[0])) {
			nll = bad;
			break;
		}
		double slope;
		nll = surprise(m[c], o.p, &slope, &floored);
		set(c, slope, 0);
		break;
	}
	case BERNOULLI:
		for (int i = 0; i < n; i++) {
			double t = y[i], g = 0, slope;
			if (!(t >= 0 && t <= 1)) nll = bad;
			if (t > 0) nll += t * surprise(m[i], o.p, &slope, &floored), g += t * slope;
			if (t < 1) nll += (1 - t) * surprise(1 - (double)m[i], o.p, &slope, &floored), g -= (1 - t) * slope;
			set(i, g, 0);
		}
		break;
	case POISSON:
		for (int i = 0; i < n; i++) {
			Negative s = poisson(y[i], m[i], v ? (double)v[i] : 0.0, &floored);
			nll += y[i] >= 0 ? s.nll : bad;
			set(i, s.dm, s.dv);
		}
		break;
	case COUNT: // with o.q, outputs behind are log-dispersions
		for (int i = 0; i < k; i++) {
			double c = count(o, i, y[i]), mean = m[i] + (o.nodes ? o.nodes[3 * i + 2] : 0.0), var = v ? (double)v[i] : 0.0;
			if (!o.q) {
				Negative s = poisson(c == c ? c : 0.0, mean, var, &floored);
				nll += c == c ? s.nll : bad;
				set(i, s.dm, s.dv);
				continue;
			}
			double raw = m[k + i], a = raw < -12 ? -12 : raw > 5 ? 5 : raw;
			Negative s = negative_binomial(c, mean, var, a);
			nll += s.nll;
			set(i, s.dm, s.dv);
			if (a != raw) { // beyond a bound, only the way back counts
				floored++;
				if ((a < raw) == (s.da < 0)) s.da = 0;
			}
			set(k + i, s.da, 0);
		}
		break;
	}
	o.nll[row] = weight * nll;
	o.floored[row] = floored;
}

// score_rows writes the scores of up to MOST_SCORED neighbouring rows. With the plain Normal
// likelihood, a thread has an output; the scores of a row are added in their order.
constexpr int MOST_SCORED = 16;
DEVICE void score_rows(const Op& o, int batch, long long r0, int rows) {
	constexpr int MOST = 16; // outputs
	if (o.likelihood != NORMAL || o.weighted || o.in > MOST) {
		if (thread() < rows) score(o, batch, r0 + thread());
		return;
	}
	SHARED double scores[MOST_SCORED][MOST];
	SHARED int low[MOST_SCORED][MOST];
	int n = o.in;
	double scale = 1.0 / batch;
	for (int i = thread(); i < rows * n; i += threads()) {
		long long at = r0 * n + i;
		double var = o.v ? (double)o.v[at] : 0.0, e = (double)o.m[at] - o.y[(r0 + i / n) * o.targets + i % n];
		bool floored = var < o.p;
		if (floored) var = o.p;
		double gv = 0.5 / var * (1 - e * e / var);
		o.dm[at] = (float)(e / var * scale);
		if (o.dv) o.dv[at] = (float)((floored && gv > 0 ? 0 : gv) * scale);
		scores[i / n][i % n] = normal_nll(e, var), low[i / n][i % n] = floored;
	}
	barrier();
	if (thread() >= rows) return;
	double nll = 0;
	int floored = 0;
	for (int i = 0; i < n; i++) nll += scores[thread()][i], floored += low[thread()][i];
	o.nll[r0 + thread()] = nll, o.floored[r0 + thread()] = floored;
}
