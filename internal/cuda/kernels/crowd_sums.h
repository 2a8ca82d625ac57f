// The sums over rows that the gradients of a crowd's broad layer are made of:
//
//	s0 = mᵀ·g, s1 = (m²)ᵀ·h, s2 = vᵀ·h: the gradients are s0 + 2w·s2 by the means, s1 + s2 by the variances
//
// in products of halves, 32 rows at a time, which the pass leaves in cells. Two blocks, a cluster, have a network: each has 64
// inputs and all outputs, each of its two groups of four warps 64 of the outputs. Cells come through a ring of stages; one block
// fetches those of g for both, the other one those of h. Two products are under way at a time: while one is multiplied, the sums of
// the one before it are added. Where the ring needs no more cells, the parameters and moments of the block's weights come into it.
#pragma once
#include "chain_update.h"
#include "crowd_halves.h"
#include "hopper16.h"

constexpr int LEARNERS = 256, INPUTS = 64, OUTPUTS = 128, STRETCH = 32; // threads; inputs of a block; most outputs; rows at a time
// A cell is 32 rows × 32 columns of an operand: halves, and what they leave. A stage has the cells of m and v for the inputs of the block, and those of g and h.
constexpr int CELL_LEFT = CELL / 2, STEPS = 4, RIGHTS = 4 * CELL, CELLS = 12 * CELL;
// Of each weight six numbers come: its mean and ρ and the first moment of the mean, then the others.
enum { MEAN, RHO, FIRST_MEAN, SECOND_MEAN, FIRST_RHO, SECOND_RHO, NUMBERS };
constexpr int NUMBERS_BYTES = 4 * INPUTS * OUTPUTS;
static_assert(STEPS * CELLS == NUMBERS * NUMBERS_BYTES, "");

// A CrowdLearn is what a step of a network needs behind its pass. planes has 32 rows after the other, of each the cells of m, v, g and h, four
// of each; scales has four numbers for every 64 rows, by which what the cells have is multiplied.
struct CrowdLearn {
	ChainUpdate update;
	const char* planes;
	const float* scales;
	const int* pieces; // dealt to the warps: see Desk
	int in, out;       // of the broad layer
	int broad;         // the number of its first chunk; that of its bias follows the last one
	int noise, last;   // the number of a noise's chunk without those of the broad layer, or -1; where gradients by the variance of the last layer's bias are in a part
	int pad;
};
static_assert(sizeof(CrowdLearn) == sizeof(ChainUpdate) + 48, "");

// What a block keeps in shared memory: barriers with what warps tell one another, the ring, the sums of the biases, the numbers of the step, the
// chunks beside those of the broad layer and one of these, and what is known of small pieces.
constexpr int SMALL_CHUNKS = 14, PIECES = 6; // most chunks beside those of the broad layer; most pieces of a warp
struct Meeting {
	Barrier full[STEPS], empty[STEPS], numbers[2], all; // all: have told
	alignas(16) float scales[STEPS][4];
	double told[16][4]; // by the warps of both blocks
};
struct Desk {
	float biases[2][4][INPUTS]; // by mean and by variance, of the rows that a warp had
	int dealt[8][PIECES]; // a warp's pieces: the number of a chunk, and that of 32 of its numbers times 16; behind the last one -1
	Control control;
	Chunk chunks[SMALL_CHUNKS + 1];
	double kl[LEARNERS], norm2[LEARNERS], scores[8][2];
	float pieces[8][PIECES][2][32]; // gradients by mean and by ρ
};
constexpr int AT_RING = 1024, AT_DESK = AT_RING + STEPS * CELLS, LEARN_SHARED = 1024 + AT_DESK + sizeof(Desk); // bytes
static_assert(sizeof(Meeting) <= AT_RING && LEARN_SHARED == 218928, "");

// A Learner is what all threads of a block know.
struct Learner {
	const CrowdLearn& c;
	char* memory;
	int rank, pairs; // of stages
	METHOD explicit Learner(const CrowdLearn& c) : c(c), memory((char*)dynamic() + (-(uint64)dynamic() & 1023)), rank(cluster_rank()), pairs((c.update.norm.rows + 2 * STRETCH - 1) / (2 * STRETCH)) {}
	METHOD Meeting& at() const { return *(Meeting*)memory; }
	METHOD Desk& desk() const { return *(Desk*)(memory + AT_DESK); }
	METHOD char* ring() const { return memory + AT_RING; }
	// numbers is where those of one of the six kinds lie, input by input. The last pair of stages needs its half of the ring longest.
	METHOD float* numbers(int kind) const { return (float*)(ring() + ((kind / 3 + pairs) % 2 * 3 + kind % 3) * NUMBERS_BYTES); }
	METHOD int inputs() const { return less(INPUTS, c.in - rank * INPUTS); } // or none
	METHOD const Chunk& broad() const { return desk().chunks[SMALL_CHUNKS]; }
	METHOD float* source(int kind) const {
		const Adam& a = c.update.adam;
		bool rho = kind == RHO || kind >= FIRST_RHO;
		return (kind < FIRST_MEAN ? a.theta : kind % 2 == 0 ? a.first : a.second) + (rho ? broad().rho : broad().mean) + rank * INPUTS * c.out;
	}
};
static_assert(FIRST_MEAN % 2 == 0 && FIRST_RHO % 2 == 0 && SECOND_MEAN % 2 == 1 && SECOND_RHO % 2 == 1, "");

