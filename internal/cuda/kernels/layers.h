// Layers of package nn that move, embed or normalise the units of a row.
#pragma once
#include "program.h"

// add is m + g and v + h: the end of a residual, and the sum of two gradients.
DEVICE void add(const Op& o, long long r0, int rows) {
	for (long long at = r0 * o.in + thread(); at < (r0 + rows) * o.in; at += threads()) {
		o.om[at] = o.m[at] + o.g[at];
		if (o.ov) o.ov[at] = (o.v ? o.v[at] : 0.0f) + (o.h ? o.h[at] : 0.0f);
	}
}

// append writes learned numbers behind the units of each row.
DEVICE void append(const Op& o, long long r0, int rows) {
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long r = r0 + i / o.out, at = r0 * o.out + i;
		int u = i % o.out;
		bool old = u < o.in;
		o.om[at] = old ? o.m[r * o.in + u] : o.raw[u - o.in];
		if (o.ov) o.ov[at] = old ? o.v[r * o.in + u] : 0.0f;
	}
}

DEVICE void append_back(const Op& o, long long r0, int rows) {
	int numbers = o.out - o.in;
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long r = r0 + i / o.out, at = r0 * o.out + i;
		int u = i % o.out;
		if (u >= o.in) {
			o.tape[r * numbers + u - o.in] = o.g[at];
			continue;
		}
		if (o.dm) o.dm[r * o.in + u] = o.g[at];
		if (o.dv) o.dv[r * o.in + u] = o.h[at];
	}
}

// The moments of a clipped interval, as clipMoments of package nn.
struct Clipped {
	double m, v, slope, mv, vm, vv, sm, sv; // sm, sv: of the slope
};
CALLED Clipped clip_moments(double m, double v, double a, double b) {
	double w = b - a;
	if (!(v > 1e-12 * w * w)) {
		double at = (m - a) / w;
		Clipped f = {at < 0 ? 0 : at > 1 ? 1 : at, 0, 0, 0, 0, 0, 0, 0};
		if (m > a && m < b) f.slope = 1 / w, f.v = v / (w * w), f.vv = 1 / (w * w);
		return f;
	}
	double s = root(v), al = (a - m) / s, be = (b - m) / s;
	if (al > 9) return {0, 0, 0, 0, 0, 0, 0, 0};
	if (be < -9) return {1, 0, 0, 0, 0, 0, 0, 0};
	double pa = density(al), pb = density(be), above = upper(be);
	double in = al > 0 ? upper(al) - above : upper(-be) - upper(-al); // from the nearer tail
	double first = (m - a) * in + s * (pa - pb), second = (m - a) * first + v * in - s * w * pb;
	Clipped f;
	f.m = first / w + above;
	f.v = second / (w * w) + above - f.m * f.m;
	if (!(f.v > 0)) f.v = 0;
	f.slope = in / w, f.mv = 0.5 * (pa - pb) / (s * w);
	f.vm = 2 * first / (w * w) - 2 * f.m * f.slope;
	f.vv = in / (w * w) - pb / (s * w) - 2 * f.m * f.mv;
	f.sm = (pa - pb) / (s * w), f.sv = 0.5 * (al * pa - be * pb) / (v * w);
	return f;
}

// piecewise embeds units. o.raw holds the two edges of each feature; o.table the unit of
// each feature, behind these the first member of each unit, and then the members, which are
// features sorted by their units.
CALLED void piecewise(const Op& o, long long r0, int rows) {
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long r = r0 + i / o.out, at = r0 * o.out + i;
		int u = i % o.out, f = u - o.in;
		if (f < 0) {
			o.om[at] = o.m[r * o.in + u];
			if (o.ov) o.ov[at] = o.v[r * o.in + u];
			if (o.tape) o.tape[at] = 0, o.dm[at] = 1;
			continue;
		}
		float a = o.raw[2 * f], b = o.raw[2 * f + 1], x = o.m[r * o.in + o.table[f]];
		if (!o.v) {
			o.om[at] = less(more((x - a) * (1 / (b - a)), 0.0f), 1.0f) - 0.5f;
			continue;
		}
		float v = o.v[r * o.in + o.table[f]];
		Clipped c = clip_moments(x, v, a, b);
		float var = (float)c.v, g = (float)c.slope;
		o.om[at] = (float)(c.m - 0.5), o.ov[at] = var;
		if (o.tape) o.tape[at] = more(0.0f, var - g * g * v), o.dm[at] = g;
	}
}

CALLED void piecewise_back(const Op& o, long long r0, int rows) {
	const int* first = o.table + (o.out - o.in);
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long r = r0 + i / o.in, at = r0 * o.in + i, from = r * o.out;
		int j = i % o.in;
		float dm = o.g[from + j], dv = o.dv ? o.h[from + j] : 0.0f;
		for (int f = first[j]; f < first[j + 1]; f++) {
			float a = o.raw[2 * f], b = o.raw[2 * f + 1], x = o.m[at], g = o.g[from + o.in + f];
			if (!o.v) {
				if (x > a && x < b) dm += g * (1 / (b - a));
				continue;
			}
			Clipped c = clip_moments(x, o.v[at], a, b);
			float h = o.h[from + o.in + f];
			dm += g * (float)c.slope + h * (float)c.vm;
			dv += g * (float)c.mv + h * (float)c.vv;
			if (!o.tv) continue;
			// Through the slope, and through what the feature adds, V − slope²·v.
			float de = o.tv[from + o.in + f], s = (float)c.slope, t = o.tm[from + o.in + f] - 2 * s * o.v[at] * de;
			dm += t * (float)c.sm + de * (float)c.vm;
			dv += t * (float)c.sv + de * ((float)c.vv - s * s);
		}
		o.dm[at] = dm;
		if (o.dv) o.dv[at] = dv;
	}
}

