// The sense of layers whose outputs have several inputs: pools, convolutions and
// normalisation. sense.h includes this file.

// sense_avg and its reverse: a pooling adds nothing.
DEVICE void sense_avg(const Op& o, long long r0, int rows) {
	for (int j = 0; j < o.targets; j++) {
		const float* a = o.g + sensitivity(o, j, r0, o.out);
		float* in = o.dm + sensitivity(o, j, r0, o.in);
		for (int i = thread(); i < rows * o.in; i += THREADS) {
			float sum = 0;
			each_window(o.image, i % o.in, [&](int out, int) { sum = fma(a[i / o.in * o.out + out], share(o, out), sum); });
			in[i] = sum;
		}
	}
}
DEVICE void sense_avg_back(const Op& o, long long r0, int rows) {
	int n = o.image.kh * o.image.kw;
	for (int j = 0; o.dm && j < o.targets; j++) {
		const float* b = o.om + sensitivity(o, j, r0, o.in);
		float* out = o.dm + sensitivity(o, j, r0, o.out);
		for (int i = thread(); i < rows * o.out; i += THREADS) {
			float sum = 0;
			for (int k = 0; k < n; k++) {
				int at = cell(o.image, i % o.out, k);
				if (at >= 0) sum += b[i / o.out * o.in + at];
			}
			out[i] = sum * share(o, i % o.out);
		}
	}
}

// A maximum is taken cell by cell, and each of these steps is a layer: see maxpool_sense.go
// of package nn. So o.out counts the cells of all places: o.m holds the slopes p by the
// maximum so far, 0 at the first cell and 1 where there is none, and o.tape what a step
// adds. o.tv are the sensitivities to the places, and o.ov, also o.g, those to the
// maximum after each cell.
DEVICE void sense_max(const Op& o, long long r0, int rows) {
	int n = o.image.kh * o.image.kw, places = o.out / n;
	for (int j = 0; j < o.targets; j++) {
		for (int i = thread(); i < rows * places; i += THREADS) {
			float t = o.tv[sensitivity(o, j, r0, places) + i], *a = o.ov + sensitivity(o, j, r0, o.out) + i * n;
			const float* p = o.m + r0 * o.out + i * n;
			for (int k = n - 1; k >= 0; k--) a[k] = t, t *= p[k];
		}
	}
	barrier();
	for (int j = 0; j < o.targets; j++) {
		const float *a = o.g + sensitivity(o, j, r0, o.out), *p = o.m + r0 * o.out;
		float* in = o.dm + sensitivity(o, j, r0, o.in);
		for (int i = thread(); i < rows * o.in; i += THREADS) {
			float sum = 0;
			each_window(o.image, i % o.in, [&](int out, int k) {
				int at = (i / o.in * places + out) * n + k;
				sum = fma(1 - p[at], a[at], sum);
			});
			in[i] = sum;
		}
	}
}

// sense_max_back: o.v is what the steps add, o.ov receives the gradients by p; o.dm those
// by the sensitivities to the places.
DEVICE void sense_max_back(const Op& o, long long r0, int rows) {
	int n = o.image.kh * o.image.kw, places = o.out / n;
	for (int i = thread(); i < rows * places; i += THREADS) {
		long long row = r0 + i / places, at = r0 * o.out + (long long)i * n;
		int u = i % places * n;
		for (int k = 0; k < n; k++) o.ov[at + k] = o.dv[at + k] = 0;
		for (int j = 0; j < o.targets; j++) {
			const float *b = o.om + sensitivity(o, j, row, o.in), *a = o.g + sensitivity(o, j, row, o.out) + u;
			float before = 0;
			for (int k = 0; k < n; k++) {
				int c = cell(o.image, i % places, k);
				if (c < 0) continue;
				float p = o.m[at + k], t = weigh(o, j, row, u + k);
				o.ov[at + k] = fma(a[k], before - b[c], o.ov[at + k]), o.dv[at + k] = fma(t, a[k], o.dv[at + k]);
				before = fma(2 * t, o.v[at + k], p * before + (1 - p) * b[c]);
			}
			if (o.dm) o.dm[sensitivity(o, j, r0, places) + i] = before;
		}
	}
}

// See shared.h.
DEVICE void sense_conv(const Op& o, long long r0, int rows) {
	int n = features(o), weights = filters(o);
	for (int j = 0; j < o.targets; j++) {
		const float* a = o.g + sensitivity(o, j, r0, o.out);
		if (o.ov) seen(o, a, o.ov + sensitivity(o, j, r0, weights), o.dv ? o.dv + sensitivity(o, j, r0, n) : 0, r0, rows);
		if (o.dm) sense_places(o, a, o.dm + sensitivity(o, j, r0, o.in), rows);
	}
	barrier();
	for (int j = 0; j < o.targets; j++)
		for (int i = o.weighted ? 0 : j; i <= j; i++) {
			if (o.tape) contribute(o, o.tape, o.out, o.g, o.out, j, i, r0, rows);
			if (o.ov) contribute(o, o.st, 0, o.ov, weights, j, i, r0, rows);
			if (o.dv) contribute(o, o.bs, 0, o.dv, n, j, i, r0, rows);
		}
}

