// A small network in one launch: forward, score and backward. A block takes PER rows at a
// time through all operations. It copies the weights into shared memory when it starts, and
// the activations never leave it, but for those that the gradients of the weights need.
#include "ops.h"
#include "mma.h"
#include "near.h"
#include "fused_gradients.h"
#include "fused_update.h"
#include "fused_conv.h"

// A Stay is a matrix of weights that lies in shared memory meanwhile, at offset at; its
// rows are pitch apart there.
struct Stay {
	const float* from;
	int rows, cols, pitch, at;
};
// A Keep is a signal that lies in global memory, too: it is written there once operation
// after has run; one that an earlier launch left, after < 0, is read from there.
struct Keep {
	float* far;
	int at, width, after, pad;
};
constexpr int MOST_STAYS = 32, MOST_KEEPS = 64;
struct Layout {
	Stay stays[MOST_STAYS];
	Keep keeps[MOST_KEEPS];
	int staying, early, keeping, pad; // early: stays of thin layers and biases, which are needed first
};
static_assert(sizeof(Layout) == 24 * (MOST_STAYS + MOST_KEEPS) + 16, "");

struct Fused {
	const Op* ops;
	int first, count, rows, per; // per: rows at a time, at most PER
	const Control* control;
	const Result* results; // null in prediction
	const Layout* layout;
	int turns, pad;        // how often a block takes rows
};

// A place in shared memory stands in an Op as a number with its highest bit set: the
// offset in bytes, and above it the width of a row, 0 if it is the same for all rows.
constexpr int FIELDS = 16; // of an Op that can be such places: m to bs, y and yo
DEVICE uint64* field(Op& o, int i) { return i == FIELDS - 2 ? (uint64*)&o.y : i == FIELDS - 1 ? (uint64*)&o.yo : (uint64*)&o.m + i; }
static_assert(__builtin_offsetof(Op, bs) == __builtin_offsetof(Op, m) + 8 * (FIELDS - 3), "");

// resolve turns a place into a pointer from which row r0 lies at r0 times its width.
DEVICE uint64 resolve(uint64 place, long long r0) {
	if ((long long)place >= 0) return place;
	uint64 width = place >> 32 & 0x7fffffff;
	return (uint64)dynamic() + (uint32)place - r0 * width * 4;
}

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

DEVICE bool inside(const float* p) { return (uint64)p - (uint64)dynamic() < 227 * 1024; }

// fused_product chooses. The weights of a broad layer lie in shared memory or, if they do
// not fit, in global memory; o.room is the pitch of their rows.
template <int WAY, class Store>
DEVICE void fused_product(const Op& o, const float* x, const float* y, int n, int depth, int width, Store store) {
	bool second = y, random = o.s, whole = second && random && depth % 4 == 0;
	int pitch = o.room;
	if (less(depth, width) <= SHALLOW) few<WAY>(near(x), near(y), second, n, depth, near(o.w), near(o.s), random, WAY == BACK ? 1 : pitch, WAY == BACK ? pitch : 1, width, store);
	else if (whole && !inside(o.w)) streamed<WAY>(near(x), near(y), n, depth, (Far)o.w, (Far)o.s, pitch, width, store);
	else if (!inside(o.w)) broad<WAY, false>(near(x), near(y), second, n, depth, (Far)o.w, (Far)o.s, random, pitch, width, store);
	else if (whole) broad<WAY, true>(near(x), near(y), second, n, depth, near(o.w), near(o.s), random, pitch, width, store);
	else broad<WAY, false>(near(x), near(y), second, n, depth, near(o.w), near(o.s), random, pitch, width, store);
}

CALLED void fused_dense(const Op& o, long long r0, int n) {
	int width = o.out;
	Near om = near(o.om + r0 * width), ov = near(o.ov + r0 * width), b = near(o.b), bs = near(o.bs);
	bool random = o.ov, bias = o.b, spread = o.bs;
	fused_product<THROUGH>(o, o.m + r0 * o.in, o.v ? o.v + r0 * o.in : 0, n, o.in, width, [&](int r, int c, Sums t) {
		om[r * width + c] = t.a + (bias ? b[c] : 0.0f);
		if (random) ov[r * width + c] = t.b + (spread ? bs[c] : 0.0f);
	});
}

