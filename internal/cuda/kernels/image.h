// Poolings of images: each channel over windows.
#pragma once
#include "program.h"

// cell is where cell k of the window of an output lies; -1: outside of the image.
DEVICE int cell(const Image& g, int out, int k) {
	int c = out % g.c, x = out / g.c % g.ow, y = out / g.c / g.ow;
	y = y * g.down - g.top + k / g.kw, x = x * g.across - g.left + k % g.kw;
	return y >= 0 && x >= 0 && y < g.h && x < g.w ? (y * g.w + x) * g.c + c : -1;
}

// each_window calls f with the places whose windows hold an input, in their order, and
// the number of the input's cell there.
template <class F>
DEVICE void each_window(const Image& g, int in, F f) {
	int c = in % g.c, x = in / g.c % g.w + g.left, y = in / g.c / g.w + g.top;
	int oy = y < g.kh ? 0 : (y - g.kh) / g.down + 1, ox0 = x < g.kw ? 0 : (x - g.kw) / g.across + 1;
	for (; oy < g.oh && oy * g.down <= y; oy++)
		for (int ox = ox0; ox < g.ow && ox * g.across <= x; ox++)
			f((oy * g.ow + ox) * g.c + c, (y - oy * g.down) * g.kw + x - ox * g.across);
}

// share is the share of a cell in the average of an output: all cells of a window count,
// or, with o.q set, those inside of the image.
DEVICE float share(const Op& o, int out) {
	const Image& g = o.image;
	if (!o.q) return 1.0f / (g.kh * g.kw);
	int y = out / g.c / g.ow * g.down - g.top, x = out / g.c % g.ow * g.across - g.left;
	int rows = less(g.h, y + g.kh) - (y < 0 ? 0 : y), cols = less(g.w, x + g.kw) - (x < 0 ? 0 : x);
	return 1.0f / (rows * cols);
}

CALLED void avg_pool(const Op& o, long long r0, int rows) {
	int cells = o.image.kh * o.image.kw;
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long from = (r0 + i / o.out) * o.in, at = r0 * o.out + i;
		float m = 0, v = 0, n = share(o, i % o.out);
		for (int k = 0; k < cells; k++) {
			int c = cell(o.image, i % o.out, k);
			if (c < 0) continue;
			m += o.m[from + c];
			if (o.v) v += o.v[from + c];
		}
		o.om[at] = m * n;
		if (o.ov) o.ov[at] = v * (n * n);
	}
}

CALLED void avg_pool_back(const Op& o, long long r0, int rows) {
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long from = (r0 + i / o.in) * o.out, at = r0 * o.in + i;
		float g = 0, h = 0;
		each_window(o.image, i % o.in, [&](int out, int) {
			float n = share(o, out);
			g += o.g[from + out] * n;
			if (o.h) h += o.h[from + out] * (n * n);
		});
		o.dm[at] = g;
		if (o.dv) o.dv[at] = h;
	}
}

// larger is the maximum of two Normals with its derivatives, as in package nn.
struct Larger {
	float m, v, mm1, mm2, mv, vm, vv1, vv2;
};
CALLED Larger larger(float m1, float v1, float m2, float v2, bool random) {
	float d = less(m1 - m2, m2 - m1), s = v1 + v2, mu = 0, u = 0, chance = 0, mv = 0;
	if (random) {
		Moments p = leaky_exact(0, d, s);
		mu = p.m, u = p.v, chance = p.mm, mv = p.mv;
	}
	if (s == 0) s = 1;
	float a = v1 / s, b = v2 / s, low = u / s, high = 1 - (u + 2 * mu * (mu - d)) / s;
	if (m1 >= m2) {
		float vm = 2 * (a * (mu - d) * chance - b * mu * (1 - chance)), along = vm * d / (2 * s);
		return {m1 + mu, v1 * high + v2 * low, 1 - chance, chance, mv, vm, high + along, low + along};
	}
	float vm = 2 * (a * mu * (1 - chance) - b * (mu - d) * chance), along = vm * d / (2 * s);
	return {m2 + mu, v1 * low + v2 * high, chance, 1 - chance, mv, vm, low - along, high - along};
}

// first is the first cell of a window that lies in the image.
DEVICE int first(const Image& g, int out) {
	int k = 0;
	while (cell(g, out, k) < 0) k++;
	return k;
}

