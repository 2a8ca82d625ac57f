// The end of a step of networks with layers that are cut into planes: sums of the gradients,
// KL and norm, then AdamW, which cuts the weights anew. Both launches read what they can
// before the launch before them has ended.
#include "finish.cu"

// A Stretch is what a block of wide_adamw updates: blocks from to to of the planes of a
// tensor, or a chunk of one that is not cut.
struct Stretch {
	int tensor, from, to, chunk; // tensor −1: it is not cut
};
struct WideUpdate {
	Norm norm;  // of count chunks; behind their parts, those of the score
	Adam adam;
	Turn* turn; // wide_gradients writes it
	const Stretch* stretches;
	const CutTensor* cuts;
};

// A Known is what norm needs of N elements of a chunk besides their gradients, whose sums
// take longest.
template <int N>
struct Known {
	float mu[N], rho[N], mid[N];
};
template <int N>
DEVICE Known<N> know(const Norm& a, const Chunk& t, int first) {
	Known<N> x;
#pragma unroll
	for (int j = 0; j < N; j++) {
		int i = first + j * OPT;
		bool in = i < t.hi && t.random;
		x.mu[j] = in ? fresh(a.theta + t.mean + i) : 0.0f, x.rho[j] = in ? fresh(a.theta + t.rho + i) : 0.0f, x.mid[j] = in && t.center ? t.center[i] : 0.0f;
	}
	return x;
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
		Known<N> now = know<N>(a, t, first);
		Prior prior = prior_of(t, k.kl);
		double constant = random ? constant_of(t) : 0.0;
		float *gmean = a.grad + t.mean, *grho = a.grad + t.rho;
		long long size = a.size;
		follow();
		if (!finite) return;
		for (; first < hi; first += N * OPT) {
			float gm[N], gs[N];
#pragma unroll
			for (int j = 0; j < N; j++) {
				int i = first + j * OPT;
				gm[j] = i < hi ? gmean[i] : 0.0f, gs[j] = i < hi && random ? grho[i] : 0.0f;
			}
#pragma unroll 3
			for (int p = 1; p < parts; p++)
#pragma unroll
				for (int j = 0; j < N; j++) {
					int i = first + j * OPT;
					if (i >= hi) continue;
					gm[j] += gmean[p * size + i];
					if (random) gs[j] += grho[p * size + i];
				}
			Known<N> next = know<N>(a, t, first + N * OPT);
#pragma unroll
			for (int j = 0; j < N; j++) {
				int i = first + j * OPT;
				if (i >= hi) continue;
				if (parts > 1) gmean[i] = gm[j];
				if (parts > 1 && random) grho[i] = gs[j];
				Spread s = {};
				if (random) s = spread(now.rho[j]);
				Weight w = whole(t, prior, s, k.kl, now.mu[j] - now.mid[j], now.rho[j], gm[j], gs[j]);
				if (random) {
					float d = w.mu - prior.mean;
					y += (double)w.gr * w.gr;
					x += 0.5 * (double)prior.by * ((double)s.sigma * s.sigma + (double)d * d) + constant - s.ln;
				}
				y += (double)w.g * w.g;
			}
			now = next;
		}
	}
	total(x, y);
	if (thread() == 0) a.parts[2 * block()] = x, a.parts[2 * block() + 1] = y;
}

// Weights are four neighbours with all that their step needs.
struct Weights {
	Span mu, rho, g, h, a1, a2, b1, b2, mid; // means, ρ, gradients, AdamW's moments of both, centres of priors
};
// A Corner is where a thread has them, in a block of the planes.
struct Corner {
	int r, c;
	bool in;
};
DEVICE Corner corner_of(const CutTensor& t, int block) {
	int across = (t.cols + BLOCK - 1) / BLOCK, r = block / across * BLOCK + thread() / 8;
	return {r, block % across * BLOCK + thread() % 8 * 4, r < t.rows};
}
DEVICE void load_weights(Weights& w, const Adam& a, const Chunk& t, int cols, Corner at) {
	auto read = [&](const float* p) { return read4(p, at.r, at.c, cols, at.in); };
	w.mu = read(a.theta + t.mean), w.rho = read(a.theta + t.rho);
	w.a1 = read(a.first + t.mean), w.b1 = read(a.first + t.rho), w.a2 = read(a.second + t.mean), w.b2 = read(a.second + t.rho);
	w.mid = read(t.center);
}
DEVICE void load_gradients(Weights& w, const Adam& a, const Chunk& t, int cols, Corner at) {
	w.g = read4(a.grad + t.mean, at.r, at.c, cols, at.in), w.h = read4(a.grad + t.rho, at.r, at.c, cols, at.in);
}

