// What a thread of a crowd's pass knows: its network, its rows, and where things lie.
#pragma once
#include "crowd_function.h"
#include "crowd_halves.h"

constexpr int CROWD_THREADS = 256, UNIT = 128, GROUP_ROWS = UNIT / 2; // rows of a block at a time, and of a group

// Places are where the gradients of a layer begin in a part.
struct Places {
	int mean, rho, bias, bias_rho;
};
struct CrowdPass {
	Chain chain;
	float* grad;    // the parts, one behind the other
	long long size; // of one of them
	Places first, last;
	char* planes;   // the signals of the broad layer in halves, for its gradients: see Cells
	float* scales;
	int each, stretches; // units of a stretch of rows, which leaves two parts; stretches
};
static_assert(sizeof(CrowdPass) == sizeof(Chain) + 72, "");

// planes_at is where the planes begin in shared memory: they are aligned.
DEVICE uint32 planes_at() { return (place_near(near(dynamic())) + 1023) / 1024 * 1024; }
// Behind them are, at numbers: biases and spreads of the broad layer; weights, spreads and mean squares of the last one, these times SPREAD, then its
// bias with spread, and the variance of the noise; bounds of the first layer's weights, the largest mean and variance for each input, then
// those of the biases; the functions; the exponents of the planes and the step; places of the groups; then the first layer:
// biases with spreads, weights with spreads of each input; then the inputs. Thin layers have BROADEST columns, zeros
// behind the last one.
constexpr int AT_BROAD = 0, AT_LAST = AT_BROAD + 2 * BROADEST, AT_END = AT_LAST + 3 * BROADEST, AT_BOUNDS = AT_END + 4, AT_BENDS = AT_BOUNDS + 2 * SHALLOW + 4;
constexpr int AT_STATE = AT_BENDS + 2 * BEND, AT_GROUPS = AT_STATE + 8;
// The place of a group has the scores of its rows, difference and variance, as doubles; what its warps tell one another: sums,
// and the largest of numbers; numbers of rows that are on their way; targets, twice.
constexpr int SLOTS = 8, AT_TELL = 4 * GROUP_ROWS, AT_MOST = AT_TELL + 4 * SLOTS * 32, AT_ASKED = AT_MOST + 24, AT_TARGETS = AT_ASKED + GROUP_ROWS, GROUP_PLACE = AT_TARGETS + 2 * GROUP_ROWS;
constexpr int AT_FIRST = AT_GROUPS + 2 * GROUP_PLACE, AT_INPUTS = AT_FIRST + 2 * BROADEST; // behind the weights of all inputs
static_assert(AT_FIRST % 4 == 0 && AT_BENDS % 4 == 0, "");
enum { STATE_W, STATE_S, STATE_P, STATE_SLOT };
#ifndef EMULATED
DEVICE Near place(int at) { return (Near)(uint64)(planes_at() + PLANES) + at; }
#else
DEVICE Near place(int at) { return dynamic() + (planes_at() + PLANES) / 4 + at; }
#endif

#ifndef EMULATED
// self is thread, read anew: a register less in between.
DEVICE int self() {
	int t;
	asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
	__builtin_assume(t >= 0 && t < CROWD_THREADS);
	return t;
}
// anew is x; what is computed of it is not kept.
DEVICE int anew(int x) { asm volatile("" : "+r"(x)); return x; }
// apart keeps the compiler from choosing between numbers where it should branch.
DEVICE void apart() { asm volatile("" ::: "memory"); }
#else
DEVICE int anew(int x) { return x; }
DEVICE void apart() {}
DEVICE int self() { return thread(); }
#endif

// A Crowd is a block's view of its chain. A thread computes all else where it needs it: registers are scarce. ONE: the network has one
// input, without variance.
template <bool ONE>
struct Crowd {
	const CrowdPass& p;
	int stretch, within; // of rows, and the unit of it
	int parity; // of two places of inputs and targets
	METHOD int unit() const { return stretch * p.each + within; }
	METHOD const Link& thin() const { return p.chain.links[0]; }
	METHOD const Link& broad() const { return p.chain.links[1]; }
	METHOD const Link& last() const { return p.chain.links[2]; }
	// depth is how many columns the broad layer reads: the compiler learns that there are some.
	METHOD int depth() const {
		int n = broad().in;
		if (n <= 0) __builtin_unreachable();
		return n;
	}
	METHOD int state(int i) const { return (int)bits(place(AT_STATE)[i]); }
	METHOD Near bend(int i) const { return place(AT_BENDS + i * BEND); }
	METHOD int inputs() const { return ONE ? 1 : thin().in; }
	METHOD bool uncertain() const { return !ONE && p.chain.tv != nullptr; } // inputs have variances
};
// A Seat is what a thread has of a unit: the first of its rows, g, among those of its group, and its first column of each eight.
struct Seat {
	int group, row, col;
	METHOD explicit Seat(int t) : group(t / 128), row(t / 32 % 4 * 16 + t % 32 / 4), col(t % 4 * 2) {}
	template <class K>
	METHOD int first(const K& k) const { return k.unit() * UNIT + group * GROUP_ROWS; } // row of the batch
	template <class K>
	METHOD int count(const K& k) const { return k.p.chain.rows - first(k); }           // rows of the group, or more
	METHOD Near own(int at) const { return place(AT_GROUPS) + group * GROUP_PLACE + at; }
	METHOD Near targets(int parity) const { return own(AT_TARGETS) + parity * GROUP_ROWS; }
	// inputs are those of the group, then their variances.
	template <class K>
	METHOD Near inputs(const K& k) const { return place(AT_INPUTS) + (2 * BROADEST + (2 * group + k.parity) * (2 * GROUP_ROWS)) * k.inputs(); }
};

