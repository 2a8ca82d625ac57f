// Formulas: the programs of package expr. Kernels that are compiled for a formula call the
// functions that package gpu writes for it in PTX (COMPILED is set); the others run the
// programs instruction by instruction. All threads run the same instruction, and each takes
// four numbers at a time, so that reading and choosing an instruction costs little beside
// computing it.
#pragma once
#include "elem.h"

// The codes of instructions, in the order of compute.Code.
enum {
	CODE_COPY, CODE_ADD, CODE_SUB, CODE_MUL, CODE_DIV, CODE_MUL_ADD, CODE_MUL_SUB, CODE_SUB_MUL, CODE_NEG, CODE_ABS, CODE_SIGN, CODE_MIN, CODE_MAX,
	CODE_LESS, CODE_AT_MOST, CODE_EQUAL, CODE_NOT_EQUAL, CODE_SELECT, CODE_SQRT, CODE_LOG, CODE_LOG1P, CODE_EXPM1, CODE_ATAN, CODE_BEND, CODE_EVAL,
};

// An Instr is one instruction: dst = code(x, y, z), with the slope of fn in slope unless
// that is 0.
struct Instr {
	unsigned char code, fn;
	unsigned short x, y, z, dst, slope;
};

constexpr int MOST_INPUTS = 16, MOST_SLOTS = 64;

// A Code is a program over slots: x, the inputs, the constants, then the outputs and the
// temporaries, MOST_SLOTS at most, of which the first is slot number first.
struct Code {
	const Instr* instr;
	const float* consts;
	int count, first, outs, pad;
};

// A Program is a formula. value computes f; train f, f′ and ∂f/∂a of every learned input
// a; limit f, f′, f″, then ∂f/∂a and ∂f′/∂a of every learned input, then what changes sign
// at a kink.
struct Program {
	Code value, train, limit;
	const float* at[MOST_INPUTS]; // the inputs, the learned ones first
	int step[MOST_INPUTS];        // 1: a value for each unit; 0: one for all
	int inputs, learned;
};
static_assert(sizeof(Instr) == 12 && sizeof(Code) == 32 && sizeof(Program) == 296, "");

struct alignas(16) Lanes {
	float x[4];
};

DEVICE float arctangent(float x) {
	float a = magnitude(x), t = a > 1 ? 1 / a : a;
	float y = t * poly(t * t, {0.0010576075f, -0.0070306696f, 0.021912945f, -0.04392841f, 0.066852815f, -0.08785044f, 0.11050771f, -0.14278576f, 0.19999558f, -0.33333322f, 1.0f});
	if (a > 1) y = 1.5707963267948966f - y;
	return from_bits(bits(y) | (bits(x) & 0x80000000u));
}

// The codes of a program.
enum { VALUE, TRAIN, LIMIT };

#ifdef COMPILED

// What the instructions CODE_EVAL, and CODE_LOG to CODE_BEND, call.
extern "C" __attribute__((device)) __attribute__((used)) Value formula_eval(int fn, float x) { return evaluate(fn, 0, x); }
extern "C" __attribute__((device)) __attribute__((used)) float formula_math(int code, int fn, float x) {
	switch (code) {
	case CODE_LOG: return loga(x);
	case CODE_LOG1P: return loga_one_more(x);
	case CODE_EXPM1: return expo_less_one(x);
	case CODE_ATAN: return arctangent(x);
	}
	return curvature(fn, 0, x);
}

// The codes of the formula write output k to out[4·k].
extern "C" __attribute__((device)) void code_value(const Program* p, int unit, float x, float* out);
extern "C" __attribute__((device)) void code_train(const Program* p, int unit, float x, float* out);
extern "C" __attribute__((device)) void code_limit(const Program* p, int unit, float x, float* out);

