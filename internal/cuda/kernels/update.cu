// The end of a step of networks with layers that are cut into planes: sums of the gradients,
// KL and norm, then AdamW, which cut_weights follows. Both launches read what they can before
// the launch before them has ended.
#include "chain.h"

struct WideUpdate {
	Norm norm;  // of count chunks; behind their parts, those of the score
	Adam adam;
	Turn* turn; // wide_gradients writes it
};

// Elements are N of a chunk, with the first parts of their gradients.
template <int N>
struct Elements {
	float mu[N], rho[N], mid[N], gm[N], gs[N];
};
template <int N>
DEVICE void load_elements(Elements<N>& x, const Norm& a, const Chunk& t, int first) {
#pragma unroll
	for (int j = 0; j < N; j++) {
		int i = first + j * OPT;
		bool in = i < t.hi && t.random;
		x.mu[j] = in ? fresh(a.theta + t.mean + i) : 0.0f, x.rho[j] = in ? fresh(a.theta + t.rho + i) : 0.0f, x.mid[j] = in && t.center ? t.center[i] : 0.0f;
	}
}
template <int N>
DEVICE void load_gradients(Elements<N>& x, const Norm& a, const Chunk& t, int first) {
#pragma unroll
	for (int j = 0; j < N; j++) {
		int i = first + j * OPT;
		bool in = i < t.hi;
		x.gm[j] = in ? a.grad[t.mean + i] : 0.0f, x.gs[j] = in && t.random ? a.grad[t.rho + i] : 0.0f;
	}
}

// wide_norm has a block for each chunk, which adds up the parts of its gradients with KL and
// squared norm, and one for the scores of the rows. wide_adamw adds up what they leave.
KERNEL_CHAIN(wide_norm, WideUpdate, OPT, 3) {
	constexpr int N = 3;
	SHARED Chunk t;
	SHARED Control k;
	const Norm& a = c.norm;
	int slot = fresh(&a.results->slot), finite = fresh(&a.results->finite), word = thread() % 32, warp = thread() / 32;
	bool rest = block() == a.count;
	if (warp == 0 && word < (int)sizeof(Chunk) / 8 && !rest) ((uint64*)&t)[word] = fresh((const uint64*)(a.chunks + block()) + word);
	if (warp == 1 && word < (int)sizeof(Control) / 8) ((uint64*)&k)[word] = fresh((const uint64*)(a.control + slot) + word);
	barrier();
	double x = 0, y = 0;
	if (rest) {
		follow();
		if (!finite) return;
#pragma unroll 4
		for (int i = thread(); i < a.rows; i += OPT) x += a.nll[i], y += a.floored[i];
	} else {
		int first = t.lo + thread(), hi = t.hi, parts = t.parts;
		bool random = t.random;
		Elements<N> now, next;
		load_elements(now, a, t, first);
		Prior prior = prior_of(t, k.kl);
		double constant = random ? constant_of(t) : 0.0;
		float *gmean = a.grad + t.mean, *grho = a.grad + t.rho;
		long long size = a.size;
		follow();
		if (!finite) return;
		load_gradients(now, a, t, first);
		for (; first < hi; first += N * OPT, now = next) {
			load_elements(next, a, t, first + N * OPT), load_gradients(next, a, t, first + N * OPT);
#pragma unroll 3
			for (int p = 1; p < parts; p++)
#pragma unroll
				for (int j = 0; j < N; j++) {
					int i = first + j * OPT;
					if (i >= hi) continue;
					now.gm[j] += gmean[p * size + i];
					if (random) now.gs[j] += grho[p * size + i];
				}
#pragma unroll
			for (int j = 0; j < N; j++) {
				int i = first + j * OPT;
				if (i >= hi) continue;
				float gm = now.gm[j], gs = now.gs[j];
				if (parts > 1) gmean[i] = gm;
				if (parts > 1 && random) grho[i] = gs;
				Spread s = {};
				if (random) s = spread(now.rho[j]);
				Weight w = whole(t, prior, s, k.kl, now.mu[j] - now.mid[j], now.rho[j], gm, gs);
				if (random) {
					float d = w.mu - prior.mean;
					y += (double)w.gr * w.gr;
					x += 0.5 * (double)prior.by * ((double)s.sigma * s.sigma + (double)d * d) + constant - s.ln;
				}
				y += (double)w.g * w.g;
			}
		}
	}
	total(x, y);
	if (thread() == 0) a.parts[2 * block()] = x, a.parts[2 * block() + 1] = y;
}

// A Two are neighbours.
struct Two {
	float x, y;
};
// pair reads them; even says that they lie at a multiple of eight bytes.
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

