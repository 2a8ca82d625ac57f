// A small network in one launch: forward, score and backward. A block takes PER rows at a
// time through all operations. It copies the weights into shared memory when it starts, and
// the activations never leave it, but for those that the gradients of the weights need.
#include "ops.h"
#include "mma.h"
#include "few_rows.h"
#include "fused_gradients.h"
#include "fused_update.h"
#include "fused_conv.h"

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
