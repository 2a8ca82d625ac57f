// Softmax of Normal logits by its closed form, as softmax_moments.go of package fn. A
// warp has a row: the left half of its threads builds up the logits from the first one
// on, the right half from the last one on, a thread for each node.
#pragma once
#include "layers.h"

// Gauss–Hermite nodes and weights of order 5 and 15 for a standard Normal: o.nodes.
enum { JOIN = 5, SIGMOID_NODES = 15 };

struct Gauss {
	double m, v;
};

// What a join of a and b shares among its nodes: μ, s, v_a/s and v_a·v_b/s².
struct Join {
	double mu, sd, r, share;
};
DEVICE Join join_of(Gauss a, Gauss b) {
	double v = a.v + b.v, sd = root(v);
	return {b.m - a.m, sd, v > 0 ? a.v / sd : 0.0, v > 0 ? a.v * (b.v / v) : 0.0};
}
CALLED double join_at(double mu, double sd, double r, double x, double* slope) {
	double t = mu + sd * x, e = expo(-magnitude(t));
	*slope = (t < 0 ? e : 1.0) / (1 + e);
	return (t > 0 ? t : 0.0) + loga(1 + e) - r * x;
}

// half_sum adds up x over half a warp. All threads of a block must call it.
DEVICE double half_sum(double x) {
#pragma unroll
	for (int m = 8; m > 0; m /= 2) x += swap(x, m);
	return x;
}

// join_half is ln(eᵃ+eᵇ) by half a warp; x and w are the thread's node.
DEVICE Gauss join_half(Gauss a, Gauss b, double x, double w) {
	Join j = join_of(a, b);
	double slope, g = join_at(j.mu, j.sd, j.r, x, &slope);
	double mean = half_sum(w * g), d = g - mean, var = half_sum(w * d * d);
	return {a.m + mean, (j.sd > 0 ? var : 0.0) + j.share};
}

// The gradients of a join by its parts, from the sums over its nodes.
DEVICE void join_ends(Gauss a, Gauss b, Join j, Gauss d, double dmu, double dsd, double dr, Gauss* da, Gauss* db) {
	double v = a.v + b.v, dv = (dsd - dr * a.v / v) / (2 * j.sd);
	*da = {d.m - dmu, dv + dr / j.sd + d.v * (b.v / v) * (b.v / v)};
	*db = {dmu, dv + d.v * (a.v / v) * (a.v / v)};
}

DEVICE void unjoin_half(Gauss a, Gauss b, Gauss d, double x, double w, Gauss* da, Gauss* db) {
	Join j = join_of(a, b);
	double slope, g = join_at(j.mu, j.sd, j.r, x, &slope), mean = half_sum(w * g);
	double h = w * (d.m + 2 * d.v * (g - mean));
	double dmu = half_sum(h * slope), dsd = half_sum(h * slope * x), dr = -half_sum(h * x);
	join_ends(a, b, j, d, dmu, dsd, dr, da, db);
}

// The same by one thread.
CALLED Gauss join_alone(const double* nodes, Gauss a, Gauss b) {
	Join j = join_of(a, b);
	double slope, mean = 0, var = 0;
	for (int q = 0; q < JOIN; q++) mean += nodes[2 * q + 1] * join_at(j.mu, j.sd, j.r, nodes[2 * q], &slope);
	for (int q = 0; q < JOIN; q++) {
		double d = join_at(j.mu, j.sd, j.r, nodes[2 * q], &slope) - mean;
		var += nodes[2 * q + 1] * d * d;
	}
	return {a.m + mean, (j.sd > 0 ? var : 0.0) + j.share};
}
CALLED void unjoin_alone(const double* nodes, Gauss a, Gauss b, Gauss d, Gauss* da, Gauss* db) {
	Join j = join_of(a, b);
	double slope, mean = 0, dmu = 0, dsd = 0, dr = 0;
	for (int q = 0; q < JOIN; q++) mean += nodes[2 * q + 1] * join_at(j.mu, j.sd, j.r, nodes[2 * q], &slope);
	for (int q = 0; q < JOIN; q++) {
		double x = nodes[2 * q], g = join_at(j.mu, j.sd, j.r, x, &slope), h = nodes[2 * q + 1] * (d.m + 2 * d.v * (g - mean));
		dmu += h * slope, dsd += h * slope * x, dr -= h * x;
	}
	join_ends(a, b, j, d, dmu, dsd, dr, da, db);
}

