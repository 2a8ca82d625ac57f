// Correlations to first order: the sensitivities of the outputs go back from layer to
// layer, and in training their gradients go forward again. rows.cu includes this file.

// The fields of such an operation:
//
//	g      sensitivities a of the outputs to the units behind the layer
//	tape   what the layer adds to the variance of each unit, e; null: nothing
//	m      its slopes; null: 1
//	dm     sensitivities to its inputs; null: they are fixed
//	table  of a Piecewise or a Periodic, whose units and features vary together: see layers.h
//	nodes  of an Embed: see embed.h
//	nll    the variances of the outputs so far; with weighted set, the covariances
//
// In the reverse, g and m are the same, and the others are
//
//	om     gradients b by the sensitivities to the inputs; null: they are fixed
//	v      what the layer adds, e
//	h, s   gradients by the variances of the outputs and, if not null, by the covariances
//	dm     gradients by g; null: nobody wants them
//	ov, dv gradients by the slopes and by e

DEVICE long long sensitivity(const Op& o, int output, long long row, int width) { return ((long long)output * o.room + row) * width; }

// contribute adds Σ e·a·a′ of each row to the covariance of two outputs: a warp has a row.
// e has step numbers for each row, the sensitivities g have width.
DEVICE void contribute(const Op& o, const float* e, int step, const float* g, int width, int i, int j, long long r0, int rows) {
	int lane = thread() % 32, r = thread() / 32, k = o.targets;
	float sum = 0;
	if (r < rows) {
		const float *a = g + sensitivity(o, i, r0 + r, width), *b = g + sensitivity(o, j, r0 + r, width);
		e += (r0 + r) * step;
		for (int u = lane; u < width; u += 32) sum = fma(e[u], a[u] * b[u], sum);
	}
	sum = warp_sum(sum);
	if (lane != 0 || r >= rows) return;
	long long row = (r0 + r) * k;
	if (!o.weighted) {
		o.nll[row + i] += (double)sum;
		return;
	}
	o.nll[(row + i) * k + j] += (double)sum;
	if (i != j) o.nll[(row + j) * k + i] += (double)sum;
}

// sense_ends begins with the sensitivities of the outputs to themselves, and ends with
// their variances in ov and, if wanted, their covariances in om.
DEVICE void sense_ends(const Op& o, long long r0, int rows) {
	int k = o.targets, sums = o.weighted ? k * k : k;
	for (int i = thread(); i < rows * sums; i += THREADS) {
		long long at = r0 * sums + i;
		if (o.kind == OP_SENSE_START) {
			o.nll[at] = 0;
			continue;
		}
		float x = (float)o.nll[at];
		if (o.om) o.om[at] = x;
		if (!o.weighted) o.ov[at] = x;
		else if (i / k % k == i % k) o.ov[at / k] = x;
	}
	if (o.kind == OP_SENSE_END) return;
	for (int i = thread(); i < rows * k * k; i += THREADS) {
		int r = i / (k * k), j = i / k % k, u = i % k;
		o.dm[sensitivity(o, j, r0 + r, k) + u] = u == j ? 1.0f : 0.0f;
	}
}

DEVICE void sense(const Op& o, long long r0, int rows) {
	if (o.kind == OP_SENSE_START || o.kind == OP_SENSE_END) {
		sense_ends(o, r0, rows);
		return;
	}
	for (int j = 0; j < o.targets; j++) {
		if (o.tape)
			for (int i = o.weighted ? 0 : j; i <= j; i++) contribute(o, o.tape, o.out, o.g, o.out, j, i, r0, rows);
		if (!o.dm) continue;
		const float* a = o.g + sensitivity(o, j, r0, o.out);
		float* in = o.dm + sensitivity(o, j, r0, o.in);
		if (o.nodes) {
			sense_embed(o, a, in, rows);
			continue;
		}
		if (o.table) {
			sense_features(o, a, in, r0, rows);
			continue;
		}
		if (o.kind == OP_SENSE_UNITS) {
			for (int i = thread(); i < rows * o.in; i += THREADS) in[i] = o.m ? a[i] * o.m[r0 * o.in + i] : a[i];
			continue;
		}
		product<BACK>(a, 0, rows, o.out, o.wt, 0, o.in, [&](int r, int c, Sums t) { in[r * o.in + c] = t.a; });
		barrier();
	}
}

