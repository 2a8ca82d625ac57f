// Products of a few rows with matrices, and how matrices come into shared memory.
#pragma once
#include "sums.h"
#include "near.h"

// A Stay is a matrix of weights that lies in shared memory meanwhile, at offset at; its
// rows are pitch apart there.
struct Stay {
	const float* from;
	int rows, cols, pitch, at;
};

// copy starts copying a matrix into shared memory. Of all warps that share the work, this
// one is number warp. A warp copies a row at a time, of narrow matrices a row a thread.
DEVICE void copy(const Stay s, int warp, int warps) {
	int lane = thread() % 32;
	float* to = dynamic() + s.at;
	if (s.cols < 32) {
		for (int r = warp * 32 + lane; r < s.rows; r += warps * 32)
			for (int c = 0; c < s.cols; c++) copy4(to + r * s.pitch + c, s.from + r * s.cols + c, true);
	} else {
		bool vectors = s.cols % 4 == 0 && s.pitch % 4 == 0 && (uint64)s.from % 16 == 0;
		for (int r = warp; r < s.rows; r += warps) {
			float* row = to + r * s.pitch;
			const float* from = s.from + r * s.cols;
			if (vectors)
				for (int c = 4 * lane; c < s.cols; c += 128) copy16(row + c, from + c, true);
			else
				for (int c = lane; c < s.cols; c += 32) copy4(row + c, from + c, true);
		}
	}
	int gap = s.pitch % 4 == 0 ? (s.cols + 3) / 4 * 4 - s.cols : 0; // is read, and multiplied by 0
	for (int r = warp * 32 + lane; gap > 0 && r < s.rows; r += warps * 32)
		for (int c = 0; c < gap; c++) near(to)[r * s.pitch + s.cols + c] = 0;
}

// load_row loads four numbers of a row, 0 behind its end.
template <bool VECTORS>
DEVICE Four32 load_row(Near p, int k, int depth) {
	if (VECTORS) return load4(p + k);
	Four32 q;
#pragma unroll
	for (int e = 0; e < 4; e++) q.x[e] = k + e < depth ? p[k + e] : 0.0f;
	return q;
}

// halve adds up sums over two threads whose numbers differ by mask; each keeps the sums of
// a half of the rows, or of the columns.
template <int SUMS, int ROWS, int COLS, bool BY_ROW, int N>
DEVICE void halve(float (*t)[4][N], bool upper, int mask) {
	constexpr int R = BY_ROW ? ROWS / 2 : ROWS, C = BY_ROW ? COLS : COLS / 2;
#ifdef EMULATED // all at once: swapping takes long there
	static float all[THREADS][SUMS * 4 * N];
	memcpy(all[thread()], t, sizeof all[0]);
	barrier();
	const float(*other)[4][N] = (const float(*)[4][N])all[thread() ^ mask];
#endif
#pragma unroll
	for (int s = 0; s < SUMS; s++)
#pragma unroll
		for (int r = 0; r < R; r++)
#pragma unroll
			for (int c = 0; c < C; c++) {
				float low = t[s][r][c], high = t[s][r + ROWS - R][c + COLS - C];
#ifdef EMULATED
				t[s][r][c] = upper ? high + other[s][r + ROWS - R][c + COLS - C] : low + other[s][r][c];
#else
				t[s][r][c] = (upper ? high : low) + swap(upper ? low : high, mask);
#endif
			}
#ifdef EMULATED
	barrier();
#endif
}

// load_later keeps what store needs out of the registers until then.
#ifndef EMULATED
DEVICE void load_later() { asm volatile("" ::: "memory"); }
#else
DEVICE void load_later() {}
#endif