DEVICE void run(const Program& p, int code, int unit, Lanes x, int count, Lanes* r) {
#pragma unroll 1
	for (int l = 0; l < count; l++) {
		if (code == VALUE) code_value(&p, unit, x.x[l], &r[0].x[l]);
		else if (code == TRAIN) code_train(&p, unit, x.x[l], &r[0].x[l]);
		else code_limit(&p, unit, x.x[l], &r[0].x[l]);
	}
}

#else

// run computes the outputs of a code at the first count of four numbers, at least, in slots
// 0, 1, … of r.
CALLED void run(const Program& p, int code, int unit, Lanes x, int count, Lanes* r) {
	const Code& c = (&p.value)[code];
	auto slot = [&](int s) -> Lanes {
		if (s >= c.first) return r[s - c.first];
		if (s == 0) return x;
		float a = s <= p.inputs ? p.at[s - 1][p.step[s - 1] * unit] : c.consts[s - 1 - p.inputs];
		return {a, a, a, a};
	};
	for (int k = 0; k < c.count; k++) {
		const Instr i = c.instr[k];
		Lanes a = slot(i.x), b, e, f, d;
		if (i.code == CODE_EVAL) {
#pragma unroll 1
			for (int l = 0; l < 4; l++) {
				Value v = evaluate(i.fn, 0, a.x[l]);
				f.x[l] = v.f, d.x[l] = v.d;
			}
			if (i.slope) r[i.slope - c.first] = d;
			r[i.dst - c.first] = f;
			continue;
		}
		b = slot(i.y), e = slot(i.z);
#define EACH(CODE, VALUE) \
	case CODE: \
		_Pragma("unroll") for (int l = 0; l < 4; l++) { \
			float x = a.x[l], y = b.x[l], z = e.x[l]; \
			f.x[l] = VALUE; \
		} \
		break;
		switch (i.code) {
			EACH(CODE_ADD, x + y)
			EACH(CODE_SUB, x - y)
			EACH(CODE_MUL, x * y)
			EACH(CODE_DIV, x / y)
			EACH(CODE_MUL_ADD, fma(x, y, z))
			EACH(CODE_MUL_SUB, fma(x, y, -z))
			EACH(CODE_SUB_MUL, fma(-x, y, z))
			EACH(CODE_NEG, -x)
			EACH(CODE_ABS, magnitude(x))
			EACH(CODE_SIGN, x > 0 ? 1.0f : x < 0 ? -1.0f : x)
			EACH(CODE_MIN, x != x || y != y ? x + y : less(x, y))
			EACH(CODE_MAX, x != x || y != y ? x + y : more(x, y))
			EACH(CODE_LESS, x < y ? 1.0f : 0.0f)
			EACH(CODE_AT_MOST, x <= y ? 1.0f : 0.0f)
			EACH(CODE_EQUAL, x == y ? 1.0f : 0.0f)
			EACH(CODE_NOT_EQUAL, x < y || x > y ? 1.0f : 0.0f)
			EACH(CODE_SELECT, x != 0 ? y : z)
			EACH(CODE_SQRT, root(x))
			EACH(CODE_LOG, loga(x))
			EACH(CODE_LOG1P, loga_one_more(x))
			EACH(CODE_EXPM1, expo_less_one(x))
			EACH(CODE_ATAN, arctangent(x))
			EACH(CODE_BEND, curvature(i.fn, 0, x))
			EACH(CODE_COPY, x)
		}
#undef EACH
		r[i.dst - c.first] = f;
	}
}

#endif

// A Derived holds the derivatives of the moments by the learned inputs.
struct Derived {
	float m[MOST_INPUTS], v[MOST_INPUTS];
};

