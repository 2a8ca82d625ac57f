// Formulas, elementwise: a launch of their own, so that other networks do not pay for the
// memory that they take.
#include "program.h"
#include "formula.h"

constexpr int FT = 128;

// Formulas is a launch: operation o, OP_APPLY or OP_APPLY_BACK, with its formula.
struct Formulas {
	const Op* o;
	const Program* program;
	int rows, pad;
	const Control* control;
	const Result* results; // null in prediction
};

// A block takes a stretch of elements, or a row if gradients of learned numbers are summed:
// those go to o.tape, first κ, then the learned inputs, each with room for all rows.
KERNEL_MANY(formulas, Formulas, FT, 1, block_y) {
	if (failed(a.results)) return;
	const Op o = *a.o;
	const Program& p = *a.program;
	const Control k = a.control[a.results ? a.results->slot : 0];
	const bool back = o.kind == OP_APPLY_BACK, row = o.tape && back;
	Key key = o.f.rule == SAMPLES ? sub_key(k.seed, k.step, o.f.index) : Key{0, 0};
	long long first = row ? (long long)block() * o.in : (long long)block() * FT;
	int n = row ? o.in : (int)((long long)a.rows * o.in - first < FT ? (long long)a.rows * o.in - first : FT);
	double by_kappa = 0, sums[MOST_INPUTS];
	for (int j = 0; j < p.learned; j++) sums[j] = 0;
	for (int i = thread(); i < n; i += FT) {
		long long at = first + i, r = at / o.in;
		int unit = (int)(at % o.in);
		float m = o.m[at], v = o.v ? o.v[at] : 0.0f;
		Derived by;
		Moments s = {};
		if (o.v) {
			s = push_formula(p, o.f, unit, m, v, key, k.row + r, back, &by);
		} else {
			Lanes l[MOST_SLOTS];
			run(p, back ? TRAIN : VALUE, unit, {m, m, m, m}, 1, l);
			s.m = l[0].x[0];
			if (back) {
				s.mm = l[1].x[0];
				for (int j = 0; j < p.learned; j++) by.m[j] = l[2 + j].x[0], by.v[j] = 0;
			}
		}
		if (!back) {
			o.om[at] = s.m;
			if (o.v) o.ov[at] = s.v;
			if (o.dm) o.dm[at] = s.slope, o.tape[at] = more(0.0f, s.v - s.slope * s.slope * v);
			continue;
		}
		float g = o.g[at], h = o.v ? o.h[at] : 0.0f, dm = g * s.mm + h * s.vm, dv = g * s.mv + h * s.vv;
		if (o.tv) rest_back(s, v, o.tm[at], o.tv[at], &dm, &dv);
		if (o.dm) o.dm[at] = dm;
		if (o.dv) o.dv[at] = dv;
		if (!row) continue;
		if (o.v) by_kappa += (double)g * s.mk + (double)h * s.vk;
		float* tape = o.tape + (o.f.rule == LEARNED ? a.rows : 0);
		for (int j = 0; j < p.learned; j++) {
			double d = (double)g * by.m[j] + (double)h * by.v[j];
			sums[j] += d;
			if (p.step[j]) tape[at] = (float)d;
			tape += (long long)a.rows * (p.step[j] ? o.in : 1);
		}
	}
	if (!row) return;
	float* tape = o.tape;
	if (o.f.rule == LEARNED) {
		double none = 0;
		total(by_kappa, none);
		if (thread() == 0) tape[block()] = (float)by_kappa;
		tape += a.rows;
	}
	for (int j = 0; j < p.learned; j++) {
		double none = 0;
		if (!p.step[j]) {
			total(sums[j], none);
			if (thread() == 0) tape[block()] = (float)sums[j];
		}
		tape += (long long)a.rows * (p.step[j] ? o.in : 1);
	}
}