// update_block makes the step of random weights as update_chunk does, and cuts them.
DEVICE void update_block(const Adam& a, const Control& k, const Chunk& t, const CutTensor& cut, float clip, Weights& w, Corner at, int turn) {
	const Prior prior = prior_of(t, k.kl);
	float keep = t.no_decay ? 1.0f : k.keep_mean;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		Weight x = whole(t, prior, spread(w.rho.x[i]), k.kl, w.mu.x[i] - w.mid.x[i], w.rho.x[i], w.g.x[i], w.h.x[i]);
		w.rho.x[i] = step(k, k.keep_rho, w.rho.x[i], clip * x.gr, w.b1.x[i], w.b2.x[i]);
		w.mu.x[i] = step(k, keep, x.mu, clip * x.g, w.a1.x[i], w.a2.x[i]) + w.mid.x[i];
	}
	auto write = [&](float* p, const Span& x) { write4(p, at.r, at.c, cut.cols, at.in, x); };
	write(a.theta + t.mean, w.mu), write(a.theta + t.rho, w.rho);
	write(a.first + t.mean, w.a1), write(a.first + t.rho, w.b1), write(a.second + t.mean, w.a2), write(a.second + t.rho, w.b2);
	cut_weight(cut, at.r, at.c, at.in, w.mu, w.rho, turn);
}

// wide_adamw has a block for each stretch. All of them add up the parts of wide_norm, in the
// same order.
KERNEL_CHAIN(wide_adamw, WideUpdate, OPT, 3) {
	SHARED Chunk t;
	SHARED Control k;
	SHARED CutTensor cut;
	const Adam& a = c.adam;
	const Norm& norm = c.norm;
	const Stretch s = c.stretches[block()];
	bool planes = s.tensor >= 0;
	Turn turn = {fresh(&c.turn->slot), fresh(&c.turn->finite)};
	int word = thread() % 32, warp = thread() / 32;
	if (warp == 0 && word < (int)sizeof(Chunk) / 8) ((uint64*)&t)[word] = fresh((const uint64*)(a.chunks + s.chunk) + word);
	if (warp == 1 && word < (int)sizeof(Control) / 8) ((uint64*)&k)[word] = fresh((const uint64*)(a.control + turn.slot) + word);
	if (warp == 2 && word < (int)sizeof(CutTensor) / 8 && planes) ((uint64*)&cut)[word] = ((const uint64*)(c.cuts + s.tensor))[word];
	barrier();
	Weights w;
	Corner at = {};
	if (planes) at = corner_of(cut, s.from), load_weights(w, a, t, cut.cols, at);
	follow();
	if (!turn.finite) return;
	if (planes) load_gradients(w, a, t, cut.cols, at);
	double kl = 0, n2 = 0, nll = norm.parts[2 * norm.count], floored = norm.parts[2 * norm.count + 1];
	for (int i = thread(); i < norm.count; i += OPT) kl += norm.parts[2 * i], n2 += norm.parts[2 * i + 1];
	total(kl, n2);
	if (block() == 0 && thread() == 0) publish(norm, turn.slot, conclude(k, kl, n2, nll, floored));
	if (!is_finite(nll) || !is_finite(kl + n2)) return;
	float clip = clipping(k, n2);
	if (!planes) {
		update_chunk(a, k, t, t.lo, clip);
		return;
	}
	for (int i = s.from;;) {
		update_block(a, k, t, cut, clip, w, at, i - s.from);
		if (++i == s.to) break;
		at = corner_of(cut, i);
		load_weights(w, a, t, cut.cols, at), load_gradients(w, a, t, cut.cols, at);
	}
}