// An Entry is what a thread keeps at hand for the first layer: where its inputs are, and the numbers of its columns.
struct Entry {
	Near inputs, columns;
	int in;
	template <class K>
	METHOD Entry(const K& k, const Seat& s) : inputs(s.inputs(k) + s.row * k.inputs()), columns(place(s.col)), in(k.inputs()) {}
};

#ifndef EMULATED
DEVICE void barrier_of_group() { asm volatile("bar.sync %0, 128;" ::"r"(1 + thread() / 128) : "memory"); }
// The groups multiply in turn, so that one computes while the other multiplies.
DEVICE void take_turn() { asm volatile("bar.sync %0, 256;" ::"r"(3 + thread() / 128) : "memory"); }
DEVICE void give_turn() { asm volatile("bar.arrive %0, 256;" ::"r"(4 - thread() / 128) : "memory"); }
typedef __attribute__((address_space(3))) double* NearDouble;
#else
DEVICE void barrier_of_group() { barrier(); }
DEVICE void take_turn() {}
DEVICE void give_turn() {}
typedef double* NearDouble;
#endif
DEVICE NearDouble score_place(const Seat& s) { return (NearDouble)s.own(0); }

// with_part calls for one of the parts of 64 numbers, SPAN each, with the place of its first. The body of a loop that works on
// copies of a part is there once, so its instructions come from the cache; only what is called is there for each part.
template <int SPAN, int FIRST = 0, int LAST = 64, class Each>
DEVICE void with_part(int first, Each each) {
	constexpr int MIDDLE = (FIRST + LAST) / 2;
	if constexpr (LAST - FIRST == SPAN) each(FIRST), apart();
	else if (anew(first) < MIDDLE) with_part<SPAN, FIRST, MIDDLE>(first, each);
	else with_part<SPAN, MIDDLE, LAST>(first, each);
}

// Cells are where a thread's rows lie in the planes that the gradients of the broad layer multiply. 32 rows × 32 columns are a cell, the
// halves and then what they leave, for m, v and the gradients by mean and by variance, behind one
// another for four times 32 columns; then follow the next 32 rows. Sixteen bytes of a row are a thread's, swizzled by rows.
constexpr int CELL_BYTES = 4096, SIGNALS = 4;
struct Cells {
	char* at;
	template <class K>
	METHOD Cells(const K& k, const Seat& s) {
		int row = s.first(k) + s.row;
		at = k.p.planes + (long long)(row / 32) * (SIGNALS * 4 * CELL_BYTES) + row % 32 * 64 + ((s.col / 2) ^ (row / 2 & 3)) * 16;
	}
	// write writes a row's numbers of 32 columns: those at 0, 2, 4 and 6 of the fragments.
	METHOD void write(int signal, int cell, int second, const uint32* h, const uint32* l) const {
		char* to = at + (signal * 4 + cell) * CELL_BYTES + second * 512;
		store16(to, h[0], h[2], h[4], h[6]), store16(to + 2048, l[0], l[2], l[4], l[6]);
	}
};

// tell_most and find_most, with a barrier of the group between them, make two numbers, bits of such that are not negative, the
// largest of the group's. They meet at one of two places, of which each has had other barriers since its last use.
DEVICE void tell_most(int place, uint32& x, uint32& y) {
	x = all_most(x), y = all_most(y);
	int t = self();
	Near all = Seat(t).own(AT_MOST + 8 * place);
	if (t % 32 == 0) all[t / 32 % 4 * 2] = from_bits(x), all[t / 32 % 4 * 2 + 1] = from_bits(y);
}
DEVICE void find_most(int place, uint32& x, uint32& y) {
	Near all = Seat(self()).own(AT_MOST + 8 * place);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		uint32 a = bits(all[2 * i]), b = bits(all[2 * i + 1]);
		x = a > x ? a : x, y = b > y ? b : y;
	}
}
