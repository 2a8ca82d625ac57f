// Convolutions that carry correlations: all places of an image share the weights. With a
// the sensitivities of an output of the network to the places, and m, v the image,
//
//	q = Σ_place m·a               what the output sees of each weight; Σ_place a: of each bias
//	e = Σ v·s                     what the weights make of v, at each place alone
//	variance added: Σ s·q² + Σ s_b·(Σ a)² + Σ e·a²
//
// The fields of the operations on sensitivities that differ from those of sense.h:
//
//	tm       m
//	w, st    means and variances of the weights; bs: variances of the biases
//	ov, dv   q and Σ a, a block of rows for each output
//
// and in the reverse
//
//	tm, w, st, bs  the same
//	ty, tv         q and Σ a
//	tape           gradients by the q of one output, room for a number of each weight
//	yo             gradients by m
//	dv             gradients by e
#pragma once
#include "image.h"

DEVICE int features(const Op& o) { return o.out / (o.image.oh * o.image.ow); }
DEVICE int cells(const Op& o) { return o.image.kh * o.image.kw; }
DEVICE int filters(const Op& o) { return cells(o) * o.image.c * features(o); } // weights

// spread is the sum over the windows that hold an input of a times the weights w.
DEVICE float spread(const Op& o, const float* a, const float* w, int in) {
	int n = features(o), c = o.image.c;
	float sum = 0;
	each_window(o.image, in, [&](int out, int k) {
		const float *from = a + out / c * n, *by = w + (k * c + in % c) * n;
		for (int f = 0; f < n; f++) sum = fma(from[f], by[f], sum);
	});
	return sum;
}

// gather is the sum over the window of an output of x times the weights w.
DEVICE float gather(const Op& o, const float* x, const float* w, int out) {
	int n = features(o), c = o.image.c, place = out / n * c;
	float sum = 0;
	for (int k = 0; k < cells(o); k++) {
		int at = cell(o.image, place, k);
		for (int i = 0; at >= 0 && i < c; i++) sum = fma(x[at + i], w[(k * c + i) * n + out % n], sum);
	}
	return sum;
}

// apart writes e to the tape.
CALLED void apart(const Op& o, long long r0, int rows) {
	for (int i = thread(); i < rows * o.out; i += threads()) o.tape[r0 * o.out + i] = gather(o, o.v + (r0 + i / o.out) * o.in, o.s, i % o.out);
}

// apart_back adds what comes by e, o.tv, and by q, o.tm, to the gradients by the image.
CALLED void apart_back(const Op& o, long long r0, int rows) {
	for (int i = thread(); i < rows * o.in; i += threads()) {
		long long at = r0 * o.in + i;
		if (o.tm) o.dm[at] += o.tm[at];
		if (o.tv) o.dv[at] += spread(o, o.tv + (r0 + i / o.in) * o.out, o.s, i % o.in);
	}
}

// sense_places takes the sensitivities a of some rows to the places to those to the image.
DEVICE void sense_places(const Op& o, const float* a, float* in, int rows) {
	for (int i = thread(); i < rows * o.in; i += threads()) in[i] = spread(o, a + i / o.in * o.out, o.w, i % o.in);
}

// seen writes q and the sums of an output.
CALLED void seen(const Op& o, const float* a, float* q, float* sums, long long r0, int rows) {
	int n = features(o), weights = filters(o), c = o.image.c, places = o.image.oh * o.image.ow;
	for (int i = thread(); i < rows * weights; i += threads()) {
		int w = i % weights, k = w / n / c, channel = w / n % c;
		const float *from = a + i / weights * o.out + w % n, *x = o.tm + (r0 + i / weights) * o.in;
		float sum = 0;
		for (int p = 0; p < places; p++) {
			int at = cell(o.image, p * c + channel, k);
			if (at >= 0) sum = fma(x[at], from[p * n], sum);
		}
		q[i] = sum;
	}
	for (int i = thread(); sums && i < rows * n; i += threads()) {
		float sum = 0;
		for (int p = 0; p < places; p++) sum += a[i / n * o.out + p * n + i % n];
		sums[i] = sum;
	}
}

// A SharedGradient is the gradient by variances of weights or biases, that comes through
// what they add: Σ over rows and pairs of outputs of h·q·q′.
constexpr int SHARED_THREADS = 128;
struct SharedGradient {
	const float *q, *h, *s; // h: by the variances of the outputs; s: by their covariances, or null
	float* grad;
	int rows, width, k, pad;
	const Result* results;
};
KERNEL_MANY(shared_gradient, SharedGradient, SHARED_THREADS, 1, block_y) {
	int w = block() * SHARED_THREADS + thread();
	if (failed(a.results) || w >= a.width) return;
	long long between = (long long)a.rows * a.width; // of two outputs
	float sum = 0;
	for (int row = 0; row < a.rows; row++) {
		const float* q = a.q + (long long)row * a.width + w;
		for (int i = 0; i < a.k; i++) {
			float t = a.h[row * a.k + i] * q[i * between];
			for (int j = 0; a.s && j < a.k; j++)
				if (j != i) t = fma(a.s[((long long)row * a.k + i) * a.k + j], q[j * between], t);
			sum = fma(t, q[i * between], sum);
		}
	}
	a.grad[w] = sum;
}