CALLED void max_pool(const Op& o, long long r0, int rows) {
	int cells = o.image.kh * o.image.kw;
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long from = (r0 + i / o.out) * o.in, at = r0 * o.out + i;
		int out = i % o.out, k = first(o.image, out), c = cell(o.image, out, k);
		float m = o.m[from + c], v = o.v ? o.v[from + c] : 0.0f;
		// Where correlations are carried, dm receives the slopes by the maximum so far, and
		// tape what each cell adds.
		float *slopes = o.tape ? o.dm + at * cells : 0, *adds = o.tape + at * cells;
		for (int j = 0; slopes && j < cells; j++) slopes[j] = j != k, adds[j] = 0;
		for (k++; k < cells; k++) {
			if ((c = cell(o.image, out, k)) < 0) continue;
			Larger l = larger(m, v, o.m[from + c], o.v ? o.v[from + c] : 0.0f, o.v);
			if (slopes) slopes[k] = l.mm1, adds[k] = more(0.0f, l.v - l.mm1 * l.mm1 * v - l.mm2 * l.mm2 * o.v[from + c]);
			m = l.m, v = l.v;
		}
		o.om[at] = m;
		if (o.ov) o.ov[at] = v;
	}
}

// max_pool_back keeps on the tape, cell by cell of every place, first the maximum so far,
// then the gradient of the cell. Each input adds up what its cells have got.
CALLED void max_pool_back(const Op& o, long long r0, int rows) {
	int cells = o.image.kh * o.image.kw;
	bool random = o.v;
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long from = (r0 + i / o.out) * o.in, at = r0 * o.out + i;
		int out = i % o.out, k0 = first(o.image, out), c = cell(o.image, out, k0);
		float *tape = o.tape + 2 * at * cells, m = o.m[from + c], v = random ? o.v[from + c] : 0.0f;
		for (int k = k0 + 1; k < cells; k++) {
			if ((c = cell(o.image, out, k)) < 0) continue;
			tape[2 * k] = m, tape[2 * k + 1] = v;
			Larger l = larger(m, v, o.m[from + c], random ? o.v[from + c] : 0.0f, random);
			m = l.m, v = l.v;
		}
		float g = o.g[at], h = o.h ? o.h[at] : 0.0f;
		for (int k = cells - 1; k > k0; k--) {
			if ((c = cell(o.image, out, k)) < 0) continue;
			Larger l = larger(tape[2 * k], tape[2 * k + 1], o.m[from + c], random ? o.v[from + c] : 0.0f, random);
			float m1 = tape[2 * k], v1 = tape[2 * k + 1];
			tape[2 * k] = g * l.mm2 - h * l.vm, tape[2 * k + 1] = g * l.mv + h * l.vv2;
			float x = g * l.mm1 + h * l.vm;
			h = g * l.mv + h * l.vv1, g = x;
			if (!o.tv) continue;
			// Through the slope p and through what the cell adds, V − p²v₁ − (1−p)²v₂.
			float de = o.tv[at * cells + k], v2 = o.v[from + c], s = v1 + v2;
			float dp = o.tm[at * cells + k] + 2 * de * (l.mm2 * v2 - l.mm1 * v1);
			float far = s > 0 ? (m1 - o.m[from + c]) / s : 0.0f, by = dp * (-l.mv * far);
			if (!is_finite(by)) by = -(dp * l.mv) * far; // s is so small that the slope of p overflows
			x = 2 * (dp * l.mv) + de * l.vm;
			tape[2 * k] -= x, tape[2 * k + 1] += by + de * (l.vv2 - l.mm2 * l.mm2);
			g += x, h += by + de * (l.vv1 - l.mm1 * l.mm1);
		}
		tape[2 * k0] = g, tape[2 * k0 + 1] = h;
	}
	barrier();
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long row = r0 + i / o.in, at = r0 * o.in + i;
		float g = 0, h = 0;
		each_window(o.image, i % o.in, [&](int out, int k) {
			const float* t = o.tape + 2 * ((row * o.out + out) * cells + k);
			g += t[0], h += t[1];
		});
		o.dm[at] = g;
		if (o.dv) o.dv[at] = h;
	}
}