// owner is the unit that an output of a Piecewise or a Periodic belongs to.
DEVICE int owner(const Op& o, int u) { return u < o.in ? u : o.table[u - o.in]; }

// sense_piecewise takes the sensitivities a of some rows to all outputs to those to the
// inputs: a unit and its features vary together. o.m are the slopes.
DEVICE void sense_features(const Op& o, const float* a, float* in, long long r0, int rows) {
	const int *first = o.table + (o.out - o.in), *members = first + o.in + 1;
	for (int i = thread(); i < rows * o.in; i += threads()) {
		int from = i / o.in * o.out, j = i % o.in;
		float sum = a[from + j];
		for (int k = first[j]; k < first[j + 1]; k++) {
			int f = from + o.in + members[k];
			sum += a[f] * o.m[r0 * o.out + f];
		}
		in[i] = sum;
	}
}

// The statistics of a row that layer_norm needs; a warp has a row. o.p is ε; o.q is 1 if
// the mean of the row is taken as a number.
struct Centred {
	double mu, inv, shared, tau, own;
};
DEVICE Centred centred(const Op& o, const float* m, const float* v) {
	int n = o.in, lane = thread() % 32;
	double c = 1.0 / n, tau = o.q ? 1 : 1 - c, own = o.q ? 1 : 1 - 2 * c, others = o.q ? 0 : c * c;
	double mu = 0, vs = 0, t = 0;
	for (int i = lane; m && i < n; i += 32) mu += m[i], vs += v ? (double)v[i] : 0.0;
	mu = warp_sum(mu) * c, vs = warp_sum(vs);
	for (int i = lane; m && i < n; i += 32) t += (m[i] - mu) * (m[i] - mu);
	t = (warp_sum(t) + tau * vs) * c + o.p;
	return {mu, 1 / root(t), others * vs, tau, own};
}

CALLED void layer_norm(const Op& o, long long r0, int rows) {
	int n = o.in, lane = thread() % 32, r = thread() / 32;
	bool in = r < rows;
	const float *m = in ? o.m + (r0 + r) * n : 0, *v = in && o.v ? o.v + (r0 + r) * n : 0;
	Centred s = centred(o, m, v);
	for (int i = lane; in && i < n; i += 32) {
		long long at = (r0 + r) * n + i;
		double a = s.inv * o.raw[i];
		o.om[at] = (float)((m[i] - s.mu) * a + o.b[i]);
		if (o.ov) o.ov[at] = (float)(a * a * (s.own * v[i] + s.shared));
	}
}

// layer_norm_back writes the gradients by gain and offset of each row to the tape. Where
// correlations are carried, o.ty is what they add to the first.
CALLED void layer_norm_back(const Op& o, long long r0, int rows) {
	int n = o.in, lane = thread() % 32, r = thread() / 32;
	bool in = r < rows;
	long long row = (r0 + r) * n;
	const float *m = in ? o.m + row : 0, *v = in && o.v ? o.v + row : 0;
	Centred s = centred(o, m, v);
	double avg = 0, d = 0, hs = 0;
	for (int i = lane; in && i < n; i += 32) {
		double gain = o.raw[i], u = (m[i] - s.mu) * s.inv, e = v ? (s.own * v[i] + s.shared) * s.inv * s.inv : 0.0;
		double g = o.g[row + i], h = o.h ? (double)o.h[row + i] : 0.0;
		o.tape[2 * row + i] = (float)(g * u + 2 * h * gain * e) + (o.ty ? o.ty[row + i] : 0.0f), o.tape[2 * row + n + i] = (float)g;
		g *= gain, h *= gain * gain;
		avg += g, d -= g * u + 2 * h * e, hs += h;
	}
	avg = warp_sum(avg) / n, d = warp_sum(d) * s.inv * s.inv / 2, hs = warp_sum(hs);
	if (!o.dm) return;
	double shared = o.q ? 0.0 : hs / n / n;
	for (int i = lane; in && i < n; i += 32) {
		double gain = o.raw[i], g = o.g[row + i] * gain, h = o.h ? o.h[row + i] * gain * gain : 0.0;
		o.dm[row + i] = (float)((g - avg) * s.inv + 2 * d * (m[i] - s.mu) / n);
		if (o.dv) o.dv[row + i] = (float)((s.own * h + shared) * s.inv * s.inv + d * s.tau / n);
		if (o.tv) o.dm[row + i] += o.tm[row + i], o.dv[row + i] += o.tv[row + i]; // what correlations add
	}
}
