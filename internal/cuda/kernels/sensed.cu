// Predictions of many rows by a plain network with correlations, in one launch: dense
// layers with a function behind each, numbers going in. A block keeps the weights in shared
// memory and takes 32 rows at a time; a lane has a row, a warp has units. Signals lie in
// shared memory unit by unit, so that a warp reads the same unit of all rows at once, and a
// weight is the same for all lanes.
#include "ops.h"
#include "near.h"

constexpr int SENSED_ROWS = 32, SENSED_WARPS = 8, SENSED_THREADS = 32 * SENSED_WARPS;
constexpr int SENSED_COLS = 8; // columns that a warp takes at a time
constexpr int MOST_SENSED = 8, SENSED_POINTS = 16;

// A SensedLayer is a dense layer with the function behind it. Places are offsets in shared
// memory, in numbers.
struct SensedLayer {
	const float *w, *s, *b, *bs; // bs, and both biases, may be null
	int in, out, pitch;          // pitch: numbers between rows of the weights in shared memory
	int means, variances, bias;  // places of the weights, and of the biases: means, then variances
	int adds, rest, slope;       // places of what the layer and its function add, and of the slopes
	int pad;
	Func f;
};
// What stands behind the last layer.
enum { NOTHING, APPENDED, NOISE };
struct Sensed {
	const float* x;
	float *om, *ov;
	const float* raw; // numbers that are appended, or of the noise
	const Control* control; // its batch is the number of rows
	const SensedLayer* layers;
	int count, outputs, width, behind; // width: of a row of the results
	int near, far, tall, ends;         // places of two signals, the units of one, and of the results
};
static_assert(sizeof(SensedLayer) == 136 && sizeof(Sensed) == 80, "");

// sensed_load copies a matrix into shared memory, with zeros behind its columns.
DEVICE void sensed_load(int to, const float* from, int rows, int cols, int pitch) {
	Near p = near(dynamic() + to);
	for (int i = thread(); i < rows * pitch; i += SENSED_THREADS) {
		int r = i / pitch, c = i % pitch;
		p[i] = from && c < cols ? from[r * cols + c] : 0.0f;
	}
}

// sensed_dense multiplies; adds receives what the weights add to the variances ov.
template <bool FIXED>
DEVICE void sensed_dense(const SensedLayer& l, Near x, Near v, Near om, Near ov, Near adds) {
	int lane = thread() % 32, pitch = l.pitch, in = l.in;
	for (int c0 = thread() / 32 * SENSED_COLS; c0 < l.out; c0 += SENSED_WARPS * SENSED_COLS) {
		float a[SENSED_COLS] = {}, e[SENSED_COLS] = {}, q[SENSED_COLS] = {};
		Near w = near(dynamic() + l.means + c0), s = near(dynamic() + l.variances + c0);
#pragma unroll 2
		for (int k = 0; k < in; k++) {
			float m = x[k * SENSED_ROWS + lane], y = FIXED ? 0.0f : v[k * SENSED_ROWS + lane], t = fma(m, m, y);
#pragma unroll
			for (int h = 0; h < SENSED_COLS; h += 4) {
				Four32 u = load4(w + k * pitch + h), z = load4(s + k * pitch + h);
#pragma unroll
				for (int i = 0; i < 4; i++) {
					a[h + i] = fma(m, u.x[i], a[h + i]);
					e[h + i] = fma(t, z.x[i], e[h + i]);
					if (!FIXED) q[h + i] = fma(y, u.x[i] * u.x[i], q[h + i]);
				}
			}
		}
		Near b = near(dynamic() + l.bias + c0);
#pragma unroll
		for (int i = 0; i < SENSED_COLS; i++) {
			if (c0 + i >= l.out) break;
			int at = (c0 + i) * SENSED_ROWS + lane;
			float sum = e[i] + b[pitch + i];
			om[at] = a[i] + b[i], adds[at] = sum;
			ov[at] = sum + q[i];
		}
	}
}

struct Pushed {
	float m, v, slope;
};
// sensed_points is by_points without what only training needs. The values at the points wait
// in shared memory until their mean is known. It returns false if σ is so small that
// differences of values resolve nothing.
template <class F>
DEVICE bool sensed_points(F value, int n, Near nodes, Near values, float m, float v, Pushed* o) {
	float s = root(v), f0 = value(m + nodes[0] * s), M = 0, var = 0, fs = 0;
	if (s == 0 || tiny(m, s)) return false;
#pragma unroll 2
	for (int p = 1; p < n; p++) {
		float d = value(m + nodes[p] * s) - f0;
		values[p * SENSED_THREADS] = d;
		M += nodes[n + p] * d;
	}
	for (int p = 0; p < n; p++) {
		float d = p == 0 ? 0.0f : values[p * SENSED_THREADS], r = d - M, wr = nodes[n + p] * r;
		var += wr * r, fs += nodes[n + p] * nodes[p] * d;
	}
	*o = {f0 + M, var, fs / s};
	return true;
}
DEVICE float gelu_value(float x) {
	float t = less(15.0f, magnitude(x)), u = density(t) * mills(upper_tail(t)) * t;
	return x != x ? x : more(x, 0.0f) - u;
}