CALLED void fused_dense_back(const Op& o, long long r0, int n) {
	int width = o.in;
	Near dm = near(o.dm + r0 * width), dv = near(o.dv + r0 * width), m = near(o.m + r0 * width);
	bool random = o.dv;
	fused_product<BACK>(o, o.g + r0 * o.out, o.h ? o.h + r0 * o.out : 0, n, o.out, width, [&](int r, int c, Sums t) {
		dm[r * width + c] = fma(2 * m[r * width + c], t.b, t.a);
		if (random) dv[r * width + c] = t.c;
	});
}

// Leaky ReLUs by three points or in closed form, the common functions, have short ways.
DEVICE bool by_three(const Func& f) { return f.rule == BY_POINTS && f.op == LEAKY_RELU && f.points == 3 && f.three[0] == 0; }
DEVICE bool by_form(const Func& f) { return f.rule == CLOSED_FORM && f.op == LEAKY_RELU && !f.points; }

template <class Each>
DEVICE void leaky(const Func& f, int count, Each each) {
	float a = f.a;
	if (by_form(f)) {
		for (int i = thread(); i < count; i += THREADS) each(i, [&](float m, float v) { return leaky_exact(a, m, v); });
		return;
	}
	float xi[3] = {0, f.three[1], f.three[2]}, w[3] = {f.three[3], f.three[4], f.three[5]};
	for (int i = thread(); i < count; i += THREADS) each(i, [&](float m, float v) { return leaky_three(a, m, v, xi, w); });
}

CALLED void slow_apply(const Op& o, const Control& k, long long r0, int n) { apply(o, k, r0, n); }
CALLED void slow_apply_back(const Op& o, const Control& k, long long r0, int n) { apply_back(o, k, r0, n); }

CALLED void fused_apply(const Op& o, const Control& k, long long r0, int n) {
	if (!o.v || o.dm || !(by_three(o.f) || by_form(o.f))) {
		slow_apply(o, k, r0, n);
		return;
	}
	long long first = r0 * o.in;
	Near m = near(o.m + first), v = near(o.v + first), om = near(o.om + first), ov = near(o.ov + first);
	leaky(o.f, n * o.in, [&](int i, auto push) {
		Moments p = push(m[i], v[i]);
		om[i] = p.m, ov[i] = p.v;
	});
}

CALLED void fused_apply_back(const Op& o, const Control& k, long long r0, int n) {
	if (!o.v || o.tv || !(by_three(o.f) || by_form(o.f))) {
		slow_apply_back(o, k, r0, n);
		return;
	}
	long long first = r0 * o.in;
	Near m = near(o.m + first), v = near(o.v + first), g = near(o.g + first), h = near(o.h + first), dm = near(o.dm + first), dv = near(o.dv + first);
	leaky(o.f, n * o.in, [&](int i, auto push) {
		Moments p = push(m[i], v[i]);
		float x = g[i], y = h[i];
		dm[i] = x * p.mm + y * p.vm, dv[i] = x * p.mv + y * p.vv;
	});
}
template <bool ALL>
CALLED void fused_other(const Op& o, const Control& k, long long r0, int n) { other<ALL ? COUPLED : COMMON>(o, k, r0, n); }

// keep copies a signal of n rows to global memory, or from there. A warp has a signal.
DEVICE void keep(const Keep& x, long long r0, int n) {
	Near here = near(dynamic() + x.at);
	float* far = x.far + r0 * x.width;
	int all = n * x.width, lane = thread() % 32;
	if (x.after < 0) {
		for (int i = lane; i < all; i += 32) here[i] = far[i];
		return;
	}
	int quads = (uint64)far % 16 == 0 ? all / 4 : 0;
	for (int i = lane; i < quads; i += 32) *(Four32*)(far + 4 * i) = load4(here + 4 * i);
	for (int i = 4 * quads + lane; i < all; i += 32) far[i] = here[i];
}