DEVICE Weights load_weights(const Adam& a, const Chunk& t, int i) {
	bool second = i + 1 < t.hi, em = t.mean % 2 == 0, er = t.rho % 2 == 0;
	const float *m = a.theta + t.mean + i, *r = a.theta + t.rho + i;
	Weights w = {pair(m, em, second), pair(r, er, second)};
	m = a.first + t.mean + i, r = a.first + t.rho + i;
	w.a1 = pair(m, em, second), w.b1 = pair(r, er, second);
	m = a.second + t.mean + i, r = a.second + t.rho + i;
	w.a2 = pair(m, em, second), w.b2 = pair(r, er, second);
	w.mid = t.center ? pair(t.center + i, true, second) : Two{0, 0};
	return w;
}
DEVICE void load_gradients(Weights& w, const Adam& a, const Chunk& t, int i) {
	bool second = i + 1 < t.hi;
	w.g = pair(a.grad + t.mean + i, t.mean % 2 == 0, second), w.h = pair(a.grad + t.rho + i, t.rho % 2 == 0, second);
}

// update_pairs makes the step of a chunk of random weights as update_chunk does, two
// neighbours in a thread; next are the first ones. The next ones are loaded while these are
// computed.
DEVICE void update_pairs(const Adam& a, const Control& k, const Chunk& t, float clip, Weights next) {
	const Prior prior = prior_of(t, k.kl);
	float keep = t.no_decay ? 1.0f : k.keep_mean;
	float *mean = a.theta + t.mean, *rhos = a.theta + t.rho, *m1 = a.first + t.mean, *m2 = a.second + t.mean, *r1 = a.first + t.rho, *r2 = a.second + t.rho;
	int hi = t.hi;
	bool em = t.mean % 2 == 0, er = t.rho % 2 == 0;
	auto one = [&](float& mu, float& rho, float g, float h, float mid, float& a1, float& a2, float& b1, float& b2) {
		Weight w = whole(t, prior, spread(rho), k.kl, mu - mid, rho, g, h);
		rho = step(k, k.keep_rho, rho, clip * w.gr, b1, b2);
		mu = step(k, keep, w.mu, clip * w.g, a1, a2) + mid;
	};
	for (int i = t.lo + 2 * thread(); i < hi; i += 2 * OPT) {
		Weights w = next;
		bool second = i + 1 < hi;
		if (i + 2 * OPT < hi) {
			next = load_weights(a, t, i + 2 * OPT);
			load_gradients(next, a, t, i + 2 * OPT);
		}
		one(w.mu.x, w.rho.x, w.g.x, w.h.x, w.mid.x, w.a1.x, w.a2.x, w.b1.x, w.b2.x);
		one(w.mu.y, w.rho.y, w.g.y, w.h.y, w.mid.y, w.a1.y, w.a2.y, w.b1.y, w.b2.y);
		put(mean + i, em, second, w.mu), put(m1 + i, em, second, w.a1), put(m2 + i, em, second, w.a2);
		put(rhos + i, er, second, w.rho), put(r1 + i, er, second, w.b1), put(r2 + i, er, second, w.b2);
	}
}

// wide_adamw has a block for each chunk. All of them add up the parts of wide_norm, in the
// same order.
KERNEL_CHAIN(wide_adamw, WideUpdate, OPT, 3) {
	SHARED Chunk t;
	SHARED Control k;
	const Adam& a = c.adam;
	const Norm& norm = c.norm;
	Turn turn = {fresh(&c.turn->slot), fresh(&c.turn->finite)};
	int word = thread() % 32, warp = thread() / 32;
	if (warp == 0 && word < (int)sizeof(Chunk) / 8) ((uint64*)&t)[word] = fresh((const uint64*)(a.chunks + block()) + word);
	if (warp == 1 && word < (int)sizeof(Control) / 8) ((uint64*)&k)[word] = fresh((const uint64*)(a.control + turn.slot) + word);
	barrier();
	int first = t.lo + 2 * thread();
	bool live = t.pairs && first < t.hi;
	Weights w = {};
	if (live) w = load_weights(a, t, first);
	follow();
	if (!turn.finite) return;
	if (live) load_gradients(w, a, t, first);
	double kl = 0, n2 = 0, nll = norm.parts[2 * norm.count], floored = norm.parts[2 * norm.count + 1];
	for (int i = thread(); i < norm.count; i += OPT) kl += norm.parts[2 * i], n2 += norm.parts[2 * i + 1];
	total(kl, n2);
	if (block() == 0 && thread() == 0) publish(norm, turn.slot, conclude(k, kl, n2, nll, floored));
	if (!is_finite(nll) || !is_finite(kl + n2)) return;
	float clip = clipping(k, n2);
	if (t.pairs) update_pairs(a, k, t, clip, w);
	else update_chunk(a, k, t, t.lo, clip);
}
