// The end of a step of one of many networks, in one launch: sums of the gradients' parts, KL
// and norm, then AdamW. The blocks of a cluster have a network, a warp has a chunk, and a
// lane every 32nd of its parameters. It keeps what it read of them while the blocks tell
// one another their sums, so that everything is read once. Functions are the machine's, off
// by a bit or two, and nothing branches.
#pragma once
#include "chain_update.h"
#include "cluster.h"
#include "crowd_function.h"

constexpr int UPDATERS = 8, SEVERAL = 8, MOST_WARPS = 12; // blocks of a cluster; parameters of a lane; warps of a block

#ifndef EMULATED
DEVICE float quick_power(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; } // of two
DEVICE float quick_log(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; } // to the base of two
DEVICE float fresh_far(Out p) { return *(const volatile __attribute__((address_space(1))) float*)p; } // fresh
#else
DEVICE float quick_power(float x) { return exp2f(x); }
DEVICE float quick_log(float x) { return log2f(x); }
DEVICE float fresh_far(Out p) { return *p; }
#endif

// decayed is exp(−|ρ|); what rounding takes from the exponent is added behind.
DEVICE float decayed(float rho) {
	float x = minus_abs(rho, 104), n = x * LOG2E, lost = fma(x, 0x1.4ae0bfp-26f, fma(x, LOG2E, -n)), e = quick_power(n);
	return fma(e, lost * 0x1.62e43p-1f, e);
}

// A Wide is how spread a weight is: σ; ∂σ/∂ρ; σ over e^min(ρ, 0); and ∂lnσ/∂ρ.
struct Wide {
	float sigma, slope, rest, ratio;
};
DEVICE Wide widen(float rho) {
	float e = decayed(rho), h = loga_ratio(e), r = tiny_inverse(1 + e), s = fma(e, h, rho);
	bool low = rho < 0;
	float rest = low ? h : s;
	return {low ? e * h : s, low ? e * r : r, rest, r * tiny_inverse(rest)};
}

// variance_of has the bits of derive, so that a training which continues has them, too.
DEVICE float variance_of(float rho) {
	Power p = expo_parts(minus_abs(rho, 104));
	float u = scaled(1 + p.p, p.n), sigma = fma(loga_ratio(u), u, more(rho, 0.0f));
	return sigma * sigma;
}

// Several are the parameters of a lane with gradients and AdamW's moments.
struct Several {
	float mu[SEVERAL], rho[SEVERAL], g[SEVERAL], gr[SEVERAL], m1[SEVERAL], m2[SEVERAL], r1[SEVERAL], r2[SEVERAL];
};

DEVICE void get_several(float (&x)[SEVERAL], Out from) {
#pragma unroll
	for (int j = 0; j < SEVERAL; j++) x[j] = fresh_far(from + 32 * j);
}

// read_several reads parameters and moments from number first on. It may read beyond the end of a
// chunk, where other numbers lie, or room that the engine leaves for it.
DEVICE void read_several(Several& q, const Adam& a, const Chunk& t, int first, int hi) {
	const long long mean = t.mean + first, rho = t.rho + first;
	get_several(q.mu, out(a.theta) + mean), get_several(q.m1, out(a.first) + mean), get_several(q.m2, out(a.second) + mean);
	if (t.random) {
		get_several(q.rho, out(a.theta) + rho), get_several(q.r1, out(a.first) + rho), get_several(q.r2, out(a.second) + rho);
	} else {
#pragma unroll
		for (int j = 0; j < SEVERAL; j++) q.rho[j] = q.r1[j] = q.r2[j] = 0;
	}
	if (t.center) {
#pragma unroll
		for (int j = 0; j < SEVERAL; j++)
			if (first + 32 * j < hi) q.mu[j] -= t.center[first + 32 * j];
	}
}

