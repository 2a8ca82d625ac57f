// nn.Periodic: units and waves of them with learned frequencies.
#pragma once
#include "program.h"
#include "closed.h"

// A Wave is that of package nn: the moments of sin wx, or of the wave a quarter ahead, and
// their derivatives by m, v and w. slope is Cov(f, x)/v; sm, sv and sw are its derivatives.
struct Wave {
	double mean, var, slope, mv, mw, vm, vv, vw, sm, sv, sw;
};
CALLED Wave wave_moments(bool ahead, double m, double v, double w) {
	double s, c;
	turns(w * m, &s, &c);
	if (ahead) {
		double t = s;
		s = c, c = -t;
	}
	double t = w * w * v, root = expo(-t / 2), q = root * root, p = less_one(t), s1 = root * s, c1 = root * c;
	double by_phase = -2 * p * q * s * c, by_t = q * (s * s * p + c * c * q); // of the variance
	double slope = w * c1;
	return {s1, p * (p / 2 + q * c * c), slope, -w * w * s1 / 2, m * c1 - w * v * s1, w * by_phase, w * w * by_t, m * by_phase + 2 * w * v * by_t,
		-w * w * s1, -w * w * slope / 2, c1 - w * m * s1 - w * v * slope};
}

DEVICE float angular(const Op& o, int k) { return (float)(2 * PI * (double)o.raw[k]); }

// periodic writes the units, their sines and their cosines. o.raw holds the frequencies;
// o.table is as for piecewise.
CALLED void periodic(const Op& o, long long r0, int rows) {
	int n = (o.out - o.in) / 2;
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long row = (r0 + i / o.out) * o.in, at = r0 * o.out + i;
		int u = i % o.out, f = u - o.in;
		if (f < 0) {
			o.om[at] = o.m[row + u];
			if (o.ov) o.ov[at] = o.v[row + u];
			if (o.tape) o.tape[at] = 0, o.dm[at] = 1;
			continue;
		}
		float x = o.m[row + o.table[f]], w = angular(o, f % n), s, c;
		if (!o.v) {
			sine_cosine(w * x, &s, &c);
			o.om[at] = f < n ? s : c;
			continue;
		}
		double v = o.v[row + o.table[f]];
		Wave y = wave_moments(f >= n, x, v, w);
		o.om[at] = (float)y.mean, o.ov[at] = (float)y.var;
		double rest = y.var - y.slope * y.slope * v; // below 0 by rounding alone
		if (o.tape) o.tape[at] = rest > 0 ? (float)rest : 0.0f, o.dm[at] = (float)y.slope;
	}
}

// A PeriodicGradient has the gradients by mean and variance of a unit and by w that come
// through one feature.
struct PeriodicGradient {
	float m, v, w;
};
DEVICE PeriodicGradient feature_back(const Op& o, long long r, int f) {
	int n = (o.out - o.in) / 2, j = o.table[f];
	long long at = r * o.out + o.in + f;
	float x = o.m[r * o.in + j], w = angular(o, f % n), g = o.g[at];
	if (!o.v) {
		float s, c;
		sine_cosine(w * x, &s, &c);
		float by_phase = f < n ? g * c : -(g * s);
		return {by_phase * w, 0, by_phase * x};
	}
	double v = o.v[r * o.in + j], h = o.h[at];
	Wave y = wave_moments(f >= n, x, v, w);
	double dm = g * y.slope + h * y.vm, dv = g * y.mv + h * y.vv, dw = g * y.mw + h * y.vw;
	if (o.tv) { // through the slope, and through what the feature adds, V − slope²·v
		double de = o.tv[at], t = o.tm[at] - 2 * y.slope * v * de;
		dm += t * y.sm + de * y.vm, dv += t * y.sv + de * (y.vv - y.slope * y.slope), dw += t * y.sw + de * y.vw;
	}
	return {(float)dm, (float)dv, (float)dw};
}

// periodic_back writes the gradients by the frequencies of each row to the tape.
CALLED void periodic_back(const Op& o, long long r0, int rows) {
	int n = (o.out - o.in) / 2;
	for (int i = thread(); i < rows * n; i += threads()) {
		long long r = r0 + i / n;
		o.tape[r0 * n + i] = (float)(2 * PI) * (feature_back(o, r, i % n).w + feature_back(o, r, n + i % n).w);
	}
	if (!o.dm) return;
	const int *first = o.table + 2 * n, *members = first + o.in + 1;
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long r = r0 + i / o.in, at = r0 * o.in + i;
		int j = i % o.in;
		float dm = o.g[r * o.out + j], dv = o.dv ? o.h[r * o.out + j] : 0.0f;
		for (int k = first[j]; k < first[j + 1]; k++) {
			PeriodicGradient d = feature_back(o, r, members[k]);
			dm += d.m, dv += d.v;
		}
		o.dm[at] = dm;
		if (o.dv) o.dv[at] = dv;
	}
}