// formula_limit replaces what differences cannot resolve when σ is tiny beside m. Where a
// kink is near, only the slope is taken from there.
DEVICE void formula_limit(const Program& p, int unit, float m, float v, float s, bool back, Moments* o, Derived* by, Lanes* r) {
	run(p, LIMIT, unit, {m, m - 8 * s, m + 8 * s, m}, 3, r);
	float f = r[0].x[0], d = r[1].x[0], c = r[2].x[0];
	for (int k = 3 + 2 * p.learned; k < p.limit.outs; k++)
		if (!(r[k].x[1] * r[k].x[2] > 0)) {
			if (!back) o->slope = d;
			return;
		}
	o->m = f + 0.5f * c * v, o->v = d * d * v;
	o->mm = o->slope = d, o->mv = 0.5f * c, o->vm = 2 * d * c * v, o->vv = d * d, o->sm = c, o->sv = 0;
	if (back)
		for (int j = 0; j < p.learned; j++) by->m[j] = r[3 + j].x[0], by->v[j] = 2 * d * r[3 + p.learned + j].x[0] * v;
}

// formula_points is by_points for a formula. With back set, the derivatives are wanted,
// too. Values and slopes at all points are kept: computing them takes longest.
DEVICE Moments formula_points(const Program& p, int unit, float m, float v, int n, const float* xi, const float* w, bool back, Derived* by, Lanes* r, float* f, float* d) {
	float s = root(v), M = 0, pd[MOST_INPUTS];
	if (back)
		for (int j = 0; j < p.learned; j++) by->m[j] = pd[j] = 0;
	for (int q = 0; q < n; q += 4) {
		Lanes x;
		for (int l = 0; l < 4; l++) x.x[l] = m + (q + l < n ? xi[q + l] : 0.0f) * s;
		run(p, back ? TRAIN : VALUE, unit, x, less(4, n - q), r);
		for (int l = 0; l < 4 && q + l < n; l++) {
			f[q + l] = r[0].x[l], d[q + l] = back ? r[1].x[l] : 0.0f;
			float a = f[q + l] - f[0];
			M += w[q + l] * a;
			if (back)
				for (int j = 0; j < p.learned; j++) by->m[j] += w[q + l] * r[2 + j].x[l], pd[j] += w[q + l] * a * r[2 + j].x[l];
		}
	}
	if (back)
		for (int j = 0; j < p.learned; j++) by->v[j] = 2 * (pd[j] - M * by->m[j]);
	float var = 0, mm = 0, ms = 0, vm = 0, vs = 0, fs = 0, ds = 0;
	for (int k = 0; k < n; k++) {
		float e = (f[k] - f[0]) - M, wr = w[k] * e, wg = w[k] * d[k], wrg = wr * d[k];
		var += wr * e, fs += w[k] * xi[k] * (f[k] - f[0]);
		mm += wg, ms += xi[k] * wg, ds += xi[k] * (xi[k] * wg), vm += wrg, vs += xi[k] * wrg;
	}
	Moments o;
	o.m = f[0] + M, o.v = var, o.mk = o.vk = o.sm = o.sv = 0;
	o.mm = o.slope = d[0], o.mv = 0, o.vm = 0, o.vv = d[0] * d[0];
	if (s == 0) {
		if (!back) run(p, LIMIT, unit, {m, m, m, m}, 1, r), o.slope = r[1].x[0];
		return o;
	}
	float h = 0.5f / s;
	o.mm = mm, o.mv = ms * h, o.vm = 2 * vm, o.vv = 2 * vs * h;
	o.slope = mm, o.sm = 2 * o.mv;
	if (!tiny(m, s)) o.slope = fs / s, o.sv = (ds - o.slope) / (v + v);
	else formula_limit(p, unit, m, v, s, back, &o, by, r);
	return o;
}

