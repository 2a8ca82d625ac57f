// A quartet in one launch: forward, score and backward.
//
//	gather     own rows
//	convolve   own rows; the results go to all blocks
//	multiply   own columns, all rows; the results go to the blocks of the rows
//	tail       own rows; the gradients go to the blocks of the columns
//	return     own columns, all rows; shares of the sums go to the blocks of the rows
//	collect    own rows: sums, gradients by the outputs of the convolution
//	weigh      gradients of the convolution's weights
//
// Blocks write to one another's memory and read only their own.
#include "quartet_conv.h"
#include "quartet_gradients.h"

// place is where group q of four columns of row k of the broad layer lies: threads beside
// one another read from different banks, along rows and along columns.
DEVICE int place(int k, int q, int own) { return k * own + 4 * (q ^ (k & (own / 4 - 1))); }

// start copies what stays, but for the weights of the broad layer.
DEVICE void start(const Quartet& c, const Floor& f, int own, int rank) {
	int weights = c.cells * c.features, all = weights + c.features, t = thread();
	for (int i = t; i < all; i += QUARTET) {
		bool weight = i < weights;
		copy4(dynamic() + f.conv + i, weight ? c.cw + i : c.cb + i - weights, true);
		copy4(dynamic() + f.conv + all + i, weight ? c.cs + i : c.cbs + i - weights, true);
	}
	if (t < own) copy4(dynamic() + f.bias + t, c.b + rank * own + t, true), copy4(dynamic() + f.bias + own + t, c.bs + rank * own + t, true);
	copies_end();
}

// start_broad copies own columns of the broad layer. Clusters start in different rows, or all
// would want the same line at once.
DEVICE void start_broad(const Quartet& c, const Floor& f, int own, int rank) {
	int groups = own / 4, t = thread();
	int q = t & (groups - 1), step = QUARTET / groups, first = block() / FOUR * 9 % c.in;
	for (int i = t / groups; i < c.in; i += step) {
		int k = i + first < c.in ? i + first : i + first - c.in, to = place(k, q, own);
		int from = k * c.out + rank * own + 4 * q;
		copy16(dynamic() + f.w + to, c.w + from, true);
		copy16(dynamic() + f.s + to, c.s + from, true);
	}
	copies_end();
}

// start_tail copies what the tail needs.
DEVICE void start_tail(const Quartet& c, const Floor& f) {
	int t = thread(), pitch = c.last | 1, matrix = c.out * pitch;
	for (int k = t; k < c.out; k += QUARTET)
		for (int o = 0; o < c.last; o++) {
			copy4(dynamic() + f.thin + k * pitch + o, c.tw + k * c.last + o, true);
			copy4(dynamic() + f.thin + matrix + k * pitch + o, c.ts + k * c.last + o, true);
		}
	float* behind = dynamic() + f.thin + 2 * matrix;
	if (t < c.last) copy4(behind + t, c.tb + t, true), copy4(behind + pitch + t, c.tbs + t, true);
	behind += 2 * pitch;
	int u = t / SHALLOW, e = t % SHALLOW;
	if (u < c.count && e < c.last) {
		if (c.units[u].raw) copy4(behind + u * UNIT_FLOATS + e, c.units[u].raw + e, true);
		if (c.units[u].b) copy4(behind + u * UNIT_FLOATS + SHALLOW + e, c.units[u].b + e, true);
		else near(behind)[u * UNIT_FLOATS + SHALLOW + e] = 0;
	}
	copies_end();
}

// multiply has, in a thread, four rows, four columns and a share of the depth; then one
// element, whose slopes it returns for the way back.
struct Slopes {
	float mm, mv, vm, vv;
};
template <int WHAT>
DEVICE Slopes multiply(const Quartet& c, const Floor& f, const Control& k, int own, int rank, long long first) {
	int groups = own / 4, spots = 2 * groups, shares = MULTIPLY / spots, t = thread(), spot = t & (spots - 1), share = t / spots, q = spot & (groups - 1), r = spot / groups * 4;
	bool mine = t < MULTIPLY;
	Near x = on(f.rows) + r, y = x + c.in * ROWS8, w = on(f.w), s = on(f.s);
	float a[4][4], b[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++) a[i / 4][i % 4] = b[i / 4][i % 4] = 0;
#pragma unroll 2
	for (int d = share; mine && d < c.in; d += shares) {
		Four32 m = load4(x + d * ROWS8), v = load4(y + d * ROWS8), u = load4(w + place(d, q, own)), e = load4(s + place(d, q, own));
#pragma unroll
		for (int j = 0; j < 4; j++) {
			float both = fma(u.x[j], u.x[j], e.x[j]);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				a[i][j] = fma(m.x[i], u.x[j], a[i][j]);
				b[i][j] = fma(m.x[i] * m.x[i], e.x[j], b[i][j]);
				b[i][j] = fma(v.x[i], both, b[i][j]);
			}
		}
	}
	barrier(); // nobody needs the inputs any more
	int slot = t / 32 * (16 / spots) + t % 16 / spots; // of two threads of a warp that have the same spot
	bool writes = mine && !(t & 16);
	Near to = on(f.rows) + (slot * 2 * ROWS8 + r) * own + 4 * q;