DEVICE void sense_conv_back(const Op& o, long long r0, int rows) {
	int n = features(o), weights = filters(o);
	for (int i = thread(); o.dv && i < rows * o.out; i += THREADS) {
		float de = 0;
		for (int j = 0; j < o.targets; j++) de = fma(weigh(o, j, r0 + i / o.out, i % o.out), o.g[sensitivity(o, j, r0, o.out) + i], de);
		o.dv[r0 * o.out + i] = de;
	}
	for (int j = 0; j < o.targets; j++) {
		const float* a = o.g + sensitivity(o, j, r0, o.out);
		barrier();
		for (int i = thread(); o.ty && i < rows * weights; i += THREADS)
			o.tape[r0 * weights + i] = 2 * o.st[i % weights] * weigh(o, o.ty, weights, j, r0 + i / weights, i % weights);
		barrier();
		for (int i = thread(); o.yo && i < rows * o.in; i += THREADS) {
			long long row = r0 + i / o.in, at = r0 * o.in + i;
			float x = spread(o, a + i / o.in * o.out, o.tape + row * weights, i % o.in);
			o.yo[at] = j ? o.yo[at] + x : x;
		}
		for (int i = thread(); o.dm && i < rows * o.out; i += THREADS) {
			long long row = r0 + i / o.out, at = r0 * o.out + i;
			int u = i % o.out;
			float by = o.om ? gather(o, o.om + sensitivity(o, j, row, o.in), o.w, u) : 0.0f;
			if (o.ty) by += gather(o, o.tm + row * o.in, o.tape + row * weights, u);
			if (o.bs) by = fma(2 * o.bs[u % n], weigh(o, o.tv, n, j, row, u % n), by);
			if (o.v) by = fma(2 * o.v[at], weigh(o, j, row, u), by);
			o.dm[sensitivity(o, j, r0, o.out) + i] = by;
		}
	}
}

// LayerNorm adds nothing; its slopes are those at the means of the row: see norm_sense.go
// of package nn. o.tm and o.tv are the moments of its inputs, o.raw the gain. A warp has a
// row. The sums of one output are
struct Along {
	double t, w, avg; // avg û·t, avg û·w, avg w; t = a·γ, w = b/τ
};
DEVICE Along along(const Op& o, const Centred& s, const float* m, const float* a, const float* b) {
	Along x = {0, 0, 0};
	for (int i = thread() % 32; m && i < o.in; i += 32) {
		double u = (m[i] - s.mu) * s.inv, w = b ? b[i] * s.inv : a[i] * (double)o.raw[i] * s.inv;
		x.t += u * a[i] * o.raw[i], x.w += u * w, x.avg += w;
	}
	return {warp_sum(x.t) / o.in, warp_sum(x.w) / o.in, warp_sum(x.avg) / o.in};
}

DEVICE void sense_norm(const Op& o, long long r0, int rows) {
	int n = o.in, lane = thread() % 32, r = thread() / 32;
	bool in = r < rows;
	const float *m = in ? o.tm + (r0 + r) * n : 0, *v = in ? o.tv + (r0 + r) * n : 0;
	Centred s = centred(o, m, v);
	for (int j = 0; j < o.targets; j++) {
		long long at = sensitivity(o, j, r0 + r, n);
		Along x = along(o, s, m, o.g + at, 0);
		for (int i = lane; in && i < n; i += 32)
			o.dm[at + i] = (float)(o.g[at + i] * (double)o.raw[i] * s.inv - x.avg - (m[i] - s.mu) * s.inv * x.w);
	}
}

// sense_norm_back writes what comes through û and τ to the gradients by means, o.ov, by
// variances, o.dv, and by the gain, o.tape. o.scratch has the gradients by û of each row.
DEVICE void sense_norm_back(const Op& o, long long r0, int rows) {
	int n = o.in, lane = thread() % 32, r = thread() / 32;
	bool in = r < rows;
	const float *m = in ? o.tm + (r0 + r) * n : 0, *v = in ? o.tv + (r0 + r) * n : 0;
	double* by = o.scratch + (r0 + r) * n;
	Centred s = centred(o, m, v);
	for (int i = lane; in && i < n; i += 32) by[i] = 0, o.tape[(r0 + r) * n + i] = 0;
	double dinv = 0, avg = 0;
	for (int j = 0; j < o.targets; j++) {
		long long at = sensitivity(o, j, r0 + r, n);
		Along x = along(o, s, m, o.g + at, o.om + at);
		for (int i = lane; in && i < n; i += 32) {
			double u = (m[i] - s.mu) * s.inv, w = o.om[at + i] * s.inv, a = o.g[at + i], gain = o.raw[i], dt = w - x.avg - u * x.w;
			by[i] -= w * x.t + a * gain * x.w;
			dinv += a * gain * dt / s.inv;
			if (o.dm) o.dm[at + i] = (float)(dt * gain);
			o.tape[(r0 + r) * n + i] += (float)(dt * a);
		}
	}
	for (int i = lane; in && i < n; i += 32) avg += by[i] / n, dinv += by[i] * (m[i] - s.mu);
	avg = warp_sum(avg), dinv = warp_sum(dinv);
	double d = -dinv * s.inv * s.inv * s.inv / 2; // by τ²
	for (int i = lane; in && i < n; i += 32) {
		long long at = (r0 + r) * n + i;
		o.ov[at] = (float)((by[i] - avg) * s.inv + 2 * d * (m[i] - s.mu) / n), o.dv[at] = (float)(d * s.tau / n);
	}
}