// supply fetches the cells of a stage, of which the last comes first, since it was written last, and its scales. That takes long, so
// the four warps of a group share it, and the groups take turns.
constexpr int SUPPLY = CELLS + 16; // bytes
DEVICE void supply(const Learner& s, int stage, int warp) {
	const int slot = stage % STEPS, from = 2 * s.pairs - 1 - stage;
	Barrier* full = s.at().full + slot;
	char* to = s.ring() + slot * CELLS;
	const char* cells = s.c.planes + (long long)from * 16 * CELL;
	if (warp == 0) expect(full, SUPPLY);
	if (warp < 2) fetch(to + 2 * warp * CELL, cells + (4 * warp + 2 * s.rank) * CELL, 2 * CELL, full);
	else if (warp == 2) fetch_both(to + RIGHTS + 4 * s.rank * CELL, cells + (8 + 4 * s.rank) * CELL, 4 * CELL, full);
	else fetch(s.at().scales[slot], s.c.scales + from / 2 * 4, 16, full);
}
// supply_numbers fetches three of the six kinds.
DEVICE void supply_numbers(const Learner& s, int half, int warp) {
	const int bytes = s.inputs() > 0 ? 4 * s.inputs() * s.c.out : 0;
	Barrier* full = s.at().numbers + half;
	if (warp == 0) expect(full, 3 * bytes);
	if (warp < 3 && bytes > 0) fetch(s.numbers(3 * half + warp), s.source(3 * half + warp), bytes, full);
}

// An Operand is a left one: halves, and what they leave.
struct Operand {
	uint32 h[8], l[8];
};
DEVICE void load(Operand& a, uint32 place) {
	load_left(a.l, place + CELL_LEFT), load_left(a.l + 4, place + CELL_LEFT + 1024), load_left(a.h, place), load_left(a.h + 4, place + 1024);
}
// square makes b the squares of a, times 2⁻¹⁶: (h + l)² = p + ((h² − p) + 2hl), where p is near the sum, so that what is left of it is
// small. l² is left out: it is at most 2⁻²² of the square, 2⁻²⁵ on average.
DEVICE void square(const Operand& a, Operand& b) {
	constexpr uint32 DOWN = 0x1c001c00, LESS = 0x20002000; // 2⁻⁸, 2⁻⁷
#pragma unroll
	for (int i = 0; i < 8; i++) {
		uint32 h = multiply_halves(a.h[i], DOWN), l = multiply_halves(a.l[i], LESS), p = fma_halves(h, h, multiply_halves(h, l));
		b.h[i] = p, b.l[i] = fma_halves(h, l, fma_halves(h, h, minus_halves(p)));
	}
}
// start begins the products of an operand and two cells, small ones first.
DEVICE void start(float (&d)[32], const Operand& a, uint32 b) {
	constexpr uint32 DEEPER = 1024 >> 4, LEFT = CELL_LEFT >> 4;
	wgmma_begin();
	wgmma16_first(d, a.l, b), wgmma16(d, a.l + 4, b + DEEPER);
	wgmma16(d, a.h, b + LEFT), wgmma16(d, a.h + 4, b + LEFT + DEEPER);
	wgmma16(d, a.h, b), wgmma16(d, a.h + 4, b + DEEPER);
	wgmma_end();
}
// add waits for the products before those that were started last, and adds what they left.
template <int LATER>
DEVICE void add(float (&sums)[32], float (&d)[32], Operand& a, float by) {
	wgmma16_wait<LATER>(d);
	holding(a.h), holding(a.l);
#pragma unroll
	for (int e = 0; e < 32; e++) sums[e] = fma(d[e], by, sums[e]);
	settled(&sums[0]);
}

// Totals are the sums of a thread: of two inputs and eight neighbouring columns of each of two cells, in order; then those of the biases of four columns.
struct Totals {
	float s[3][32], bias[4];
};
// in_order is the number of a thread's sum: of a cell, first those of one input, then those of the other one, by columns.
DEVICE constexpr int in_order(int i) { return i / 16 * 16 + i % 8 / 2 * 4 + i % 16 / 8 * 2 + i % 2; }

