// The leaky ReLU behind a layer of a crowd's networks, by three points, m and m ± d with d = x·√v, or in
// closed form.
//
// Let u be m kept between −d and d, and T = d − |u|. With r² = w/2 and b = 1 − a, the outer points are off the value at m by
// b·T together, and the root of what their distance makes of the variance is b·r·D, where D = (1 + a)/b·d + u. So nothing cancels, and
// there are few instructions: mean and variance are
//
//	max(m, a·m) + w·b·T and (b·r)²·(D² + w₀·T²)
//
// of which the factor (b·r)² is left to others. T > 0 says that the kink lies between the points. Variances before a function are
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
// where_positive makes o x·y + z where t is positive: multipliers are twice as fast as selections, which the compiler would take.
DEVICE void where_positive(float t, float& o, float x, float y, float z) {
	asm("{.reg .pred p; setp.gt.f32 p, %4, 0f00000000; @p fma.rn.f32 %0, %1, %2, %3;}" : "+f"(o) : "f"(x), "f"(y), "f"(z), "f"(t));
}
#else
DEVICE float tiny_root(float x) { return root(x); }
DEVICE float tiny_inverse_root(float x) { return 1 / root(x); }
DEVICE float tiny_inverse(float x) { return 1 / x; }
DEVICE float upper(float x, float y) { return fmaxf(x, y); }
DEVICE float lower(float x, float y) { return fminf(x, y); }
DEVICE float size(float x) { return fabsf(x); }
DEVICE void where_positive(float t, float& o, float x, float y, float z) {
	if (t > 0) o = fma(x, y, z);
}
#endif

// A Bend is the function of a link: its numbers lie in shared memory, and a way reads those it needs. WIDEN is what variances before the
// function are multiplied by, SPREAD what those behind it are still to be multiplied by, and BY_VAR the gradients by variances before it.
enum { SLOPE, SUM, REACH, CENTER, WIDEN, SPREAD, BY_VAR, BEND = 8 };
template <bool EXACT>
DEVICE void bend(const Link& l, Near to) {
	float w = l.three[4], a = l.a, b = 1 - a, x2 = l.three[1] * l.three[1];
	to[SLOPE] = a, to[SUM] = w * b, to[REACH] = (1 + a) / b, to[CENTER] = l.three[3];
	to[WIDEN] = EXACT ? 1.0f : x2, to[SPREAD] = EXACT ? 1.0f : 0.5f * w * b * b, to[BY_VAR] = EXACT ? 1.0f : 0.5f * x2;
}
template <bool EXACT>
struct Bend {
	float slope, sum, reach, center;
	METHOD explicit Bend(Near from) {
		Four32 f = load4(from);
		slope = f.x[SLOPE], sum = f.x[SUM], reach = f.x[REACH], center = f.x[CENTER];
	}
	// ahead are mean and variance behind the function, of d in place of a variance; distance is d.
	METHOD float distance(float v) const { return EXACT ? v : tiny_root(v); }
	METHOD void ahead(float m, float d, float& om, float& ov) const {
		if (EXACT) {
			Moments o = leaky_exact(slope, m, d);
			om = o.m, ov = o.v;
			return;
		}
		float u = upper(lower(m, d), -d), T = d - size(u), D = fma(reach, d, u);
		om = fma(sum, T, upper(m, slope * m)), ov = fma(D, D, center * T * T);
	}
	// back takes gradients by what ahead returns, om and ov, to those by mean and variance before the function: that by om is
	// g + om·g2, that by ov half of h. by is the inverse of d.
	METHOD void back(float m, float d, float by, float g, float g2, float h, float& dm, float& dv, float& om, float& ov) const {
		if (EXACT) {
			Moments o = leaky_exact(slope, m, d);
			g = fma(o.m, g2, g), h *= 0.5f, om = o.m, ov = o.v;
			dm = g * o.mm + h * o.vm, dv = g * o.mv + h * o.vv;
			return;
		}
		float u = upper(lower(m, d), -d), T = d - size(u), D = fma(reach, d, u), c = center * T;
		bool above = m > 0;
		float side = above ? 1.0f : -1.0f, outer = above ? 1.0f : slope;
		om = fma(outer, m, sum * T), ov = fma(D, D, c * T), g = fma(om, g2, g);
		// By D and T; the latter only counts where T is not constant, and is zero elsewhere. Within, u is m, else it is side·d.
		float by_D = h * D, by_T = h * c, by_m = outer * g, by_d = (reach + side) * by_D;
		where_positive(T, by_T, sum, g, by_T), where_positive(T, by_m, outer, g, by_D), where_positive(T, by_d, reach, by_D, by_T);
		dm = fma(-side, by_T, by_m), dv = by * by_d;
	}
};
