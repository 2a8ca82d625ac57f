// Layers of many inputs and few outputs, such as the last one, in float32. Tiles would
// leave most multiprocessors idle.
#include "finish.cu"

constexpr int FEW = 16; // most outputs
constexpr int NARROW_THREADS = 512, NARROW_ROWS = 8, SHARE = 2; // rows of a block, of a thread

// BY_OUTPUTS runs the loop for the number of outputs, which is rounded up.
#define BY_OUTPUTS(run, p) \
	if (p.cols <= 4) run<4>(p); \
	else if (p.cols <= 8) run<8>(p); \
	else if (p.cols <= 12) run<12>(p); \
	else run<FEW>(p);

// narrow_forward: four warps share two rows; a thread has every 128th input. The weights
// are transposed.
template <int N>
DEVICE void narrow_forward_by(const Product& p) {
	constexpr int GROUP = NARROW_THREADS / (NARROW_ROWS / SHARE), AHEAD = N <= 8 ? 2 : 1; // inputs whose weights are loaded at a time
	SHARED float parts[NARROW_THREADS / 32][SHARE][FEW][2];
	int group = thread() / GROUP, r0 = block() * NARROW_ROWS + group * SHARE;
	float m[SHARE][N] = {}, v[SHARE][N] = {};
	const float *a0 = p.a0 + (long long)r0 * p.depth, *a1 = p.a1 ? p.a1 + (long long)r0 * p.depth : 0, *b0 = p.b0, *b1 = p.b1;
	int depth = p.depth, cols = p.cols, rows = p.rows - r0;
#pragma unroll AHEAD
	for (int k = thread() % GROUP; k < depth; k += GROUP) {
		float x[SHARE], y[SHARE];
#pragma unroll
		for (int j = 0; j < SHARE; j++) x[j] = j < rows ? a0[j * depth + k] : 0.0f, y[j] = j < rows && a1 ? a1[j * depth + k] : 0.0f;
#pragma unroll
		for (int c = 0; c < N; c++) {
			float w = c < cols ? b0[c * depth + k] : 0.0f, s = c < cols ? b1[c * depth + k] : 0.0f, e = fma(w, w, s);
#pragma unroll
			for (int j = 0; j < SHARE; j++) m[j][c] = fma(x[j], w, m[j][c]), v[j][c] = fma(y[j], e, fma(x[j] * x[j], s, v[j][c]));
		}
	}
#pragma unroll
	for (int j = 0; j < SHARE; j++)
#pragma unroll
		for (int c = 0; c < N; c++) {
			float x = warp_sum(m[j][c]), y = warp_sum(v[j][c]);
			if (thread() % 32 == 0) parts[thread() / 32][j][c][0] = x, parts[thread() / 32][j][c][1] = y;
		}
	barrier();
	int r = thread() / FEW, c = thread() % FEW;
	if (r >= NARROW_ROWS || c >= cols) return;
	float x = 0, y = 0;
	for (int i = 0; i < GROUP / 32; i++) {
		const float* s = parts[r / SHARE * (GROUP / 32) + i][r % SHARE][c];
		x += s[0], y += s[1];
	}
	finish<FORWARD>(p, 0, block() * NARROW_ROWS + r, c, x, y, 0);
}
KERNEL_MANY(narrow_forward, WideFinish, NARROW_THREADS, 1, block_y) {
	if (failed(a.p.results)) return;
	BY_OUTPUTS(narrow_forward_by, a.p)
}

// narrow_backward loads the weights of some outputs at a time before it computes.
template <int WHAT>
DEVICE void narrow_backward_by(const WideFinish& a, bool stop) {
	constexpr int AHEAD = 4;
	const Product& p = a.p;
	each_block(p.rows, p.cols, [&](int r, int c, bool in, int turn) {
		Reverse l = load_reverse(p, r, c, in);
		Span x = {}, y = {}, z = {};
		int depth = p.depth, cols = p.cols, row = in ? r : 0;
		const float *g0 = p.a0 + row * depth, *h0 = p.a1 + row * depth, *w0 = p.b0, *s0 = p.b1;
		for (int k0 = 0; k0 < depth; k0 += AHEAD) {
			float g[AHEAD], h[AHEAD];
			Span w[AHEAD], s[AHEAD];
#pragma unroll
			for (int j = 0; j < AHEAD; j++) {
				int k = k0 + j < depth ? k0 + j : 0;
				g[j] = g0[k], h[j] = h0[k], w[j] = read4(w0, k, c, cols, true), s[j] = read4(s0, k, c, cols, true);
			}
#pragma unroll
			for (int j = 0; j < AHEAD; j++) {
				if (k0 + j >= depth) break;
#pragma unroll
				for (int i = 0; i < 4; i++) {
					float u = w[j].x[i], v = s[j].x[i];
					x.x[i] = fma(g[j], u, x.x[i]), y.x[i] = fma(h[j], v, y.x[i]), z.x[i] = fma(h[j], fma(u, u, v), z.x[i]);
				}
			}
		}
		if (!stop) finish_backward<WHAT>(a, r, c, in, turn, l, x, y, z);
	});
}
BY_FUNCTION(narrow_backward, q1, 2)