// A Round says where a warp stands, and where it finds operands in a stage.
struct Round {
	int stage;
	uint32 left, right, bias; // places of its operands; of a right one, the description
};
// release says that a warp needs a stage no more. Later, when the others have said so, a group refills its place: for both groups
// to work in turns, none may wait for the other.
DEVICE void release(const Learner& s, int stage) {
	warp_ready();
	arrive_both(s.at().empty + stage % STEPS);
}
DEVICE void refill(const Learner& s, int stage) {
	const int warp = of_warp(thread() / 32);
	if (warp / 4 != stage % 2) return;
	warp_ready(); // all threads have arrived
	wait_together(s.at().empty + stage % STEPS, stage / STEPS & 1);
	if (thread() % 32 == 0) {
		if (stage + STEPS < 2 * s.pairs) supply(s, stage + STEPS, warp % 4);
		if (stage == 2 * s.pairs - 3) supply_numbers(s, 0, warp % 4);
		if (stage == 2 * s.pairs - 1) supply_numbers(s, 1, warp % 4);
	}
	warp_ready();
}
// sum_biases adds up four rows of four columns. What halves leave are halves: few of them are added up as such.
DEVICE void sum_biases(const Round& r, int slot, Totals& o, float by) {
	uint32 left[2];
#pragma unroll
	for (int i = 0; i < 8; i++) {
		Two32 x = load2(near_at((r.bias + slot * CELLS + (i < 4 ? CELL_LEFT : 0) + i % 4 * 128) ^ i % 4 * 16));
#pragma unroll
		for (int j = 0; j < 2; j++) {
			uint32 both = bits(x.x[j]);
			if (i < 4) both = left[j] = i == 0 ? both : add_halves(left[j], both);
			if (i < 3) continue;
			Two32 f = from_halves(both);
			o.bias[2 * j] = fma(f.x[0], by, o.bias[2 * j]), o.bias[2 * j + 1] = fma(f.x[1], by, o.bias[2 * j + 1]);
		}
	}
}

// make_rounds multiplies two stages, which have the same scales. Operands are loaded while others are multiplied. All products have ended when it
// returns: the compiler cannot follow others through a loop.
DEVICE void make_rounds(const Learner& s, Round& r, float (&x)[32], float (&y)[32], Totals& o) {
	constexpr uint32 VAR = 4 * CELL >> 4; // from g to h
	const int slot = r.stage % STEPS, other = slot + 1; // stages come in pairs
	const uint32 phase = r.stage / STEPS & 1;
	Operand a, b, v;
	const uint32 left = r.left + slot * CELLS, right = r.right + (slot * CELLS >> 4), next = right + (CELLS >> 4);
	wait_together(s.at().full + slot, phase);
	load(a, left);
	const Four32 scale = load4(near(s.at().scales[slot]));
	const float by[4] = {scale.x[0] * scale.x[2], scale.x[0] * scale.x[0] * 0x1p16f * scale.x[3], scale.x[1] * scale.x[3], of_warp(thread() / 128) ? scale.x[3] : scale.x[2]};
	start(x, a, right);
	load(v, left + 2 * CELL);
	square(a, b);
	start(y, b, right + VAR);
	add<1>(o.s[0], x, a, by[0]);
	start(x, v, right + VAR);
	wait_together(s.at().full + other, phase);
	load(a, left + CELLS);
	if (r.stage > 0) refill(s, r.stage - 1);
	sum_biases(r, slot, o, by[3]);
	add<1>(o.s[1], y, b, by[1]);
	start(y, a, next);
	add<1>(o.s[2], x, v, by[2]);
	release(s, r.stage);
	load(v, left + CELLS + 2 * CELL);
	square(a, b);
	start(x, b, next + VAR);
	add<1>(o.s[0], y, a, by[0]);
	start(y, v, next + VAR);
	refill(s, r.stage);
	sum_biases(r, other, o, by[3]);
	add<1>(o.s[1], x, b, by[1]);
	add<0>(o.s[2], y, v, by[2]);
	release(s, r.stage + 1);
	r.stage += 2;
}

// sum_up is the work of a warp. All sums of a thread are zeros before.
DEVICE void sum_up(const Learner& s, Totals& o) {
	int lane = thread() % 32, group = of_warp(thread() / 128), warp = of_warp(thread() / 32 % 4);
	int row = lane % 8 + lane / 16 * 8, part = warp % 2 * 2 + lane / 8 % 2; // sixteen columns of a cell
	uint32 ring = shared_place(s.ring()), within = row * 64 + (part ^ (row / 2 & 3)) * 16;
	Round r = {0, ring + warp / 2 * CELL + within, describe_cells(ring + RIGHTS + 2 * group * CELL), ring + RIGHTS + (4 * group + 2 * s.rank + lane / 16) * CELL + (8 * warp + lane / 8 % 2) * 64 + lane % 8 * 8};
	float x[32], y[32]; // what is multiplied
#pragma unroll
	for (int i = 0; i < 32; i++) x[i] = y[i] = 0;
#pragma unroll 1
	for (int i = 0; i < s.pairs; i++) make_rounds(s, r, x, y, o);
	refill(s, r.stage - 1);
#pragma unroll
	for (int i = 0; i < 4; i++) o.bias[i] += swap(o.bias[i], 8); // the other rows
	float(&to)[INPUTS] = s.desk().biases[group][warp];
	int p = lane % 8 * 4; // in the cell
	if (lane / 8 % 2 == 0)
#pragma unroll
		for (int i = 0; i < 4; i++) to[lane / 16 * 32 + ((p + i) % 8 / 2) * 8 + (p + i) / 8 * 2 + i % 2] = o.bias[i];
}
