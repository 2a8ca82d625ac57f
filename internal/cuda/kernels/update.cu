// AdamW of networks with layers that are cut into planes: the update writes the planes.
#include "optim.h"
#include "planes.h"

// pair reads two neighbours; even says that they lie at a multiple of eight bytes.
DEVICE Two pair(const float* p, bool even, bool second) {
	if (even && second) {
		uint64 b = *(const uint64*)p;
		return {from_bits((uint32)b), from_bits((uint32)(b >> 32))};
	}
	return {p[0], second ? p[1] : 0.0f};
}
DEVICE void put(float* p, bool even, bool second, Two x) {
	if (even && second) {
		*(uint64*)p = (uint64)bits(x.y) << 32 | bits(x.x);
		return;
	}
	p[0] = x.x;
	if (second) p[1] = x.y;
}

// Weights are two neighbours with all that their step needs.
struct Weights {
	Two mu, rho, g, h, a1, a2, b1, b2, mid; // means, ρ, gradients, AdamW's moments of both, centres of priors
};

// update_planes makes the step of a chunk of random weights as update_chunk does, two
// neighbours in a thread. The next ones are loaded while these are computed.
DEVICE void update_planes(const Adam& a, const Control& k, const Chunk& t, float clip) {
	const Prior prior = prior_of(t, k.kl);
	float keep = t.no_decay ? 1.0f : k.keep_mean;
	float *mean = a.theta + t.mean, *rhos = a.theta + t.rho, *m1 = a.first + t.mean, *m2 = a.second + t.mean, *r1 = a.first + t.rho, *r2 = a.second + t.rho;
	const float *gmean = a.grad + t.mean, *grho = a.grad + t.rho, *center = t.center;
	const Planes p0 = t.planes[0];
	unsigned short *s0 = t.planes[1].at, *q0 = t.planes[2].at; // planes of one size
	int hi = t.hi, cols = t.cols, prepare = a.prepare;
	bool em = t.mean % 2 == 0, er = t.rho % 2 == 0;
	auto load = [&](int i) {
		bool second = i + 1 < hi;
		Weights w = {pair(mean + i, em, second), pair(rhos + i, er, second)};
		if (prepare) return w;
		w.g = pair(gmean + i, em, second), w.h = pair(grho + i, er, second);
		w.a1 = pair(m1 + i, em, second), w.a2 = pair(m2 + i, em, second), w.b1 = pair(r1 + i, er, second), w.b2 = pair(r2 + i, er, second);
		w.mid = center ? pair(center + i, true, second) : Two{0, 0};
		return w;
	};
	auto one = [&](float& mu, float& rho, float g, float h, float mid, float& a1, float& a2, float& b1, float& b2) {
		Weight w = whole(t, prior, spread(rho), k.kl, mu - mid, rho, g, h);
		rho = step(k, k.keep_rho, rho, clip * w.gr, b1, b2);
		mu = step(k, keep, w.mu, clip * w.g, a1, a2) + mid;
	};
	int i = t.lo + 2 * thread();
	if (i >= hi) return;
	Weights next = load(i);
	for (; i < hi; i += 2 * OPT) {
		Weights w = next;
		bool second = i + 1 < hi;
		if (i + 2 * OPT < hi) next = load(i + 2 * OPT);
		if (!prepare) {
			one(w.mu.x, w.rho.x, w.g.x, w.h.x, w.mid.x, w.a1.x, w.a2.x, w.b1.x, w.b2.x);
			one(w.mu.y, w.rho.y, w.g.y, w.h.y, w.mid.y, w.a1.y, w.a2.y, w.b1.y, w.b2.y);
			put(mean + i, em, second, w.mu), put(m1 + i, em, second, w.a1), put(m2 + i, em, second, w.a2);
			put(rhos + i, er, second, w.rho), put(r1 + i, er, second, w.b1), put(r2 + i, er, second, w.b2);
		}
		float x = softplus(w.rho.x), y = softplus(w.rho.y);
		int r = i / cols, c = i % cols;
		long long at = plane_place(p0, r, c);
		if (cols % 2 == 0) {
			cut_at(p0.at + at, p0.plane, w.mu);
			cut_at(s0 + at, p0.plane, {x * x, y * y});
			cut_at(q0 + at, p0.plane, {w.mu.x * w.mu.x, w.mu.y * w.mu.y});
			continue;
		}
		cut_one(p0.at + at, p0.plane, w.mu.x), cut_one(s0 + at, p0.plane, x * x), cut_one(q0 + at, p0.plane, w.mu.x * w.mu.x);
		if (!second) continue;
		if (++c == cols) c = 0, r++;
		at = plane_place(p0, r, c);
		cut_one(p0.at + at, p0.plane, w.mu.y), cut_one(s0 + at, p0.plane, y * y), cut_one(q0 + at, p0.plane, w.mu.y * w.mu.y);
	}
}

KERNEL_MANY(wide_adamw, Adam, OPT, 3, block_y) {
	if (!a.prepare && failed(a.results)) return;
	SHARED Chunk t;
	SHARED Control k;
	int next = a.prepare ? 0 : a.results->slot; // norm has counted this step
	float clip = a.results->clip;
	copy_words(t, a.chunks[block()], 0), copy_words(k, a.control[a.prepare ? 0 : (next ? next : a.slots) - 1], 32);
	barrier();
	if (t.planes) update_planes(a, k, t, clip);
	else update_chunk(a, k, t, t.lo, clip);
}