// weigh is Σ h·a over the outputs: half the gradient by e·a of output i. The sensitivities
// g have width.
DEVICE float weigh(const Op& o, const float* g, int width, int i, long long row, int u) {
	int k = o.targets;
	if (!o.s) return o.h[row * k + i] * g[sensitivity(o, i, row, width) + u];
	float t = 0;
	for (int j = 0; j < k; j++) t = fma(i == j ? o.h[row * k + i] : o.s[(row * k + i) * k + j], g[sensitivity(o, j, row, width) + u], t);
	return t;
}
DEVICE float weigh(const Op& o, int i, long long row, int u) { return weigh(o, o.g, o.out, i, row, u); }

// sense_sum adds the sensitivities that two layers have to one signal.
DEVICE void sense_sum(const Op& o, long long r0, int rows) {
	for (int j = 0; j < o.targets; j++) {
		long long from = sensitivity(o, j, r0, o.in);
		for (int i = thread(); i < rows * o.in; i += THREADS) o.dm[from + i] = o.g[from + i] + o.m[from + i];
	}
}

DEVICE void sense_back(const Op& o, long long r0, int rows) {
	bool dense = o.kind == OP_SENSE_DENSE_BACK;
	for (int i = thread(); i < rows * o.out; i += THREADS) {
		long long row = r0 + i / o.out, at = r0 * o.out + i;
		int u = i % o.out;
		float de = 0, dg = 0, e = o.v ? o.v[at] : 0.0f, slope = o.m ? o.m[at] : 1.0f;
		for (int j = 0; j < o.targets; j++) {
			long long place = sensitivity(o, j, row, o.out) + u;
			float a = o.g[place], t = weigh(o, j, row, u);
			int unit = o.nodes ? kept_unit(o, u) : o.table ? owner(o, u) : u;
			float b = !o.om || dense || unit < 0 ? 0.0f : o.om[o.table ? sensitivity(o, j, row, o.in) + unit : place];
			de = fma(t, a, de), dg = fma(a, b, dg);
			if (o.dm && !dense) o.dm[place] = fma(b, slope, 2 * t * e);
		}
		if (o.dv) o.dv[at] = de;
		if (o.ov) o.ov[at] = dg;
	}
	if (!dense || !o.dm) return;
	for (int j = 0; j < o.targets; j++) {
		float* out = o.dm + sensitivity(o, j, r0, o.out);
		product<BACK>(o.om + sensitivity(o, j, r0, o.in), 0, rows, o.in, o.w, 0, o.out, [&](int r, int c, Sums t) {
			out[r * o.out + c] = fma(2 * o.v[(r0 + r) * o.out + c], weigh(o, j, r0 + r, c), t.a);
		});
		barrier();
	}
}

#include "sense_layers.h"

// sense_other are the operations of layers whose outputs have several inputs.
CALLED void sense_other(const Op& o, long long r0, int rows) {
	switch (o.kind) {
	case OP_SENSE_SUM: sense_sum(o, r0, rows); break;
	case OP_SENSE_AVG: sense_avg(o, r0, rows); break;
	case OP_SENSE_AVG_BACK: sense_avg_back(o, r0, rows); break;
	case OP_SENSE_MAX:
		sense_max(o, r0, rows);
		for (int j = 0; j < o.targets; j++)
			for (int i = o.weighted ? 0 : j; i <= j; i++) contribute(o, o.tape, o.out, o.g, o.out, j, i, r0, rows);
		break;
	case OP_SENSE_MAX_BACK: sense_max_back(o, r0, rows); break;
	case OP_SENSE_CONV: sense_conv(o, r0, rows); break;
	case OP_SENSE_CONV_BACK: sense_conv_back(o, r0, rows); break;
	case OP_SENSE_NORM: sense_norm(o, r0, rows); break;
	case OP_SENSE_NORM_BACK: sense_norm_back(o, r0, rows); break;
	}
}