// broad multiplies up to PER rows by a matrix of many columns. A warp has four rows and
// sixteen columns, a thread four by four of them and an eighth of the depth; the sums of
// eight threads are added in pairs. The matrix is stored as the layer has it, also on the
// way back, where its rows are the columns of the product. WHOLE: the rows are multiples
// of four numbers long and have variances, and so have the weights.
template <int WAY, bool WHOLE, class Weights, class Store>
DEVICE void broad(Near x, Near y, bool second, int rows, int depth, Weights w, Weights s, bool random, int pitch, int width, Store store) {
	constexpr int SUMS = WAY == BACK ? 3 : 2;
	int lane = thread() % 32, g = WAY == BACK ? lane / 8 : lane % 4, share = WAY == BACK ? lane % 8 : lane / 4;
	int groups = (rows + 3) / 4, tasks = groups * ((width + 15) / 16), turns = (tasks + THREADS / 32 - 1) / (THREADS / 32);
	for (int turn = 0; turn < turns; turn++) { // as many for all warps
		int task = turn * (THREADS / 32) + thread() / 32, row = groups == 2 ? task % 2 * 4 : 0, col = (groups == 2 ? task / 2 : task) * 16 + 4 * g;
		bool live = task < tasks;
		float t[SUMS][4][4];
#pragma unroll
		for (int i = 0; i < SUMS * 16; i++) t[i / 16][i / 4 % 4][i % 4] = 0;
		Near p0 = x + row * depth, q0 = y + row * depth;
		int down[4], across = WAY == BACK ? 0 : less(col, (width - 1) / 4 * 4);
#pragma unroll
		for (int e = 0; e < 4; e++) down[e] = WAY == BACK ? less(col + e, width - 1) * pitch : 0;
#pragma unroll 1
		for (int k = 4 * share; live && k < depth; k += 32) {
			Four32 p[4], q[4];
#pragma unroll
			for (int r = 0; r < 4; r++) {
				p[r] = load_row<WHOLE>(p0 + r * depth, k, depth), q[r] = {0, 0, 0, 0};
				if (WHOLE || second) q[r] = load_row<WHOLE>(q0 + r * depth, k, depth);
			}
#pragma unroll
			for (int e = 0; e < 4; e++) { // of the depth; on the way back, of the columns
				int at = WAY == BACK ? down[e] + k : (WHOLE ? k + e : less(k + e, depth - 1)) * pitch + across;
				Four32 u = load4(w + at), v = {0, 0, 0, 0};
				if (WHOLE || random) v = load4(s + at);
#pragma unroll
				for (int c = 0; c < 4; c++) {
					float both = fma(u.x[c], u.x[c], v.x[c]);
#pragma unroll
					for (int r = 0; r < 4; r++) {
						if (WAY == BACK) {
							t[0][r][e] = fma(p[r].x[c], u.x[c], t[0][r][e]);
							t[1][r][e] = fma(q[r].x[c], v.x[c], t[1][r][e]);
							t[SUMS - 1][r][e] = fma(q[r].x[c], both, t[SUMS - 1][r][e]);
						} else {
							t[0][r][c] = fma(p[r].x[e], u.x[c], t[0][r][c]);
							t[1][r][c] = fma(p[r].x[e] * p[r].x[e], v.x[c], t[1][r][c]);
							t[1][r][c] = fma(q[r].x[e], both, t[1][r][c]);
						}
					}
				}
			}
		}
		constexpr int MASK = WAY == BACK ? 1 : 4;
		halve<SUMS, 4, 4, true>(t, share & 4, 4 * MASK);
		halve<SUMS, 2, 4, true>(t, share & 2, 2 * MASK);
		halve<SUMS, 1, 4, false>(t, share & 1, MASK);
		row += share / 2, col += share % 2 * 2;
		load_later();
#pragma unroll
		for (int c = 0; c < 2; c++)
			if (live && row < rows && col + c < width) store(row, col + c, Sums{t[0][0][c], t[1][0][c], t[SUMS - 1][0][c]});
	}
}