// sensed_each pushes the units of a layer, in place.
template <class Push>
DEVICE void sensed_each(const SensedLayer& l, Near m, Near v, Push push) {
	Near slope = near(dynamic() + l.slope), rest = near(dynamic() + l.rest);
	for (int u = thread() / 32; u < l.out; u += SENSED_WARPS) {
		int at = u * SENSED_ROWS + thread() % 32;
		float y = v[at];
		Pushed p = push(m[at], y);
		rest[at] = more(0.0f, p.v - p.slope * p.slope * y);
		m[at] = p.m, v[at] = p.v, slope[at] = p.slope;
	}
}
CALLED void sensed_apply(const SensedLayer& l, const float* nodes, float* values, Near m, Near v) {
	auto any = [&](float x, float y) {
		Moments p = push_any(l.f, x, y, Key{0, 0}, 0, 0);
		return Pushed{p.m, p.v, p.slope};
	};
	Near at = near(nodes), kept = near(values + thread());
	int n = l.f.points;
	if (l.f.rule != BY_POINTS || n > SENSED_POINTS || l.f.op == LEAKY_RELU) sensed_each(l, m, v, any);
	else if (l.f.op == GELU)
		sensed_each(l, m, v, [&](float x, float y) {
			Pushed p;
			return sensed_points(gelu_value, n, at, kept, x, y, &p) ? p : any(x, y);
		});
	else
		sensed_each(l, m, v, [&](float x, float y) {
			Pushed p;
			int op = l.f.op;
			float a = l.f.a;
			return sensed_points([&](float z) { return evaluate(op, a, z).f; }, n, at, kept, x, y, &p) ? p : any(x, y);
		});
}

// sensed_back takes the sensitivities g and h of two outputs through the weights.
DEVICE void sensed_back(const SensedLayer& l, Near g, Near h, Near to0, Near to1) {
	int lane = thread() % 32, pitch = l.pitch, out = l.out, whole = out / 4 * 4;
	for (int k0 = thread() / 32 * SENSED_COLS; k0 < l.in; k0 += SENSED_WARPS * SENSED_COLS) {
		float a[SENSED_COLS] = {}, b[SENSED_COLS] = {};
		Near w = near(dynamic() + l.means + k0 * pitch);
		for (int c = 0; c < whole; c += 4) {
			float p[4], q[4];
#pragma unroll
			for (int j = 0; j < 4; j++) p[j] = g[(c + j) * SENSED_ROWS + lane], q[j] = h[(c + j) * SENSED_ROWS + lane];
#pragma unroll
			for (int i = 0; i < SENSED_COLS; i++) {
				Four32 u = load4(w + i * pitch + c);
#pragma unroll
				for (int j = 0; j < 4; j++) a[i] = fma(p[j], u.x[j], a[i]), b[i] = fma(q[j], u.x[j], b[i]);
			}
		}
		for (int c = whole; c < out; c++) {
			float p = g[c * SENSED_ROWS + lane], q = h[c * SENSED_ROWS + lane];
#pragma unroll
			for (int i = 0; i < SENSED_COLS; i++) a[i] = fma(p, w[i * pitch + c], a[i]), b[i] = fma(q, w[i * pitch + c], b[i]);
		}
#pragma unroll
		for (int i = 0; i < SENSED_COLS; i++)
			if (k0 + i < l.in) to0[(k0 + i) * SENSED_ROWS + lane] = a[i], to1[(k0 + i) * SENSED_ROWS + lane] = b[i];
	}
}

