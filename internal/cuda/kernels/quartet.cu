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
#include "quartet_tail.h"
#include "quartet_gradients.h"

// What the two functions inside are.
enum { BY_ANY, BY_THREE, BY_FORM };
template <int WHAT>
DEVICE Moments pass(const Func& f, float m, float v, const Control& k, long long row, int unit) {
	if (WHAT == BY_FORM) return leaky_exact(f.a, m, v);
	if (WHAT == BY_THREE) {
		float xi[3] = {0, f.three[1], f.three[2]}, w[3] = {f.three[3], f.three[4], f.three[5]};
		return leaky_three(f.a, m, v, xi, w);
	}
	return push(f, m, v, f.rule == SAMPLES ? sub_key(k.seed, k.step, f.index) : Key{0, 0}, k.row + row, unit);
}

// place is where group q of four columns of row k of the broad layer lies: threads beside
// one another read from different banks, along rows and along columns.
DEVICE int place(int k, int q, int own) { return k * own + 4 * (q ^ (k & (own / 4 - 1))); }

// start copies the weights that stay.
DEVICE void start(const Quartet& c, const Floor& f, int own, int rank) {
	int groups = own / 4, convolution = c.image.kh * c.image.kw * c.image.c * (c.in / (c.image.oh * c.image.ow)), features = c.in / (c.image.oh * c.image.ow);
	for (int i = thread(); i < convolution; i += QUARTET) copy4(f.conv + i, c.cw + i, true), copy4(f.conv + convolution + features + i, c.cs + i, true);
	for (int i = thread(); i < features; i += QUARTET) copy4(f.conv + convolution + i, c.cb + i, true), copy4(f.conv + 2 * convolution + features + i, c.cbs + i, true);
	for (int i = thread(); i < own; i += QUARTET) copy4(f.bias + i, c.b + rank * own + i, true), copy4(f.bias + own + i, c.bs + rank * own + i, true);
	copies_end();
	int first = thread() % groups, step = QUARTET / groups;
	for (int k = thread() / groups; k < c.in; k += step) {
		long long from = (long long)k * c.out + rank * own + 4 * first;
		copy16(f.w + place(k, first, own), c.w + from, true);
		copy16(f.s + place(k, first, own), c.s + from, true);
	}
	copies_end();
}

// gather reads own rows and their targets, and what the tail needs; rows that are not there
// are zeros.
DEVICE void gather(const Quartet& c, const Floor& f, int slot, long long r0, int n) {
	long long first = (long long)slot * c.room + r0;
	for (int i = thread(); i < EACH * c.pixels; i += QUARTET) {
		int r = i >= c.pixels, e = i - r * c.pixels;
		near(f.images)[i] = r < n ? c.x[(c.index ? c.index[first + r] : first + r) * c.pixels + e] : 0.0f;
	}
	int t = thread();
	if (c.back && t < EACH * SHALLOW) {
		int r = t / SHALLOW, e = t % SHALLOW;
		if (e < c.targets) near(f.y)[t] = r < n ? c.y[(c.index ? c.index[first + r] : first + r) * c.targets + e] : 0.0f;
	}
	int pitch = c.last | 1, matrix = c.out * pitch;
	for (int i = t; i < c.out * c.last; i += QUARTET) {
		int k = i / c.last, to = k * pitch + i - k * c.last;
		copy4(f.thin + to, c.tw + i, true), copy4(f.thin + matrix + to, c.ts + i, true);
	}
	float* behind = f.thin + 2 * matrix;
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

// convolve has a thread for a result of both rows.
template <int WHAT>
DEVICE void convolve(const Quartet& c, const Floor& f, const Control& k, int rank, long long r0, int n) {
	const Image& g = c.image;
	int cells = g.kh * g.kw * g.c, features = c.in / (g.oh * g.ow), weights = cells * features;
	Near x = near(f.images), w = near(f.conv), s = w + weights + features;
	Peer to[FOUR];
#pragma unroll
	for (int b = 0; b < FOUR; b++) to[b] = peer(f.rows, b);
	for (int i = thread(); i < c.in; i += QUARTET) {
		int p = i / features, o = i - p * features, top = p / g.ow, left = p - top * g.ow;
		top = top * g.down - g.top, left = left * g.across - g.left;
		float a[EACH] = {0, 0}, b[EACH] = {0, 0};
		int e = o;
		for (int y = top; y < top + g.kh; y++)
			for (int z = left; z < left + g.kw; z++)
				for (int q = 0; q < g.c; q++, e += features) {
					bool in = y >= 0 && z >= 0 && y < g.h && z < g.w;
					int at = (y * g.w + z) * g.c + q;
#pragma unroll
					for (int r = 0; r < EACH; r++) {
						float v = in ? x[r * c.pixels + at] : 0.0f;
						a[r] = fma(v, w[e], a[r]), b[r] = fma(v * v, s[e], b[r]);
					}
				}
		Moments q[EACH];
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			a[r] += w[weights + o], b[r] += s[weights + o];
			near(f.zm)[r * c.in + i] = a[r], near(f.zv)[r * c.in + i] = b[r];
			q[r] = pass<WHAT>(c.inner, a[r], b[r], k, r0 + r, i);
			if (r < n && c.m) out(c.m)[(r0 + r) * c.in + i] = q[r].m, out(c.v)[(r0 + r) * c.in + i] = q[r].v;
		}
#pragma unroll
		for (int j = 0; j < FOUR; j++) {
			put(to[j], i * ROWS8 + EACH * rank, q[0].m, q[1].m);
			put(to[j], (c.in + i) * ROWS8 + EACH * rank, q[0].v, q[1].v);
		}
	}
}