// sum_several adds up the parts of a gradient, in a fixed order; eight are on their way at a time. Where a chunk is at
// most half full, the places of the other half take the later parts.
DEVICE void sum_several(float (&g)[SEVERAL], Out from, long long size, int parts, bool half_full) {
	constexpr int HALF_WAY = SEVERAL / 2;
	const bool split = half_full && parts % 2 == 0;
	const Out behind = split ? from + parts / 2 * size : from + 32 * HALF_WAY;
	parts = split ? parts / 2 : parts;
#pragma unroll
	for (int j = 0; j < SEVERAL; j++) g[j] = 0;
#pragma unroll 1
	for (int p = 0; p < parts; p += 8) {
		float x[8][SEVERAL];
#pragma unroll
		for (int i = 0; i < 8; i++) {
			long long at = less(p + i, parts - 1) * size;
#pragma unroll
			for (int j = 0; j < SEVERAL; j++) x[i][j] = fresh_far((j < HALF_WAY ? from + at : behind + at) + 32 * (j % HALF_WAY));
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
#pragma unroll
			for (int j = 0; j < SEVERAL; j++) g[j] += p + i < parts ? x[i][j] : 0.0f;
	}
#pragma unroll
	for (int j = 0; j < HALF_WAY; j++) g[j] += split ? g[j + HALF_WAY] : 0.0f;
}

// weigh_several adds the gradients of the KL to those of the score; it returns KL and squared norm.
DEVICE void weigh_several(Several& q, const Control& k, const Chunk& t, int first, int hi, double& kl, double& n2) {
	float sum = 0;
	n2 = 0;
	if (t.random) {
		const float by = tiny_inverse((float)t.prior_var), mean = (float)t.prior_mean, scale = k.kl * by;
#pragma unroll
		for (int j = 0; j < SEVERAL; j++) {
			Wide w = widen(q.rho[j]);
			float d = q.mu[j] - mean;
			q.g[j] = fma(scale, d, q.g[j]);
			q.gr[j] = fma(w.slope * w.sigma, fma(2.0f, q.gr[j], scale), -(k.kl * w.ratio));
			// (σ²/s² + d²/s² − 1)/2 − ln(σ/s): the logarithm is that of a number neither large nor small.
			float x = fma(0.5f * by, fma(d, d, w.sigma * w.sigma), -0.5f) - fma(0.5f * 0x1.62e43p-1f, quick_log(w.rest * w.rest * by), less(q.rho[j], 0.0f));
			bool live = first + 32 * j < hi;
			sum += live ? x : 0.0f;
			double g = live ? q.g[j] : 0.0f, r = live ? q.gr[j] : 0.0f;
			n2 = fma(g, g, fma(r, r, n2));
		}
	} else {
#pragma unroll
		for (int j = 0; j < SEVERAL; j++) {
			double g = first + 32 * j < hi ? q.g[j] : 0.0f;
			n2 = fma(g, g, n2), q.gr[j] = 0;
		}
	}
	kl = sum;
}

// quick_step is step.
DEVICE void quick_step(const Control& k, float keep, float& x, float g, float& m1, float& m2) {
	m1 = fma(k.b1, m1, (1 - k.b1) * g), m2 = fma(k.b2, m2, (1 - k.b2) * (g * g));
	x = fma(-k.rate * m1, tiny_inverse(fma(tiny_root(m2), k.root2, k.eps)), keep * x);
}

// move_several makes the step.
DEVICE void move_several(Several& q, const Adam& a, const Control& k, const Chunk& t, int first, int hi, float clip) {
	const long long mean = t.mean + first, rho = t.rho + first;
	const float keep_mean = t.no_decay ? 1.0f : k.keep_mean, keep_rho = k.keep_rho;
	const bool random = t.random;
	const float* center = t.center;
#pragma unroll
	for (int j = 0; j < SEVERAL; j++) quick_step(k, keep_mean, q.mu[j], clip * q.g[j], q.m1[j], q.m2[j]);
	if (center) {
#pragma unroll
		for (int j = 0; j < SEVERAL; j++)
			if (first + 32 * j < hi) q.mu[j] += center[first + 32 * j];
	}
	auto set = [&](float* p, const float (&x)[SEVERAL]) INLINED {
#pragma unroll
		for (int j = 0; j < SEVERAL; j++)
			if (first + 32 * j < hi) out(p)[32 * j] = x[j];
	};
	set(a.theta + mean, q.mu), set(a.first + mean, q.m1), set(a.second + mean, q.m2);
	if (!random) return;
	float s[SEVERAL];
#pragma unroll
	for (int j = 0; j < SEVERAL; j++) {
		quick_step(k, keep_rho, q.rho[j], clip * q.gr[j], q.r1[j], q.r2[j]);
		s[j] = variance_of(q.rho[j]);
	}
	set(a.theta + rho, q.rho), set(a.first + rho, q.r1), set(a.second + rho, q.r2), set(t.s + first, s);
}

// tell_sums adds up two numbers over the blocks of a cluster, in a fixed order. The sums lie at the start
// of the dynamic memory: those of the cluster's blocks, then those of a block's warps.
DEVICE void tell_sums(double& x, double& y, int rank) {
	double *all = (double*)dynamic(), *mine = all + 2 * UPDATERS;
	int lane = thread() % 32, warps = threads() / 32;
	x = warp_sum(x), y = warp_sum(y);
	if (lane == 0) mine[thread() / 32] = x, mine[MOST_WARPS + thread() / 32] = y;
	barrier();
	x = warp_sum(lane < warps ? mine[lane] : 0.0), y = warp_sum(lane < warps ? mine[MOST_WARPS + lane] : 0.0);
	cluster_wait(); // all blocks are there
	if (thread() < UPDATERS) {
		Peer to = peer(dynamic(), thread());
		put(to, 4 * rank, from_bits((uint32)bits(x)), from_bits((uint32)(bits(x) >> 32)));
		put(to, 4 * rank + 2, from_bits((uint32)bits(y)), from_bits((uint32)(bits(y) >> 32)));
	}
	cluster_arrive(), cluster_wait();
	x = all[0], y = all[1];
#pragma unroll
	for (int i = 1; i < UPDATERS; i++) x += all[2 * i], y += all[2 * i + 1];
}

// update_crowd has UPDATERS blocks for a network, and a warp for each chunk.
DEVICE void update_crowd(const ChainUpdate& c) {
	const Norm& a = c.norm;
	const int rank = cluster_rank(), lane = thread() % 32, warp = thread() / 32, number = rank + UPDATERS * warp;
	float* after = dynamic() + 4 * UPDATERS + 4 * MOST_WARPS;
	Control& k = *(Control*)after;
	Chunk& t = ((Chunk*)(after + sizeof(Control) / 4))[warp];
	cluster_present();
	int slot = fresh(&c.turn->slot), finite = fresh(&c.turn->finite);
	if (lane < (int)sizeof(Chunk) / 8) ((uint64*)&t)[lane] = fresh((const uint64*)(a.chunks + less(number, a.count - 1)) + lane);
	if (thread() < (int)sizeof(Control) / 8) ((uint64*)&k)[lane] = fresh((const uint64*)(a.control + slot) + lane);
	warp_ready();
	int first = t.lo + lane, hi = number < a.count ? t.hi : t.lo; // warps behind the last chunk have nothing
	const int parts = t.parts;
	const Out by_mean = out(a.grad) + (t.mean + first), by_rho = t.random ? out(a.grad) + (t.rho + first) : by_mean;
	Several q;
	if (parts == 1) {
		read_several(q, c.adam, t, first, hi);
		follow();
		get_several(q.g, by_mean), get_several(q.gr, by_rho);
	} else { // registers do not hold several parts beside all else
		const bool half_full = t.hi - t.lo <= 32 * SEVERAL / 2;
		follow();
		sum_several(q.g, by_mean, a.size, parts, half_full), sum_several(q.gr, by_rho, a.size, parts, half_full);
		read_several(q, c.adam, t, first, hi);
	}
	barrier(); // the numbers of the step are there
	double kl, n2;
	weigh_several(q, k, t, first, hi, kl, n2);
	double nll = fresh(a.parts + 2 * a.count), floored = fresh(a.parts + 2 * a.count + 1);
	tell_sums(kl, n2, rank);
	if (!finite) return;
	if (rank == 0 && thread() == 0) publish(a, slot, conclude(k, kl, n2, nll, floored));
	if (is_finite(nll) && is_finite(kl + n2)) move_several(q, c.adam, k, t, first, hi, clipping(k, n2));
}

// More threads have fewer registers to keep what they read.
KERNEL_CHAIN(crowd_update, ChainUpdate, 288, 2) { update_crowd(c); }
KERNEL_CHAIN(crowd_update_large, ChainUpdate, MOST_WARPS * 32, 1) { update_crowd(c); }