// keeps copies the signals of operations [first, last).
DEVICE void keeps(const Layout& l, int first, int last, long long r0, int n) {
	for (int j = thread() / 32; j < l.keeping; j += THREADS / 32)
		if (l.keeps[j].after >= first && l.keeps[j].after < last) keep(l.keeps[j], r0, n);
}

template <bool ALL>
DEVICE void take_rows(const Fused& a) {
	SHARED Op all[MOST_OPS];
	SHARED uint64 places[MOST_OPS][FIELDS];
	SHARED Layout layout;
	SHARED Control k;
	bool stop = failed(a.results); // the loads go on meanwhile
	int slot = a.results ? a.results->slot : 0;
	const Op* ops = a.ops + a.first;
	for (int j = thread(); j < (int)(sizeof(Layout) / 8); j += THREADS) ((uint64*)&layout)[j] = ((const uint64*)a.layout)[j];
	for (int j = thread(); j < a.count * (int)(sizeof(Op) / 8); j += THREADS) ((uint64*)all)[j] = ((const uint64*)ops)[j];
	barrier();
	if (stop) return;
	int warp = thread() / 32, warps = THREADS / 32;
	for (int j = warp; j < layout.early; j += warps) copy(layout.stays[j], 0, 1);
	copies_end();
	for (int j = layout.early; j < layout.staying; j++) copy(layout.stays[j], warp, warps);
	copies_end();
	if (thread() == 0) k = a.control[slot];
	for (int j = thread(); j < a.count * FIELDS; j += THREADS) places[j / FIELDS][j % FIELDS] = *field(all[j / FIELDS], j % FIELDS);
	for (int turn = 0; turn < a.turns; turn++) {
		long long r0 = ((long long)block() * a.turns + turn) * a.per;
		int n = less(a.per, a.rows - (int)r0);
		if (n <= 0) break;
		barrier();
		keeps(layout, -1, 0, r0, n);
		for (int j = thread(); j < a.count * FIELDS; j += THREADS) *field(all[j / FIELDS], j % FIELDS) = resolve(places[j / FIELDS][j % FIELDS], r0);
		for (int i = 0; i < a.count; i++) {
			barrier();
			const Op& o = all[i];
			if (turn == 0 && (o.kind == OP_DENSE || o.kind == OP_DENSE_BACK)) { // its weights may be on their way
				if (o.in <= SHALLOW || o.out <= SHALLOW) copies_wait<1>();
				else copies_wait<0>();
				barrier();
			}
			switch (o.kind) {
			case OP_INPUT: input(o, slot, r0, n); break;
			case OP_DENSE: fused_dense(o, r0, n); break;
			case OP_DENSE_BACK: fused_dense_back(o, r0, n); break;
			case OP_APPLY: fused_apply(o, k, r0, n); break;
			case OP_APPLY_BACK: fused_apply_back(o, k, r0, n); break;
			case OP_SCORE:
				if (thread() % 32 == 0 && thread() / 32 < n) score(o, k.batch, r0 + thread() / 32);
				break;
			case OP_CONV:
				if constexpr (ALL) fused_conv(o, r0, n);
				else __builtin_trap();
				break;
			case OP_CONV_GRADIENT:
				if constexpr (ALL) fused_conv_gradient(o, r0, n);
				else __builtin_trap();
				break;
			default: fused_other<ALL>(o, k, r0, n);
			}
		}
		barrier();
		keeps(layout, 0, a.count, r0, n);
	}
}
KERNEL_MANY(fused, Fused, THREADS, 1, block_y) { take_rows<false>(a); }
KERNEL_MANY(fused_any, Fused, THREADS, 1, block_y) { take_rows<true>(a); }
