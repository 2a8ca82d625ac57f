// Closed forms of functions other than leaky ReLU, in float64 as in package fn: exact
// moments with their derivatives. Products of wide layers do without them: they would need
// more registers.
#pragma once
#include "elu.h"

DEVICE double less_one(double t) { // 1 − e⁻ᵗ
	return t < 1e-4 ? t * (1 - t / 2 * (1 - t / 3)) : 1 - expo(-t);
}

constexpr double PI = 3.14159265358979323846;

// turns are sine and cosine of what is left of x beyond whole turns.
DEVICE void turns(double x, double* sine, double* cosine) {
	float s, c;
	double turn = (double)(long long)(x / (2 * PI) + (x < 0 ? -0.5 : 0.5));
	sine_cosine((float)(x - turn * 2 * PI), &s, &c);
	*sine = s, *cosine = c;
}

DEVICE Jet wave(double s, double c, double v) {
	double r = expo(-v / 2), q = expo(-v), p = less_one(v);
	return {r * s, p * (p / 2 + q * c * c), r * c, -r * s / 2, -2 * p * q * s * c, q * (s * s * p + c * c * q), -r * c / 2};
}

// owen_slice calls visit with nodes x, x − a and weights of ∫ exp(−h²(1+x²)/2)·g(x) dx
// over a slice from a on; see owen.go of package special.
template <class F>
DEVICE void owen_slice(double h, double a, double width, double smooth, F visit) {
	constexpr double node[8] = {0.095012509837637440185, 0.281603550779258913230, 0.458016777657227386342, 0.617876244402643748447,
		0.755404408355003033895, 0.865631202387831743880, 0.944575023073232576078, 0.989400934991649932596};
	constexpr double weight[8] = {0.189450610455068496285, 0.182603415044923588867, 0.169156519395002538189, 0.149595988816576732081,
		0.124628971255533872052, 0.095158511682492784810, 0.062253523938647892863, 0.027152459411754094852};
	double h2 = h * h, lead = expo(-h2 * (1 + a * a) / 2);
	if (lead == 0) return;
	for (double lo = 0; lo < width && h2 * lo * (a + lo / 2) <= 45;) {
		double x = a + lo, w = width - lo, most = x > smooth ? x : smooth;
		if (w > most) w = most;
		if (h2 > 0 && w > 3 / (h2 * x + magnitude(h))) w = 3 / (h2 * x + magnitude(h));
		for (int i = 0; i < 16; i++) {
			double d = lo + w / 2 * (i < 8 ? 1 - node[i] : 1 + node[i - 8]);
			visit(a + d, d, lead * expo(-h2 * d * (a + d / 2)) * weight[i % 8] * w / 2);
		}
		if (lo + w == lo) return;
		lo += w;
	}
}

DEVICE Jet normal_jet(double m, double v) {
	double s2 = 1 + v, s = root(s2), h = m / s, p = density(h), a = 1 / root(1 + 2 * v), width = 2 * v * a * a / (1 + a), arc = 0, slice = 0;
	owen_slice(h, a, width, 1, [&](double x, double, double w) { arc += w / (1 + x * x), slice += w; });
	double by_h = -h / PI * slice; // −2φ(h)·(Φ(h) − Φ(ah))
	double w = p * density(a * h) * 2 / (1 + a * a);
	return {upper(-h), arc / PI, p / s, -h * p / (2 * s2), by_h / s, w * a * a * a - h * by_h / (2 * s2), p * (h * h - 1) / (2 * s2 * s)};
}