// sensed_sense returns this warp's part of the variances of outputs j and j + 1: what its
// units of all layers but the last add, times the squares of the sensitivities to them.
DEVICE void sensed_sense(const Sensed& a, const SensedLayer* layers, int j, double* first, double* second) {
	int lane = thread() % 32, warp = thread() / 32, here = a.near, there = a.far;
	const SensedLayer& last = layers[a.count - 1];
	int other = j + 1 < a.outputs ? j + 1 : j;
	Near w = near(dynamic() + last.means), g = near(dynamic() + here), h = g + a.tall * SENSED_ROWS;
	for (int u = warp; u < last.in; u += SENSED_WARPS) {
		int at = u * SENSED_ROWS + lane;
		g[at] = w[u * last.pitch + j], h[at] = w[u * last.pitch + other];
	}
	*first = *second = 0;
	for (int i = a.count - 2; i >= 0; i--) {
		const SensedLayer& l = layers[i];
		Near adds = near(dynamic() + l.adds), rest = near(dynamic() + l.rest), slope = near(dynamic() + l.slope);
		float s0 = 0, s1 = 0;
		for (int u = warp; u < l.out; u += SENSED_WARPS) {
			int at = u * SENSED_ROWS + lane;
			float x = g[at], y = h[at], e = rest[at], d = slope[at], more = adds[at];
			s0 = fma(e, x * x, s0), s1 = fma(e, y * y, s1);
			x *= d, y *= d;
			s0 = fma(more, x * x, s0), s1 = fma(more, y * y, s1);
			g[at] = x, h[at] = y;
		}
		*first += (double)s0, *second += (double)s1;
		if (i == 0) return;
		barrier();
		Near to = near(dynamic() + there);
		sensed_back(l, g, h, to, to + a.tall * SENSED_ROWS);
		barrier();
		int t = here;
		here = there, there = t;
		g = to, h = to + a.tall * SENSED_ROWS;
	}
}

KERNEL_MANY(sensed, Sensed, SENSED_THREADS, 2, block_y) {
	SHARED SensedLayer layers[MOST_SENSED];
	SHARED float nodes[MOST_SENSED][2 * SENSED_POINTS];
	SHARED double parts[SENSED_WARPS][2][SENSED_ROWS];
	int lane = thread() % 32, warp = thread() / 32, all = a.control->batch;
	for (int j = thread(); j < a.count * (int)(sizeof(SensedLayer) / 8); j += SENSED_THREADS) ((uint64*)layers)[j] = ((const uint64*)a.layers)[j];
	barrier();
	for (int i = 0; i < a.count; i++) {
		const SensedLayer& l = layers[i];
		sensed_load(l.means, l.w, l.in, l.out, l.pitch), sensed_load(l.variances, l.s, l.in, l.out, l.pitch);
		sensed_load(l.bias, l.b, 1, l.out, l.pitch), sensed_load(l.bias + l.pitch, l.bs, 1, l.out, l.pitch);
		if (l.f.nodes && l.f.points <= SENSED_POINTS)
			for (int p = thread(); p < 2 * l.f.points; p += SENSED_THREADS) nodes[i][p] = l.f.nodes[p];
	}
	int across = a.tall * SENSED_ROWS, in = layers[0].in;
	Near mean = near(dynamic() + a.ends), variance = mean + a.outputs * SENSED_ROWS;
	for (int r0 = block() * SENSED_ROWS; r0 < all; r0 += blocks() * SENSED_ROWS) {
		int n = less(SENSED_ROWS, all - r0), here = a.near, there = a.far;
		Near x = near(dynamic() + here);
		barrier();
		for (int i = thread(); i < SENSED_ROWS * in; i += SENSED_THREADS) {
			int r = i / in, k = i % in;
			x[k * SENSED_ROWS + r] = r < n ? a.x[(long long)r0 * in + i] : 0.0f;
		}
		barrier();
		for (int i = 0; i + 1 < a.count; i++) {
			const SensedLayer& l = layers[i];
			Near y = near(dynamic() + there), adds = near(dynamic() + l.adds);
			if (i == 0) sensed_dense<true>(l, x, x, y, y + across, adds);
			else sensed_dense<false>(l, x, x + across, y, y + across, adds);
			barrier();
			sensed_apply(l, nodes[i], dynamic() + here, y, y + across); // what it read is room for values
			barrier();
			int t = here;
			here = there, there = t, x = y;
		}
		sensed_dense<false>(layers[a.count - 1], x, x + across, mean, near(dynamic() + there), variance);
		barrier();
		for (int j = 0; j < a.outputs; j += 2) {
			double first, second;
			sensed_sense(a, layers, j, &first, &second);
			parts[warp][0][lane] = first, parts[warp][1][lane] = second;
			barrier();
			if (warp < 2 && j + warp < a.outputs) {
				double sum = variance[(j + warp) * SENSED_ROWS + lane];
				for (int w = 0; w < SENSED_WARPS; w++) sum += parts[w][warp][lane];
				variance[(j + warp) * SENSED_ROWS + lane] = (float)sum;
			}
			barrier();
		}
		for (int i = thread(); i < n * a.width; i += SENSED_THREADS) {
			int r = i / a.width, u = i % a.width, at = u * SENSED_ROWS + r;
			float m = u < a.outputs ? mean[at] : a.raw[u - a.outputs], v = u < a.outputs ? variance[at] : 0.0f;
			float noise = a.behind == NOISE && a.raw ? softplus(a.raw[u]) : 0.0f;
			a.om[(long long)r0 * a.width + i] = m, a.ov[(long long)r0 * a.width + i] = v + noise * noise;
		}
	}
}
