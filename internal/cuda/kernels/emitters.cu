// Batches of simulated emitters (data.Emitters), drawn with the numbers that the host would
// draw. A warp has a row.
#include "random.h"
#include "conditional.h"

constexpr int EMITTER_ROWS = 8, EMITTER_GROUP = 64, MOST_SIDE = 16; // units of the stream in a group: two photons each

struct Emitters {
	float *x, *y;  // images and targets
	uint64 first;  // number of the first row
	Key key;
	int rows, side;
	float spread, blur;
	double photons, sigma; // sigma: blur with all digits
};

DEVICE void draw(Key k, uint64 i, uint32 attempt, uint32* w) {
	w[0] = (uint32)i, w[1] = (uint32)(i >> 32), w[2] = attempt, w[3] = 0x64726177u;
	philox(k, w);
}
DEVICE double uniform(uint32 lo, uint32 hi) { return (double)((((uint64)hi << 32) | lo) >> 11) * 0x1p-53; }

// poisson is rng.Poisson for means of 10 and more.
CALLED int poisson(Key k, uint64 i, double mean) {
	double b = 0.931 + 2.53 * root(mean), a = 0.02483 * b - 0.059;
	double alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2), ln = loga(mean);
	for (uint32 attempt = 0;; attempt++) {
		uint32 w[4];
		draw(k, i, attempt, w);
		double u = uniform(w[0], w[1]) - 0.5, v = 1 - uniform(w[2], w[3]), us = 0.5 - magnitude(u);
		double at = (2 * a / us + b) * u + mean + 0.43;
		double n = (double)(long long)at;
		if (n > at) n--; // the floor
		if (us >= 0.07 && v <= vr) return (int)n;
		if (n < 0 || (us < 0.013 && v > us)) continue;
		if (loga(v * alpha / (a / (us * us) + b)) <= n * ln - mean - log_factorial(n)) return (int)n;
	}
}

KERNEL(emitters, Emitters, EMITTER_ROWS * 32) {
	SHARED int left[EMITTER_ROWS];
	SHARED short places[EMITTER_ROWS][2 * EMITTER_GROUP]; // pixels that photons hit, −1: none
	int own = thread() / 32, lane = thread() % 32, r = block() * EMITTER_ROWS + own, pixels = a.side * a.side;
	bool in = r < a.rows;
	uint64 row = a.first + (uint64)r;
	Four z = normals(a.key, row, 0, 0);
	float x = a.spread * z.a, y = a.spread * z.b, half = (float)(a.side / 2), side = (float)a.side;
	if (lane == 0) {
		left[own] = in ? poisson(a.key, row, a.photons) : 0;
		if (in) {
			a.y[3 * (long long)r] = x, a.y[3 * (long long)r + 1] = y;
			a.y[3 * (long long)r + 2] = (float)(a.photons * caught(x, a.sigma, a.side) * caught(y, a.sigma, a.side));
		}
	}
	int hits[MOST_SIDE * MOST_SIDE / 32];
#pragma unroll
	for (int i = 0; i < MOST_SIDE * MOST_SIDE / 32; i++) hits[i] = 0;
	barrier();
	int most = 0;
	for (int i = 0; i < EMITTER_ROWS; i++)
		if (left[i] > most) most = left[i];
	for (int done = 0; done < most; done += 2 * EMITTER_GROUP) { // as often for all warps
		int here = left[own] - done, n = here <= 0 ? 0 : less(EMITTER_GROUP, (here + 1) / 2), count = here <= 0 ? 0 : less(here, 2 * n);
		for (int u = lane; u < n; u += 32) {
			Four z = normals(a.key, row, (uint32)(1 + done / 2 + u), 0);
			float across[2] = {z.a, z.b}, down[2] = {z.c, z.d};
			for (int k = 0; k < 2; k++) {
				if (k * n + u >= count) continue;
				float j = x + a.blur * across[k] + half, i = y + a.blur * down[k] + half;
				bool hit = i >= 0 && i < side && j >= 0 && j < side;
				places[own][k * n + u] = hit ? (short)((int)i * a.side + (int)j) : (short)-1;
			}
		}
		barrier();
		for (int p = 0; p < count; p++) {
			int place = places[own][p];
#pragma unroll
			for (int i = 0; i < MOST_SIDE * MOST_SIDE / 32; i++) hits[i] += place == i * 32 + lane;
		}
		barrier();
	}
	if (in)
#pragma unroll
		for (int i = 0; i < MOST_SIDE * MOST_SIDE / 32; i++)
			if (i * 32 + lane < pixels) a.x[(long long)r * pixels + i * 32 + lane] = (float)hits[i];
}