#pragma unroll
	for (int i = 0; i < 4; i++) {
#pragma unroll
		for (int j = 0; j < 4; j++) a[i][j] += swap(a[i][j], 16), b[i][j] += swap(b[i][j], 16);
		if (writes) store4(to + i * own, a[i]), store4(to + (ROWS8 + i) * own, b[i]);
	}
	barrier();
	Slopes d = {};
	if (t >= ROWS8 * own) return d;
	int row = t / own, col = t - row * own, to_rank = row / EACH;
	float m = 0, v = 0;
	Near from = on(f.rows) + row * own + col;
#pragma unroll 8
	for (int i = 0; i < shares / 2; i++, from += 2 * ROWS8 * own) m += from[0], v += from[ROWS8 * own];
	m += on(f.bias)[col], v += on(f.bias)[own + col];
	Moments p = pass<WHAT>(c.outer, m, v, k, first + row, rank * own + col);
	Peer there = on(f.xm, to_rank);
	int at = row % EACH * c.out + rank * own + col;
	put(there, at, p.m), put(there, EACH * c.out + at, p.v);
	if (first + row < c.rows && c.lm) out(c.lm)[(first + row) * c.out + rank * own + col] = p.m, out(c.lv)[(first + row) * c.out + rank * own + col] = p.v;
	return {p.mm, p.mv, p.vm, p.vv};
}

// go_back takes gradients by the outputs of own columns to shares of those by the inputs.
DEVICE void go_back(const Quartet& c, const Floor& f, const Slopes& d, int own, int rank, long long first) {
	int t = thread();
	Near g = on(f.g), h = on(f.h);
	if (t < ROWS8 * own) {
		int row = t / own, col = t - row * own;
		float x = g[t], y = h[t], dm = x * d.mm + y * d.vm, dv = x * d.mv + y * d.vv;
		g[t] = dm, h[t] = dv;
		if (first + row < c.rows) out(c.g)[(first + row) * c.out + rank * own + col] = dm, out(c.h)[(first + row) * c.out + rank * own + col] = dv;
	}
	barrier();
	int groups = own / 4;
	for (int task = t; task < 2 * c.in; task += QUARTET) {
		int half = task >= c.in, i = task - half * c.in;
		float a[4] = {0, 0, 0, 0}, b[4] = {0, 0, 0, 0}, e[4] = {0, 0, 0, 0};
		Near p = g + half * 4 * own, q = h + half * 4 * own;
#pragma unroll 2
		for (int o = 0; o < groups; o++) {
			Four32 u = load4(on(f.w) + place(i, o, own)), s = load4(on(f.s) + place(i, o, own));
			float both[4];
#pragma unroll
			for (int j = 0; j < 4; j++) both[j] = fma(u.x[j], u.x[j], s.x[j]);
#pragma unroll
			for (int r = 0; r < 4; r++) {
				Four32 x = load4(p + r * own + 4 * o), y = load4(q + r * own + 4 * o);
#pragma unroll
				for (int j = 0; j < 4; j++) {
					a[r] = fma(x.x[j], u.x[j], a[r]);
					b[r] = fma(y.x[j], s.x[j], b[r]);
					e[r] = fma(y.x[j], both[j], e[r]);
				}
			}
		}
#pragma unroll
		for (int r = 0; r < 4; r++) {
			Peer there = on(f.rows, half * 2 + r / EACH);
			int at = (rank * EACH + r % EACH) * 3 * c.in + i;
			put(there, at, a[r]), put(there, at + c.in, b[r]), put(there, at + 2 * c.in, e[r]);
		}
	}
}