DEVICE double sigmoid_at(double t) {
	double e = expo(-magnitude(t));
	return (t < 0 ? e : 1.0) / (1 + e);
}
CALLED Gauss sigmoid_moments(const double* nodes, double m, double v) {
	double sd = root(v), f0 = sigmoid_at(m + sd * nodes[0]), mean = 0, var = 0;
	for (int q = 1; q < SIGMOID_NODES; q++) mean += nodes[2 * q + 1] * (sigmoid_at(m + sd * nodes[2 * q]) - f0);
	for (int q = 0; q < SIGMOID_NODES; q++) {
		double d = sigmoid_at(m + sd * nodes[2 * q]) - f0 - mean;
		var += nodes[2 * q + 1] * d * d;
	}
	return {f0 + mean, var};
}
CALLED Gauss sigmoid_pull(const double* nodes, double m, double v, double mean, double gm, double gv) {
	double sd = root(v);
	Gauss d = {0, 0};
	for (int q = 0; q < SIGMOID_NODES; q++) {
		double x = nodes[2 * q], f = sigmoid_at(m + sd * x), h = nodes[2 * q + 1] * (gm + 2 * gv * (f - mean)) * f * (1 - f);
		d.m += h, d.v += h * x;
	}
	d.v /= 2 * sd;
	return d;
}

// alike are independent variances whose differences spread like those of the covariance
// c; see joint_alike.go of package moment. r is room for a number of each input; kept
// becomes 1 for inputs whose variance is not held at 0. All threads of a block must call
// it; in says whether the warp has a row.
DEVICE void alike(int k, const float* c, double* d, double* r, double* kept, bool in) {
	for (int i = thread() % 32; in && i < k; i += 32) {
		r[i] = 0;
		for (int j = 0; j < k; j++) r[i] += (double)c[i * k + i] + c[j * k + j] - 2 * (double)c[i * k + j];
		kept[i] = k > 2 || r[i] > 0;
		if (k == 2) d[i] = kept[i] ? r[i] / 2 : 0;
	}
	barrier();
	if (in && thread() % 32 == 0 && k > 2) {
		double sum = 0, s;
		int n = k;
		for (int i = 0; i < k; i++) sum += r[i];
		for (bool drop = true; drop;) {
			drop = false, s = sum / (k - 2 + n);
			for (int i = 0; i < k; i++)
				if (kept[i] && r[i] < s) kept[i] = 0, drop = true, n--, sum -= r[i];
		}
		for (int i = 0; i < k; i++) d[i] = kept[i] ? (r[i] - s) / (k - 2) : 0;
	}
	barrier();
}

// alike_back turns the gradients by d into those by c.
DEVICE void alike_back(int k, const double* by, const double* kept, float* dv, float* dcov, bool in) {
	double n = 0, sum = 0, all = 0, scale = k > 2 ? k - 2 : 2;
	for (int i = thread() % 32; in && i < k; i += 32) n += kept[i], sum += kept[i] * by[i] / scale;
	n = warp_sum(n), sum = k > 2 ? warp_sum(sum) / (k - 2 + n) : 0 * warp_sum(sum);
	for (int i = thread() % 32; in && i < k; i += 32) all += kept[i] * (by[i] / scale - sum);
	all = warp_sum(all);
	for (int i = thread() % 32; in && i < k; i += 32) {
		double ri = kept[i] * (by[i] / scale - sum);
		dv[i] = (float)((k - 2) * ri + all);
		for (int j = 0; j < k; j++) dcov[i * k + j] = (float)(-ri - kept[j] * (by[j] / scale - sum));
	}
}

