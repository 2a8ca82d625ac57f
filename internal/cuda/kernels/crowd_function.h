// The leaky ReLU behind a layer of a crowd's networks, by three points, m and m ± d with d = x·√v, or in
// closed form.
//
// Let u be m kept between −d and d, and T = d − |u|. The outer points are off the value at m by
// (1 − a)·T together, and 2a·d + (1 − a)·(d + u) apart. So nothing cancels, and there are few
// instructions. T > 0 says that the kink lies between the points. Variances before a function are
// multiplied by x², which the weights bring along.
#pragma once
#include "chain_links.h"

#ifndef EMULATED
DEVICE float tiny_root(float x) { float y; asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float tiny_inverse_root(float x) { float y; asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float tiny_inverse(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float upper(float x, float y) { return __nvvm_fmax_f(x, y); }
DEVICE float lower(float x, float y) { return __nvvm_fmin_f(x, y); }
DEVICE float size(float x) { return __nvvm_fabs_f(x); }
#else
DEVICE float tiny_root(float x) { return root(x); }
DEVICE float tiny_inverse_root(float x) { return 1 / root(x); }
DEVICE float tiny_inverse(float x) { return 1 / x; }
DEVICE float upper(float x, float y) { return fmaxf(x, y); }
DEVICE float lower(float x, float y) { return fminf(x, y); }
DEVICE float size(float x) { return fabsf(x); }
#endif

// A Bend is the function of a link: its numbers lie in shared memory, and a way reads those it needs.
enum { SLOPE, SUM, NEAR_BY, FAR_BY, OVER, RIGHT, LEFT_OF, BY_ROOT, MEAN_APART, MEAN_SUM, VAR_APART, VAR_SUM, WIDEN, BEND = 16 };
template <bool EXACT>
DEVICE void bend(const Link& l, Near to) {
	float w0 = l.three[3], w = l.three[4], r = root(0.5f * w), a = l.a, b = 1 - a, x2 = l.three[1] * l.three[1];
	to[SLOPE] = a, to[SUM] = w * b, to[NEAR_BY] = b * r, to[FAR_BY] = 2 * a * r, to[OVER] = 0.5f * w * w0 * b * b;
	to[RIGHT] = fma(b, w0 + w, a), to[LEFT_OF] = fma(b, w, a), to[BY_ROOT] = 0.5f * w * x2 * b;
	to[MEAN_APART] = w * b / r, to[MEAN_SUM] = w * w0 * b * b, to[VAR_APART] = 0.5f * x2 * w * (1 + a) / r, to[VAR_SUM] = 0.5f * x2 * w * w0 * b * b;
	to[WIDEN] = EXACT ? 1.0f : x2;
}
template <bool EXACT>
struct Bend {
	float k[BEND];
	METHOD explicit Bend(Near from) {
#pragma unroll
		for (int i = 0; i < BEND; i += 4) {
			Four32 f = load4(from + i);
#pragma unroll
			for (int j = 0; j < 4; j++) k[i + j] = f.x[j];
		}
	}
	// ahead are mean and variance behind the function, of d in place of a variance; distance is d.
	METHOD float distance(float v) const { return EXACT ? v : tiny_root(v); }
	METHOD void ahead(float m, float d, float& om, float& ov) const {
		if (EXACT) {
			Moments o = leaky_exact(k[SLOPE], m, d);
			om = o.m, ov = o.v;
			return;
		}
		float u = upper(lower(m, d), -d), T = d - size(u), D = fma(k[FAR_BY], d, k[NEAR_BY] * (d + u));
		om = fma(k[SUM], T, upper(m, k[SLOPE] * m)), ov = fma(D, D, k[OVER] * T * T);
	}
	// back takes gradients by what ahead returns, om and ov, where that by the mean is g + om·g2, to those by mean and
	// variance before the function; by is the inverse of d.
	METHOD void back(float m, float d, float by, float g, float g2, float h, float& dm, float& dv, float& om, float& ov) const {
		if (EXACT) {
			Moments o = leaky_exact(k[SLOPE], m, d);
			g = fma(o.m, g2, g), om = o.m, ov = o.v;
			dm = g * o.mm + h * o.vm, dv = g * o.mv + h * o.vv;
			return;
		}
		float u = upper(lower(m, d), -d), T = d - size(u), D = fma(k[FAR_BY], d, k[NEAR_BY] * (d + u));
		bool within = T > 0, above = m > 0;
		float inner = above ? k[RIGHT] : k[LEFT_OF], outer = above ? 1.0f : k[SLOPE], U = above ? T : -T;
		float E = within ? D : 0.0f, q = within ? by : 0.0f, mm = within ? inner : outer, rest = within ? 0.0f : outer * outer;
		om = fma(outer, m, k[SUM] * T), ov = fma(D, D, k[OVER] * T * T), g = fma(om, g2, g);
		float vm = fma(k[MEAN_APART], E, -k[MEAN_SUM] * U), vv = fma(q, fma(k[VAR_APART], E, k[VAR_SUM] * T), rest);
		dm = fma(g, mm, h * vm), dv = fma(g, k[BY_ROOT] * q, h * vv);
	}
};