// streamed is broad, WHOLE, for weights in global memory, which take long to arrive: a thread
// has only two columns, so that all warps have work, and loads its next weights before it
// uses those that it has. The sums have the same order.
template <int WAY, class Store>
DEVICE void streamed(Near x, Near y, int rows, int depth, Far w, Far s, int pitch, int width, Store store) {
	constexpr int SUMS = WAY == BACK ? 3 : 2, N = 2;
	int lane = thread() % 32, g = WAY == BACK ? lane / 8 : lane % 4, share = WAY == BACK ? lane % 8 : lane / 4;
	int groups = (rows + 3) / 4, tasks = groups * ((width + 4 * N - 1) / (4 * N)), turns = (tasks + THREADS / 32 - 1) / (THREADS / 32);
	struct Loaded { // of four inputs and N outputs, inputs first, or the other way round on the way back
		float u[4 * N], v[4 * N];
	};
	for (int turn = 0; turn < turns; turn++) { // as many for all warps
		int task = turn * (THREADS / 32) + thread() / 32, row = groups == 2 ? task % 2 * 4 : 0, col = (groups == 2 ? task / 2 : task) * (4 * N) + N * g;
		bool live = task < tasks;
		float t[SUMS][4][N];
#pragma unroll
		for (int i = 0; i < SUMS * 4 * N; i++) t[i / (4 * N)][i / N % 4][i % N] = 0;
		Near p0 = x + row * depth, q0 = y + row * depth;
		auto load = [&](int k) {
			Loaded l;
			if (WAY == BACK) {
#pragma unroll
				for (int e = 0; e < N; e++) {
					int at = less(col + e, width - 1) * pitch + k;
					Four32 u = load4(w + at), v = load4(s + at);
#pragma unroll
					for (int c = 0; c < 4; c++) l.u[4 * e + c] = u.x[c], l.v[4 * e + c] = v.x[c];
				}
			} else {
#pragma unroll
				for (int e = 0; e < 4; e++) {
					int at = (k + e) * pitch + less(col, width - N);
					Two32 u = load2(w + at), v = load2(s + at);
#pragma unroll
					for (int c = 0; c < N; c++) l.u[N * e + c] = u.x[c], l.v[N * e + c] = v.x[c];
				}
			}
			return l;
		};
		int k = 4 * share;
		Loaded next = {};
		if (live && k < depth) next = load(k);
#pragma unroll 1
		for (; live && k < depth; k += 32) {
			Loaded l = next;
			if (k + 32 < depth) next = load(k + 32);
			Four32 p[4], q[4];
#pragma unroll
			for (int r = 0; r < 4; r++) p[r] = load4(p0 + r * depth + k), q[r] = load4(q0 + r * depth + k);
#pragma unroll
			for (int i = 0; i < 4 * N; i++) {
				int d = WAY == BACK ? i % 4 : i / N, c = WAY == BACK ? i / 4 : i % N; // depth, column
				float u = l.u[i], v = l.v[i], both = fma(u, u, v);
#pragma unroll
				for (int r = 0; r < 4; r++) {
					t[0][r][c] = fma(p[r].x[d], u, t[0][r][c]);
					if (WAY == BACK) {
						t[1][r][c] = fma(q[r].x[d], v, t[1][r][c]);
						t[SUMS - 1][r][c] = fma(q[r].x[d], both, t[SUMS - 1][r][c]);
					} else {
						t[1][r][c] = fma(p[r].x[d] * p[r].x[d], v, t[1][r][c]);
						t[1][r][c] = fma(q[r].x[d], both, t[1][r][c]);
					}
				}
			}
		}
		constexpr int MASK = WAY == BACK ? 1 : 4;
		halve<SUMS, 4, N, true>(t, share & 4, 4 * MASK);
		halve<SUMS, 2, N, true>(t, share & 2, 2 * MASK);
		halve<SUMS, 1, N, false>(t, share & 1, MASK);
		row += share / 2, col += share % 2;
		if (live && row < rows && col < width) store(row, col, Sums{t[0][0][0], t[1][0][0], t[SUMS - 1][0][0]});
	}
}

// few multiplies rows by a thin matrix in shared memory, whose element (k, c) lies at
// k·down + c·across: with few inputs a thread has an element, with few outputs a warp does.
template <int WAY, class Store>
DEVICE void few(Near x, Near y, bool second, int rows, int depth, Near w, Near s, bool random, int down, int across, int width, Store store) {
	int lane = thread() % 32;
	if (depth <= SHALLOW) {
		for (int i = thread(); i < rows * width; i += THREADS) {
			int r = i / width, c = i - r * width;
			Sums t = {0, 0, 0};
			for (int k = 0; k < depth; k++) {
				float u = w[k * down + c * across], e = random ? s[k * down + c * across] : 0.0f;
				add<WAY>(t, x[r * depth + k], second ? y[r * depth + k] : 0.0f, u, e, fma(u, u, e));
			}
			store(r, c, t);
		}
		return;
	}
	int tasks = rows * width, turns = (tasks + THREADS / 32 - 1) / (THREADS / 32);
	for (int turn = 0; turn < turns; turn++) { // as many for all warps
		int task = turn * (THREADS / 32) + thread() / 32, r = width == 1 ? task : task / width, c = task - r * width;
		bool live = task < tasks;
		Sums t = {0, 0, 0};
#pragma unroll 2
		for (int k = lane; live && k < depth; k += 32) {
			float u = w[k * down + c * across], e = random ? s[k * down + c * across] : 0.0f;
			add<WAY>(t, x[r * depth + k], second ? y[r * depth + k] : 0.0f, u, e, fma(u, u, e));
		}
		t.a = warp_sum(t.a), t.b = warp_sum(t.b);
		if (WAY == BACK) t.c = warp_sum(t.c);
		if (lane == 0 && live) store(r, c, t);
	}
}
