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
DEVICE void start(const Quartet& c, const Floor& f, int rank) {
	int weights = c.cells * c.features, all = weights + c.features, own = f.own, t = thread();
	for (int i = t; i < all; i += CONVOLVE) {
		bool weight = i < weights;
		copy4(dynamic() + f.conv + i, weight ? c.cw + i : c.cb + i - weights, true);
		copy4(dynamic() + f.conv + all + i, weight ? c.cs + i : c.cbs + i - weights, true);
	}
	t = CONVOLVE - 1 - t; // others than those that have weights
	if (t < own) copy4(dynamic() + f.bias + t, c.b + rank * own + t, true), copy4(dynamic() + f.bias + own + t, c.bs + rank * own + t, true);
	copies_end();
}

// start_broad copies own columns of the broad layer, by the threads from number CONVOLVE on.
// Clusters start in different rows, or all would want the same line at once.
DEVICE void start_broad(const Quartet& c, const Floor& f, int rank) {
	int groups = f.own / 4, t = thread() - CONVOLVE, q = t & (groups - 1), step = (QUARTET - CONVOLVE) / groups, first = block() / f.team * 9 % c.in;
	const float *w = c.w + rank * f.own + 4 * q, *s = c.s + rank * f.own + 4 * q;
#pragma unroll 2
	for (int i = t / groups; i < c.in; i += step) {
		int k = i + first < c.in ? i + first : i + first - c.in, to = place(k, q, f.own);
		copy16(dynamic() + f.w + to, w + k * c.out, true);
		copy16(dynamic() + f.s + to, s + k * c.out, true);
	}
	copies_end();
}

// start_tail copies own columns of the last layer and what the tail needs.
DEVICE void start_tail(const Quartet& c, const Floor& f, int rank) {
	int t = thread(), pitch = c.last | 1, matrix = f.own * pitch, far = rank * f.own * c.last;
	for (int i = t; i < f.own * c.last; i += CONVOLVE) {
		int k = i / c.last, to = f.thin + i + k * (pitch - c.last);
		copy4(dynamic() + to, c.tw + far + i, true), copy4(dynamic() + to + matrix, c.ts + far + i, true);
	}
	float* bias = dynamic() + f.thin + 2 * matrix;
	t = CONVOLVE - 1 - t;
	if (t < c.last) copy4(bias + t, c.tb + t, true), copy4(bias + pitch + t, c.tbs + t, true);
	int u = t / SHALLOW, e = t % SHALLOW;
	if (u < c.count && e < c.last) {
		float* to = dynamic() + f.units + u * UNIT_NUMBERS * c.last + e;
		if (c.units[u].raw) copy4(to, c.units[u].raw + e, true);
		if (c.units[u].b) copy4(to + c.last, c.units[u].b + e, true);
		else near(to)[c.last] = 0;
	}
	copies_end();
}

// A Column is what a thread keeps of its element of the broad layer's outputs for the way
// back: moments and slopes of the function, and its place in global memory.
struct Column {
	float m, v, mm, mv, vm, vv;
	long long at;
	bool live;
};