// A Logits is a row with its scratch: variances, what is built up from the left and from
// the right, all but each one, the gradients by the first two, and what alike has kept.
struct Logits {
	const float* m;
	double *v, *p;
	Gauss *left, *right, *rest, *dleft, *dright;
	double* kept;
};
constexpr int LOGIT_SCRATCH = 13; // numbers for each logit

DEVICE Gauss logit(const Logits& l, int i) { return {(double)l.m[i], l.v[i]}; }

// softmax_forward fills the row and returns the sum of p.
DEVICE double softmax_forward(const Op& o, const Logits& l, bool in, float* ov) {
	int d = o.in, last = d - 1, lane = thread() % 32, half = lane / 16, q = lane % 16;
	const double *few = o.nodes, *many = o.nodes + 2 * JOIN;
	double x = q < JOIN ? few[2 * q] : 0.0, w = q < JOIN ? few[2 * q + 1] : 0.0;
	Gauss none = {0, 1}, at = in ? logit(l, half ? last : 0) : none;
	if (in && q == 0) (half ? l.right : l.left)[half ? last : 0] = at;
	for (int i = 1; i <= last; i++) {
		int u = half ? last - i : i;
		at = join_half(at, in ? logit(l, u) : none, x, w);
		if (in && q == 0) (half ? l.right : l.left)[u] = at;
	}
	barrier();
	double sum = 0;
	for (int k = lane; in && k < d; k += 32) {
		Gauss rest = k == 0 ? l.right[1] : k == last ? l.left[last - 1] : join_alone(few, l.left[k - 1], l.right[k + 1]);
		Gauss p = sigmoid_moments(many, l.m[k] - rest.m, l.v[k] + rest.v);
		l.rest[k] = rest, l.p[k] = p.m;
		if (ov) ov[k] = (float)p.v;
		sum += p.m;
	}
	return warp_sum(sum);
}

DEVICE Logits logits(const Op& o, long long row) {
	int d = o.in;
	double* s = o.scratch + row * LOGIT_SCRATCH * d;
	return {o.m + row * d, s, s + d, (Gauss*)(s + 2 * d), (Gauss*)(s + 4 * d), (Gauss*)(s + 6 * d), (Gauss*)(s + 8 * d), (Gauss*)(s + 10 * d), s + 12 * d};
}

// plain_softmax returns the largest logit and Σ exp(x − largest).
DEVICE Gauss plain_softmax(const float* m, int d, bool in) {
	double top = -1e300, sum = 0;
	for (int k = thread() % 32; in && k < d; k += 32) top = m[k] > top ? (double)m[k] : top;
	top = warp_most(top);
	for (int k = thread() % 32; in && k < d; k += 32) sum += expo(m[k] - top);
	return {top, warp_sum(sum)};
}

CALLED void softmax(const Op& o, long long r0, int rows) {
	int d = o.in, lane = thread() % 32, r = thread() / 32;
	bool in = r < rows;
	long long row = r0 + (in ? r : 0);
	float* om = o.om + row * d;
	if (!o.v || d == 1) {
		Gauss s = plain_softmax(o.m + row * d, d, in);
		for (int k = lane; in && k < d; k += 32) {
			om[k] = (float)(expo(o.m[row * d + k] - s.m) / s.v);
			if (o.ov) o.ov[row * d + k] = 0;
		}
		return;
	}
	Logits l = logits(o, row);
	if (o.cov) {
		alike(d, o.cov + row * d * d, l.v, l.p, l.kept, in);
	} else {
		for (int k = lane; in && k < d; k += 32) l.v[k] = o.v[row * d + k];
		barrier();
	}
	double sum = softmax_forward(o, l, in, in ? o.ov + row * d : 0);
	for (int k = lane; in && k < d; k += 32) om[k] = (float)(l.p[k] / sum);
}