// formula_samples is by_samples for a formula.
DEVICE Moments formula_samples(const Program& p, int unit, float m, float v, int n, Key key, uint64 row, bool back, Derived* by, Lanes* r) {
	float s = root(v), ref = 0, e = 0, ee = 0, g = 0, xg = 0, eg = 0, exg = 0, slope = 0, pd[MOST_INPUTS];
	if (back)
		for (int j = 0; j < p.learned; j++) by->m[j] = pd[j] = 0;
	for (int pass = 0; pass < 2; pass++) {
		float f0 = 0, sum = 0;
		int most = pass == 0 && n > 12 ? 12 : n;
		for (int q = 0; q < most; q += 4) {
			Four z = normals(key, row, unit, q / 4);
			const float xi[4] = {z.a, z.b, z.c, z.d};
			run(p, back ? TRAIN : VALUE, unit, {m + z.a * s, m + z.b * s, m + z.c * s, m + z.d * s}, less(4, most - q), r);
			for (int l = 0; l < 4 && q + l < most; l++) {
				float f = r[0].x[l], d = back ? r[1].x[l] : 0.0f;
				if (pass == 0) {
					if (q + l == 0) f0 = f, slope = d;
					sum += f - f0;
					continue;
				}
				float x = f - ref, t = x * d;
				e += x, ee += x * x, g += d, xg += xi[l] * d, eg += t, exg += xi[l] * t;
				if (back)
					for (int j = 0; j < p.learned; j++) by->m[j] += r[2 + j].x[l], pd[j] += x * r[2 + j].x[l];
			}
		}
		if (pass == 0) ref = f0 + (1 / (float)most) * sum;
	}
	float w = 1 / (float)n, c = 1 / (float)(n - 1), mean = w * e;
	if (back)
		for (int j = 0; j < p.learned; j++) by->v[j] = 2 * c * (pd[j] - mean * by->m[j]), by->m[j] *= w;
	Moments o;
	o.mk = o.vk = o.slope = o.sm = o.sv = 0;
	o.m = ref + mean, o.v = c * more(0.0f, ee - mean * e);
	o.mm = slope, o.mv = 0, o.vm = 0, o.vv = slope * slope;
	if (s == 0) return o;
	float h = 0.5f / s;
	o.mm = w * g, o.mv = w * xg * h;
	o.vm = 2 * c * (eg - mean * g), o.vv = 2 * c * (exg - mean * xg) * h;
	return o;
}

constexpr int MOST_POINTS = 64;

// push_formula returns the moments of a formula of x ~ N(m, v). Without back, only the
// mean, the variance and the slope are right.
DEVICE Moments push_formula(const Program& p, const Func& f, int unit, float m, float v, Key key, uint64 row, bool back, Derived* by) {
	Lanes r[MOST_SLOTS];
	if (f.rule == TANGENT) {
		Moments o = {};
		run(p, LIMIT, unit, {m, m, m, m}, 1, r);
		float d = r[1].x[0], c = r[2].x[0];
		o.m = r[0].x[0], o.v = d * d * v;
		o.mm = o.slope = d, o.vm = 2 * d * c * v, o.vv = d * d, o.sm = c;
		if (back)
			for (int j = 0; j < p.learned; j++) by->m[j] = r[3 + j].x[0], by->v[j] = 2 * d * r[3 + p.learned + j].x[0] * v;
		return o;
	}
	if (f.rule == SAMPLES) return formula_samples(p, unit, m, v, f.points, key, row, back, by, r);
	float values[MOST_POINTS], slopes[MOST_POINTS];
	if (f.rule != LEARNED) return formula_points(p, unit, m, v, f.points, f.nodes, f.nodes + f.points, back, by, r, values, slopes);
	double k = softplus(*f.kappa);
	float c = (float)root(k + 1), q = (float)(1 / (k + 1));
	const float xi[3] = {0, -c, c}, w[3] = {(float)(k / (k + 1)), q / 2, q / 2};
	Moments o = formula_points(p, unit, m, v, 3, xi, w, back, by, r, values, slopes);
	kappa_parts(&o, q, root(v), {values[0], slopes[0]}, {values[1], slopes[1]}, {values[2], slopes[2]}, (float)(0.25 / root(k + 1)));
	return o;
}
