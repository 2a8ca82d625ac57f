// Covariances of the units of a row behind layers that carry correlations. A layer that
// acts on each unit scales them by its slopes.
#pragma once
#include "program.h"

// scale_cov writes slope·slope′·c, and the variances on the diagonal: o.m are the slopes,
// null for 1; o.v the variances; o.tm is c.
DEVICE void scale_cov(const Op& o, long long r0, int rows) {
	int k = o.in;
	for (int i = thread(); i < rows * k * k; i += threads()) {
		long long at = r0 * k * k + i, row = at / k / k * k;
		int a = i / k % k, b = i % k;
		float g = o.m ? o.m[row + a] * o.m[row + b] : 1.0f;
		o.cov[at] = a == b ? o.v[row + a] : g * o.tm[at];
	}
}

// scale_cov_back takes o.s, the gradients by the scaled covariances, to o.dcov, those by
// o.tm, and to o.dm, those by the slopes.
DEVICE void scale_cov_back(const Op& o, long long r0, int rows) {
	int k = o.in;
	for (int i = thread(); i < rows * k; i += threads()) {
		long long row = (r0 + i / k) * k;
		int a = i % k;
		float g = o.m ? o.m[row + a] : 1.0f, sum = 0;
		for (int b = 0; b < k; b++) {
			long long at = (row + a) * k + b;
			float other = o.m ? o.m[row + b] : 1.0f;
			if (a != b) sum += 2 * o.s[at] * other * o.tm[at];
			o.dcov[at] = a == b ? 0.0f : g * other * o.s[at];
		}
		if (o.dm) o.dm[row + a] = sum;
	}
}