CALLED void softmax_back(const Op& o, long long r0, int rows) {
	int d = o.in, last = d - 1, lane = thread() % 32, half = lane / 16, q = lane % 16, r = thread() / 32;
	bool in = r < rows;
	long long row = r0 + (in ? r : 0);
	const float *g = o.g + row * d, *h = o.h ? o.h + row * d : 0;
	float *dm = o.dm + row * d, *dv = o.dv ? o.dv + row * d : 0;
	double shared = 0;
	if (!o.v || d == 1) {
		Gauss s = plain_softmax(o.m + row * d, d, in);
		for (int k = lane; in && k < d; k += 32) shared += g[k] * expo(o.m[row * d + k] - s.m) / s.v;
		shared = warp_sum(shared);
		for (int k = lane; in && k < d; k += 32) {
			dm[k] = (float)(expo(o.m[row * d + k] - s.m) / s.v * (g[k] - shared));
			if (dv) dv[k] = 0;
			if (o.dcov) o.dcov[row] = 0; // one logit has no other
		}
		return;
	}
	Logits l = logits(o, row);
	if (o.cov) alike(d, o.cov + row * d * d, l.v, l.p, l.kept, in);
	for (int k = lane; in && k < d; k += 32) { // derivatives need a standard deviation
		double v = o.cov ? l.v[k] : (double)o.v[row * d + k], least = 1e-5 * (1 + magnitude((double)l.m[k]));
		l.v[k] = v > least * least ? v : least * least;
	}
	barrier();
	double sum = softmax_forward(o, l, in, 0);
	for (int k = lane; in && k < d; k += 32) shared += g[k] * l.p[k] / sum;
	shared = warp_sum(shared);
	const double *few = o.nodes, *many = o.nodes + 2 * JOIN;
	if (in && lane == 0) l.dleft[last] = l.dright[0] = {0, 0};
	for (int k = lane; in && k < d; k += 32) {
		Gauss rest = l.rest[k], own = sigmoid_pull(many, l.m[k] - rest.m, l.v[k] + rest.v, l.p[k], (g[k] - shared) / sum, h[k]);
		Gauss by = {-own.m, own.v};
		if (k == 0) l.dright[1] = by;
		else if (k == last) l.dleft[last - 1] = by;
		else unjoin_alone(few, l.left[k - 1], l.right[k + 1], by, l.dleft + k - 1, l.dright + k + 1);
		l.rest[k] = own;
	}
	barrier();
	// Down both chains; what a logit gets takes the place of what was built up there.
	double x = q < JOIN ? few[2 * q] : 0.0, w = q < JOIN ? few[2 * q + 1] : 0.0;
	Gauss *built = half ? l.right : l.left, *down = half ? l.dright : l.dleft, none = {0, 1};
	Gauss run = in ? down[half ? 0 : last] : none, da, db;
	for (int i = last; i >= 1; i--) {
		int u = half ? last - i : i, before = half ? u + 1 : u - 1;
		unjoin_half(in ? built[before] : none, in ? logit(l, u) : none, run, x, w, &da, &db);
		if (in) run = {down[before].m + da.m, down[before].v + da.v};
		if (in && q == 0) built[u] = db;
	}
	if (in && q == 0) built[half ? last : 0] = run;
	barrier();
	for (int k = lane; in && k < d; k += 32) {
		dm[k] = (float)(l.rest[k].m + l.left[k].m + l.right[k].m);
		l.p[k] = l.rest[k].v + l.left[k].v + l.right[k].v;
		if (!o.cov) dv[k] = (float)l.p[k];
	}
	barrier();
	if (o.cov) alike_back(d, l.p, l.kept, dv, o.dcov + row * d * d, in);
}
