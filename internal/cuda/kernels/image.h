// Poolings of images: each channel over windows.
#pragma once
#include "program.h"

// A Place is an output of a pooling: its first cell and its channel.
DEVICE long long first_cell(const Image& g, int out) {
	int c = out % g.c, x = out / g.c % g.ow, y = out / g.c / g.ow;
	return ((long long)y * g.down * g.w + x * g.across) * g.c + c;
}
DEVICE long long cell(const Image& g, int k) { return ((long long)(k / g.kw) * g.w + k % g.kw) * g.c; }

// each_window calls f with the places whose windows hold an input, in their order, and
// the number of the input's cell there.
template <class F>
DEVICE void each_window(const Image& g, int in, F f) {
	int c = in % g.c, x = in / g.c % g.w, y = in / g.c / g.w;
	int oy = y < g.kh ? 0 : (y - g.kh) / g.down + 1, ox0 = x < g.kw ? 0 : (x - g.kw) / g.across + 1;
	for (; oy < g.oh && oy * g.down <= y; oy++)
		for (int ox = ox0; ox < g.ow && ox * g.across <= x; ox++)
			f((oy * g.ow + ox) * g.c + c, (y - oy * g.down) * g.kw + x - ox * g.across);
}

CALLED void avg_pool(const Op& o, long long r0, int rows) {
	int cells = o.image.kh * o.image.kw;
	float n = 1.0f / cells, nn = 1.0f / ((float)cells * cells);
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long from = (r0 + i / o.out) * o.in + first_cell(o.image, i % o.out), at = r0 * o.out + i;
		float m = 0, v = 0;
		for (int k = 0; k < cells; k++) {
			m += o.m[from + cell(o.image, k)];
			if (o.v) v += o.v[from + cell(o.image, k)];
		}
		o.om[at] = m * n;
		if (o.ov) o.ov[at] = v * nn;
	}
}

CALLED void avg_pool_back(const Op& o, long long r0, int rows) {
	int cells = o.image.kh * o.image.kw;
	float n = 1.0f / cells, nn = 1.0f / ((float)cells * cells);
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long from = (r0 + i / o.in) * o.out, at = r0 * o.in + i;
		float g = 0, h = 0;
		each_window(o.image, i % o.in, [&](int out, int) {
			g += o.g[from + out];
			if (o.h) h += o.h[from + out];
		});
		o.dm[at] = g * n;
		if (o.dv) o.dv[at] = h * nn;
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

CALLED void max_pool(const Op& o, long long r0, int rows) {
	int cells = o.image.kh * o.image.kw;
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long from = (r0 + i / o.out) * o.in + first_cell(o.image, i % o.out), at = r0 * o.out + i;
		float m = o.m[from], v = o.v ? o.v[from] : 0.0f;
		for (int k = 1; k < cells; k++) {
			long long c = from + cell(o.image, k);
			Larger l = larger(m, v, o.m[c], o.v ? o.v[c] : 0.0f, o.v);
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
		long long from = (r0 + i / o.out) * o.in + first_cell(o.image, i % o.out), at = r0 * o.out + i;
		float *tape = o.tape + 2 * at * cells, m = o.m[from], v = random ? o.v[from] : 0.0f;
		for (int k = 1; k < cells; k++) {
			long long c = from + cell(o.image, k);
			tape[2 * k] = m, tape[2 * k + 1] = v;
			Larger l = larger(m, v, o.m[c], random ? o.v[c] : 0.0f, random);
			m = l.m, v = l.v;
		}
		float g = o.g[at], h = o.h ? o.h[at] : 0.0f;
		for (int k = cells - 1; k > 0; k--) {
			long long c = from + cell(o.image, k);
			Larger l = larger(tape[2 * k], tape[2 * k + 1], o.m[c], random ? o.v[c] : 0.0f, random);
			tape[2 * k] = g * l.mm2 - h * l.vm, tape[2 * k + 1] = g * l.mv + h * l.vv2;
			float x = g * l.mm1 + h * l.vm;
			h = g * l.mv + h * l.vv1, g = x;
		}
		tape[0] = g, tape[1] = h;
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