// multiply has, in a thread, four rows, four columns and a share of the depth; then one
// element, whose slopes it returns for the way back.
struct Slopes {
	float mm, mv, vm, vv;
};
template <int WHAT>
DEVICE Slopes multiply(const Quartet& c, const Floor& f, const Control& k, int own, int rank, long long first) {
	int groups = own / 4, spots = 2 * groups, shares = QUARTET / spots, t = thread(), spot = t % spots, share = t / spots, q = spot % groups, r = spot / groups * 4;
	Near x = near(f.rows) + r, y = x + c.in * ROWS8, w = near(f.w), s = near(f.s);
	float a[4][4], b[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++) a[i / 4][i % 4] = b[i / 4][i % 4] = 0;
#pragma unroll 2
	for (int d = share; d < c.in; d += shares) {
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
	bool upper = t & 16;
	Near to = near(f.rows) + (slot * 2 * ROWS8 + r) * own + 4 * q;
#pragma unroll
	for (int i = 0; i < 16; i++) {
		float p = a[i / 4][i % 4] + swap(a[i / 4][i % 4], 16), z = b[i / 4][i % 4] + swap(b[i / 4][i % 4], 16);
		if (!upper) to[i / 4 * own + i % 4] = p, to[(ROWS8 + i / 4) * own + i % 4] = z;
	}
	barrier();
	Slopes d = {};
	if (t >= ROWS8 * own) return d;
	int row = t / own, col = t - row * own, to_rank = row / EACH;
	float m = 0, v = 0;
	Near from = near(f.rows) + row * own + col;
#pragma unroll 8
	for (int i = 0; i < shares / 2; i++, from += 2 * ROWS8 * own) m += from[0], v += from[ROWS8 * own];
	m += near(f.bias)[col], v += near(f.bias)[own + col];
	Moments p = pass<WHAT>(c.outer, m, v, k, first + row, rank * own + col);
	Peer there = peer(f.xm, to_rank);
	int at = row % EACH * c.out + rank * own + col;
	put(there, at, p.m), put(there, EACH * c.out + at, p.v);
	if (first + row < c.rows && c.lm) out(c.lm)[(first + row) * c.out + rank * own + col] = p.m, out(c.lv)[(first + row) * c.out + rank * own + col] = p.v;
	return {p.mm, p.mv, p.vm, p.vv};
}

// go_back takes gradients by the outputs of own columns to shares of those by the inputs.
DEVICE void go_back(const Quartet& c, const Floor& f, const Slopes& d, int own, int rank, long long first) {
	int t = thread();
	Near g = near(f.g), h = near(f.h);
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
			Four32 u = load4(near(f.w) + place(i, o, own)), s = load4(near(f.s) + place(i, o, own));
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
			Peer there = peer(f.rows, half * 2 + r / EACH);
			int at = (rank * EACH + r % EACH) * 3 * c.in + i;
			put(there, at, a[r]), put(there, at + c.in, b[r]), put(there, at + 2 * c.in, e[r]);
		}
	}
}