// collect adds up the shares and takes the gradients back through the first function.
template <int WHAT>
DEVICE void collect(const Quartet& c, const Floor& f, const Control& k, long long r0) {
	Near box = on(f.rows), zm = on(f.zm), zv = on(f.zv);
	for (int e = thread(); e < EACH * c.in; e += QUARTET) {
		int r = e >= c.in, i = e - r * c.in;
		float s[3];
#pragma unroll
		for (int j = 0; j < 3; j++) {
			s[j] = box[(r * 3 + j) * c.in + i];
#pragma unroll
			for (int b = 1; b < FOUR; b++) s[j] += box[((b * EACH + r) * 3 + j) * c.in + i];
		}
		Moments p = pass<WHAT>(c.inner, zm[e], zv[e], k, r0 + r, i);
		float g = fma(2 * p.m, s[1], s[0]), h = s[2];
		zm[e] = g * p.mm + h * p.vm, zv[e] = g * p.mv + h * p.vv;
	}
}

// STAMP notes, in a build that measures phases, how many clocks have passed since the
// start of a block; om, which nobody wants of a step, is the place for it.
#ifdef STAMPS
DEVICE uint32 clocks() { uint32 x; asm volatile("mov.u32 %0, %%clock;" : "=r"(x) :: "memory"); return x; }
DEVICE uint32 processor() { uint32 x; asm volatile("mov.u32 %0, %%smid;" : "=r"(x)); return x; }
#define STAMP(i) if (thread() == 0 && c.back) ((uint32*)c.om)[16 * block() + i] = clocks() - began
#else
#define STAMP(i)
#endif

template <int WHAT>
DEVICE void run_quartet(const Quartet& c) {
#ifdef STAMPS
	uint32 began = clocks();
	if (thread() == 0 && c.back) ((uint32*)c.om)[16 * block()] = processor();
#endif
	SHARED Control k;
	int own = c.out / FOUR, rank = cluster_rank();
	const Floor f = floor_of(c);
	cluster_arrive();
	follow();
	STAMP(1);
	const Result* last = c.results;
	int slot = last ? last->slot : 0; // is on its way while the copies start
	bool stop = failed(last);
	start(c, f, own, rank);
	STAMP(2);
	if (c.turn && block() == 0 && thread() == 0) *c.turn = {slot, !stop};
	Slopes d;
	int clusters = blocks() / FOUR, turns = ((c.rows + ROWS8 - 1) / ROWS8 + clusters - 1) / clusters;
	for (int turn = 0; turn < turns && !stop; turn++) {
		long long first = ((long long)(block() / FOUR) * turns + turn) * ROWS8, r0 = first + EACH * rank;
		if (first >= c.rows) break; // as in all blocks of the cluster
		int n = less(EACH, c.rows - (int)r0);
		if (turn > 0) barrier(); // the rows before need their places no more
		start_tail(c, f);
		gather(c, f, slot, r0, n);
		if (turn == 0) {
			copy_words(k, c.control[slot], 0);
			start_broad(c, f, own, rank); // behind the rows, which are needed first
			copies_wait<1>();
		}
		STAMP(3);
		barrier();
		STAMP(4);
		cluster_wait();
		STAMP(5);
		convolve<WHAT>(c, f, k, rank, r0, n);
		copies_wait<0>();
		STAMP(6);
		cluster_arrive(), cluster_wait();
		STAMP(7);
		if (thread() >= MULTIPLY) prepare(c, f);
		d = multiply<WHAT>(c, f, k, own, rank, first);
		STAMP(8);
		cluster_arrive(), cluster_wait();
		STAMP(9);
		Score score = {};
		int own_row = thread() / 32;
		if (own_row < EACH) score = tail(c, f, k, own, rank, own_row, r0 + own_row, own_row < n);
		STAMP(10);
		if (c.back) {
			cluster_arrive();
			if (own_row < EACH) note(c, score, r0 + own_row, own_row < n);
			cluster_wait();
			STAMP(11);
			go_back(c, f, d, own, rank, first);
			STAMP(12);
			cluster_arrive(), cluster_wait();
			STAMP(13);
			collect<WHAT>(c, f, k, r0);
		}
		cluster_arrive();
		if (!c.back) continue;
		barrier();
		STAMP(14);
		if (n > 0) weigh(c, f, r0, n);
		STAMP(15);
	}
	cluster_wait();
}

KERNEL_CHAIN(quartet_three, Quartet, QUARTET, 2) { run_quartet<BY_THREE>(c); }
KERNEL_CHAIN(quartet_exact, Quartet, QUARTET, 2) { run_quartet<BY_FORM>(c); }
KERNEL_CHAIN(quartet_any, Quartet, QUARTET, 2) { run_quartet<BY_ANY>(c); }