DEVICE Jet gelu_jet(double m, double v) {
	double s2 = 1 + v, s = root(s2), h = m / s, p = density(h);
	if (p == 0) return m < 0 ? Jet{0, 0, 0, 0, 0, 0, 0} : Jet{m, v, 1, 0, 0, 1, 0};
	double tail = upper(-h), mean = m * tail + v * p / s;
	double e1 = tail + h * p / s2, e2 = p * (1 + (1 - h * h) / s2) / s, e3 = -h * p * (1 + (3 - h * h) / s2) / s2;
	double a = 1 / root(1 + 2 * v), width = 2 * v * a * a / (1 + a), spread = 0, by_mean = 0, by_var = 0;
	owen_slice(h, a, width, 0, [&](double x, double from, double w) {
		double q = 1 + x * x, space = s2 * 2 * from * (x + a) / ((1 + a * a) * q);
		double ia = q / (2 * s2), ib = q / (2 * s2 * x * x), mu = m * ia, k = ia * (1 - x * x) / (2 * x * x), mu2 = mu * mu;
		double two = 2 - mu2 - (1 - (ia + ib) / 2), g = two * two + 4 * mu2 * k + 2 * k * k, dk = (ia * ia - ib * ib) / 2;
		double dp = 2 * two * (2 * mu2 * ia - (ia * ia + ib * ib) / 2) - 8 * mu2 * ia * k + 4 * mu2 * dk + 4 * k * dk;
		w /= q * PI;
		spread += w * space * g;
		by_mean += w * space * mu * (-g + ia * (4 * k - 2 * two));
		by_var += w * (g + space * ((mu2 - (ia + ib) / 2) * g + dp));
	});
	return {mean, v * e1 * e1 + spread, e1, e2 / 2, 2 * (v * e1 * e2 + by_mean), e1 * e1 + v * e1 * e3 + by_var, e3 / 2};
}

CALLED Moments closed_form(int op, float a, float mean, float variance) {
	double m = mean, v = variance;
	Jet j = {m, v, 1, 0, 0, 1, 0};
	if (v == 0) {
		Value at = evaluate(op, a, mean);
		return {at.f, 0, at.d, 0, 0, at.d * at.d, 0, 0, at.d, 0, 0};
	}
	switch (op) {
	case EXP: {
		double e = expo(m + v / 2), second = expo(2 * m + 2 * v), lost = -less_one(v);
		j = {e, -second * lost, e, e / 2, -2 * second * lost, second * (1 - lost), e / 2};
		break;
	}
	case SIN:
	case COS: {
		double s, c;
		turns(m, &s, &c);
		j = op == SIN ? wave(s, c, v) : wave(c, -s, v);
		break;
	}
	case SQUARE:
		j = {m * m + v, v * (4 * m * m + 2 * v), 2 * m, 1, 8 * m * v, 4 * (m * m + v), 0};
		break;
	case NORMAL_CDF:
		j = normal_jet(m, v);
		break;
	case ERF:
		j = normal_jet(1.4142135623730950488 * m, 2 * v);
		j = {2 * j.m - 1, 4 * j.v, 2.8284271247461900976 * j.mm, 4 * j.mv, 5.6568542494923801952 * j.vm, 8 * j.vv, 5.6568542494923801952 * j.bend};
		break;
	case GELU:
		j = gelu_jet(m, v);
		break;
	case ELU:
		j = elu_jet(m, v, a);
		break;
	}
	return {(float)j.m, (float)j.v, (float)j.mm, (float)j.mv, (float)j.vm, (float)j.vv, 0, 0, (float)j.mm, (float)(2 * j.mv), (float)j.bend};
}

// with_x are the moments of x + f(x) from those of f: Cov(x, f(x)) is v·mm.
DEVICE Moments with_x(const Moments& p, float m, float v) {
	Moments o = p;
	o.m += m, o.v = more(0.0f, v + p.v + 2 * v * p.mm), o.mm += 1, o.slope += 1;
	o.vm += 4 * v * p.mv, o.vv = 1 + p.vv + 2 * p.mm + 2 * v * p.sv;
	return o;
}

// value is a function at a number.
DEVICE Value value(const Func& f, float x) {
	Value y = evaluate(f.op, f.a, x);
	if (f.rule == CLOSED_FORM && f.points) y.f += x, y.d += 1;
	return y;
}

// push_any is push for all functions with a closed form.
DEVICE Moments push_any(const Func& f, float m, float v, Key key, uint64 row, uint32 unit) {
	if (f.rule == CLOSED_FORM && (f.op != LEAKY_RELU || f.points)) {
		Moments p = f.op == LEAKY_RELU ? leaky_exact(f.a, m, v) : closed_form(f.op, f.a, m, v);
		return f.points ? with_x(p, m, v) : p;
	}
	return push(f, m, v, key, row, unit);
}