// collect adds up the shares and takes the gradients back through the first function.
template <int WHAT>
DEVICE void collect(const Quartet& c, const Floor& f, const Control& k, long long r0) {
	Near box = near(f.rows), zm = near(f.zm), zv = near(f.zv);
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

// weigh sums up the gradients of the convolution's weights and of its bias over own rows: a
// part. Two threads have an element, one for each row. The inputs have no variances.
DEVICE void weigh(const Quartet& c, const Floor& f, long long r0, int n) {
	const Image& g = c.image;
	int places = g.oh * g.ow, cells = g.kh * g.kw * g.c, features = c.in / places, all = (cells + 1) * features;
	float* part = c.parts + r0 / EACH * c.width;
	for (int first = 0; first < 2 * all; first += QUARTET) { // as often for all threads
		int task = first + thread(), e = task / 2, r = task % 2, k = e / features, o = e - k * features;
		bool live = e < all && r < n, weight = k < cells;
		float a = 0, b = 0;
		if (live) {
			int channel = k % g.c, window = k / g.c, down = window / g.kw - g.top, across = window % g.kw - g.left;
			Near x = near(f.images) + r * c.pixels + channel, p = near(f.zm) + r * c.in + o, q = near(f.zv) + r * c.in + o;
			for (int y = 0; y < g.oh; y++) {
				int row = y * g.down + down;
				bool inside = row >= 0 && row < g.h;
#pragma unroll 6
				for (int z = 0; z < g.ow; z++, p += features, q += features) {
					int col = z * g.across + across;
					float v = weight ? inside && col >= 0 && col < g.w ? x[(row * g.w + col) * g.c] : 0.0f : 1.0f;
					a = fma(v, *p, a), b = fma(v * v, *q, b);
				}
			}
		}
		a += swap(a, 1), b += swap(b, 1);
		if (r == 0 && live) out(part)[e] = a, out(part)[all + e] = b;
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
	bool stop = failed(c.results); // the copies start meanwhile
	int slot = c.results ? c.results->slot : 0;
	start(c, f, own, rank);
	copy_words(k, c.control[slot], 0);
	STAMP(2);
	if (c.turn && block() == 0 && thread() == 0) *c.turn = {slot, !stop};
	Slopes d;
	int clusters = blocks() / FOUR, turns = ((c.rows + ROWS8 - 1) / ROWS8 + clusters - 1) / clusters;
	for (int turn = 0; turn < turns && !stop; turn++) {
		long long first = ((long long)(block() / FOUR) * turns + turn) * ROWS8, r0 = first + EACH * rank;
		if (first >= c.rows) break; // as in all blocks of the cluster
		int n = less(EACH, c.rows - (int)r0);
		if (turn > 0) barrier(); // the rows before need their places no more
		gather(c, f, slot, r0, n);
		STAMP(3);
		if (turn == 0) copies_wait<2>();
		barrier();
		STAMP(4);
		cluster_wait();
		STAMP(5);
		convolve<WHAT>(c, f, k, rank, r0, n);
		copies_wait<0>();
		STAMP(6);
		cluster_arrive(), cluster_wait();
		STAMP(7);
		d = multiply<WHAT>(c, f, k, own, rank, first);
		STAMP(8);
		cluster_arrive(), cluster_wait();
		STAMP(9);
		if (thread() / 32 < EACH) tail(c, f, k, own, rank, thread() / 32, r0 + thread() / 32, thread() / 32 < n);
		STAMP(10);
		if (c.back) {
			cluster_arrive(), cluster_wait();
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