// multiply has, in a thread, four rows, four columns and a share of the depth; then one
// element, with its share of the last layer.
template <int WHAT>
DEVICE Column multiply(const Quartet& c, const Floor& f, const Control& k, int rank, long long first) {
	int own = f.own, groups = own / 4, spots = f.all / 4 * groups, shares = MULTIPLY / spots, t = thread(), spot = t & (spots - 1), share = t / spots, q = spot & (groups - 1), r = spot / groups * 4;
	bool mine = t < MULTIPLY;
	Near x = on(f.rows) + r, y = x + c.in * f.all, w = on(f.w), s = on(f.s);
	float a[4][4], b[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++) a[i / 4][i % 4] = b[i / 4][i % 4] = 0;
#pragma unroll 2
	for (int d = share; mine && d < c.in; d += shares) {
		Four32 m = load4(x + d * f.all), v = load4(y + d * f.all), u = load4(w + place(d, q, own)), e = load4(s + place(d, q, own));
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
	Near to = on(f.rows) + (slot * 2 * f.all + r) * own + 4 * q;
#pragma unroll
	for (int i = 0; i < 4; i++) {
#pragma unroll
		for (int j = 0; j < 4; j++) a[i][j] += swap(a[i][j], 16), b[i][j] += swap(b[i][j], 16);
		if (writes) store4(to + i * own, a[i]), store4(to + (f.all + i) * own, b[i]);
	}
	barrier();
	bool live = t < f.all * own;
	int row = t >> f.bits, col = t & (own - 1), at = rank * own + col;
	Moments p = {};
	if (live) {
		float m = 0, v = 0;
		Near from = on(f.rows) + row * own + col;
#pragma unroll 8
		for (int i = 0; i < shares / 2; i++, from += 2 * f.all * own) m += from[0], v += from[f.all * own];
		m += on(f.bias)[col], v += on(f.bias)[own + col];
		p = pass<WHAT>(c.outer, m, v, k, first + row, at);
	}
	leave(c, f, p.m, p.v, rank, row, col, live);
	return {p.m, p.v, p.mm, p.mv, p.vm, p.vv, (first + row) * c.out + at, live && first + row < c.rows};
}

// go_back takes gradients by the last layer's outputs to those by own columns, which it leaves
// in d, and these to shares of those by the inputs, N at a time.
template <int N>
DEVICE void go_back(const Quartet& c, const Floor& f, Column& d, int rank) {
	int t = thread(), own = f.own;
	Near g = on(f.g), h = on(f.h);
	if (t < f.all * own) {
		int row = t >> f.bits, col = t & (own - 1);
		Sums s = before_last(c, f, row, col);
		float x = fma(2 * d.m, s.b, s.a), y = s.c;
		d.m = x * d.mm + y * d.vm, d.v = x * d.mv + y * d.vv;
		g[t] = d.m, h[t] = d.v;
	}
	barrier();
	constexpr int UNROLL = 2 / N;
	int groups = c.out / QUARTERS / 4, per = c.in / N;
	for (int task = t; task < 2 * per; task += QUARTET) { // four rows and a quarter of the columns
		int half = task >= per, i = task - half * per, r0 = f.team == 2 ? 0 : 4 * half, q0 = f.team == 2 ? half * groups : 0;
		float a[N][4] = {}, b[N][4] = {}, e[N][4] = {};
		Near p = g + r0 * own + 4 * q0, q = h + r0 * own + 4 * q0;
#pragma unroll UNROLL
		for (int o = 0; o < groups; o++) {
			Four32 u[N], s[N];
			float both[N][4];
#pragma unroll
			for (int n = 0; n < N; n++) {
				u[n] = load4(on(f.w) + place(i + n * per, q0 + o, own)), s[n] = load4(on(f.s) + place(i + n * per, q0 + o, own));
#pragma unroll
				for (int j = 0; j < 4; j++) both[n][j] = fma(u[n].x[j], u[n].x[j], s[n].x[j]);
			}
#pragma unroll
			for (int r = 0; r < 4; r++) {
				Four32 x = load4(p + r * own + 4 * o), y = load4(q + r * own + 4 * o);
#pragma unroll
				for (int n = 0; n < N; n++)
#pragma unroll
					for (int j = 0; j < 4; j++) {
						a[n][r] = fma(x.x[j], u[n].x[j], a[n][r]);
						b[n][r] = fma(y.x[j], s[n].x[j], b[n][r]);
						e[n][r] = fma(y.x[j], both[n][j], e[n][r]);
					}
			}
		}
		int quarter = f.team == 2 ? 2 * rank + half : rank;
#pragma unroll
		for (int r = 0; r < 4; r++) {
			Peer there = on(f.rows, (r0 + r) / EACH);
			int at = (quarter * EACH + r % EACH) * 3 * c.in + i;
#pragma unroll
			for (int n = 0; n < N; n++, at += per) put(there, at, a[n][r]), put(there, at + c.in, b[n][r]), put(there, at + 2 * c.in, e[n][r]);
		}
	}
}

// collect adds up the shares and takes the gradients back through the first function, whose
// outputs it writes down.
template <int WHAT>
DEVICE void collect(const Quartet& c, const Floor& f, const Control& k, long long r0, int n) {
	Near box = on(f.rows), zm = on(f.zm), zv = on(f.zv);
	for (int e = thread(); e < EACH * c.in; e += QUARTET) {
		int r = e >= c.in, i = e - r * c.in;
		float s[3];
#pragma unroll
		for (int j = 0; j < 3; j++) {
			s[j] = box[(r * 3 + j) * c.in + i];
#pragma unroll
			for (int b = 1; b < QUARTERS; b++) s[j] += box[((b * EACH + r) * 3 + j) * c.in + i];
		}
		Moments p = pass<WHAT>(c.inner, zm[e], zv[e], k, r0 + r, i);
		float g = fma(2 * p.m, s[1], s[0]), h = s[2];
		zm[e] = g * p.mm + h * p.vm, zv[e] = g * p.mv + h * p.vv;
		if (r < n) out(c.m)[r0 * c.in + e] = p.m, out(c.v)[r0 * c.in + e] = p.v;
	}
}

template <int WHAT, int N>
DEVICE void run_quartet(const Quartet& c) {
#ifdef STAMPS
	if (thread() == 0 && c.back) ((uint32*)c.om)[32 * block()] = processor(), ((uint32*)c.om)[32 * block() + 30] = stamped[1];
#endif
	SHARED Control k;
	SHARED Score scores[EACH][SHALLOW];
	const Floor& f = c.floor;
	const int rank = cluster_rank();
	cluster_present();
	follow();
	STAMP(1);
	const Result* last = c.results;
	int slot = last ? last->slot : 0; // is on its way while the copies start
	bool stop = failed(last);
	if (thread() < CONVOLVE) start(c, f, rank);
	else if (!stop) start_broad(c, f, rank);
	STAMP(2);
	if (c.turn && block() == 0 && thread() == 0) *c.turn = {slot, !stop};
	Column d;
	int clusters = blocks() / f.team, turns = ((c.rows + f.all - 1) / f.all + clusters - 1) / clusters;
	for (int turn = 0; turn < turns && !stop; turn++) {
		long long first = ((long long)(block() / f.team) * turns + turn) * f.all, r0 = first + EACH * rank;
		if (first >= c.rows) break; // as in all blocks of the cluster
		int n = less(EACH, c.rows - (int)r0);
		if (turn > 0) cluster_wait(), barrier(); // the rows before need their places no more
		if (thread() < CONVOLVE) {
			Picked rows = pick(c, slot, r0, n);
			start_tail(c, f, rank);
			gather(c, f, rows, n);
			if (turn == 0) copy_words(k, c.control[slot], 0);
			copies_wait<0>();
		}
		STAMP(3);
		barrier();
		STAMP(4);
		if (turn == 0) cluster_wait();
		STAMP(5);
		int many = turn > 0 ? QUARTET : CONVOLVE;
		if (thread() < many) convolve<WHAT>(c, f, k, rank, r0, many);
		copies_wait<0>();
		STAMP(6);
		cluster_arrive(), cluster_wait();
		STAMP(7);
		if (thread() >= MULTIPLY) prepare(c, f);
		d = multiply<WHAT>(c, f, k, rank, first);
		STAMP(8);
		cluster_arrive();
		if (d.live && c.lm) out(c.lm)[d.at] = d.m, out(c.lv)[d.at] = d.v; // not before: to arrive waits for what was written
		cluster_wait();
		STAMP(9);
		int own_row = thread() / 32;
		if (own_row < EACH) tail(c, f, k, scores, rank, own_row, r0 + own_row, own_row < n);
		else if (thread() >= MULTIPLY && c.back) note(c, scores, r0, n);
		STAMP(10);
		if (c.back) {
			cluster_arrive(), cluster_wait();
			STAMP(11);
			go_back<N>(c, f, d, rank);
			STAMP(12);
			cluster_arrive();
			if (d.live) out(c.g)[d.at] = d.m, out(c.h)[d.at] = d.v;
			cluster_wait();
			STAMP(13);
			collect<WHAT>(c, f, k, r0, n);
		}
		if (turn < turns - 1) cluster_arrive();
		else cluster_present(); // nothing is written to others any more, but they may not be gone
		if (!c.back) continue;
		barrier();
		STAMP(14);
		if (n > 0) weigh(c, f, r0, n);
		STAMP(15);
	}
	cluster_wait();
#ifdef STAMPS
	if (thread() == 0 && c.back) ((uint32*)c.om)[32 * block() + 31] = now_ns();
#endif
}

KERNEL_CHAIN(quartet_three, Quartet, QUARTET, 2) { run_quartet<BY_THREE, 1>(c); }
KERNEL_CHAIN(quartet_exact, Quartet, QUARTET, 2) { run_quartet<BY_FORM, 1>(c); }
KERNEL_CHAIN(quartet_any, Quartet, QUARTET, 2) { run_quartet<BY_ANY, 1>(c); }
// The same for clusters of two blocks: one fills a multiprocessor, and has all of its registers.
KERNEL_CHAIN(pair_three, Quartet, QUARTET, 1) { run_quartet<BY_THREE, 2>(c); }
KERNEL_CHAIN(pair_exact, Quartet, QUARTET, 1) { run_quartet<BY_FORM, 2>(c); }
KERNEL_CHAIN(pair_any, Quartet, QUARTET, 1) { run_quartet<BY_ANY, 2>(c); }
