// The gradients of the weights of a chain beside many others. For the broad layer two blocks,
// a cluster, sum up
//
//	s0 = mᵀ·g, s1 = (m²)ᵀ·h, s2 = vᵀ·h: the gradients are s0 + 2w·s2 by the means, s1 + s2 by ρ
//
// over a part of the rows, in products of halves, 32 rows at a time, which the pass leaves in cells. Each block has 64 inputs
// and all outputs, each of three groups of four warps one of the sums. One block fetches the cells of g for both, the other
// one those of h.
#pragma once
#include "chain.h"
#include "hopper16.h"

constexpr int INPUTS = 64, STRETCH = 32, SUMMING = 512; // inputs of a block; rows at a time; threads
// A cell is 32 rows × 32 columns of an operand: halves, and what they leave. A stage has the cells of m and v for the inputs of the block, and those of g and h.
constexpr int CELL_LEFT = CELL / 2, STEPS = 4, RIGHTS = 4 * CELL, CELLS = 12 * CELL;
struct Meeting {
	Barrier full[STEPS], empty[STEPS], shared;
};
constexpr int MEETING = 1024, EXCHANGE = MEETING + STEPS * CELLS; // bytes: where stages and sums begin

// CrowdGradients says what a launch sums up. planes has 32 rows after the other, of each the cells of m, v, g and h, four
// of each; scales has four numbers for every 64 rows, by which what the cells have is multiplied.
struct CrowdGradients {
	const char* planes;
	const float *scales, *w;
	const Turn* turn;
	float* grad;                          // the parts, one behind the other
	long long size;                       // of one of them
	const double* nll;                    // of the rows
	const int* floored;
	double* scores;                       // receives the sums of both
	const float* raw;                     // of a noise; or null
	int rows, in, out, noise;             // noise: where its gradient is in the first part
	int mean, rho, bias, bias_rho;        // where gradients begin in a part
	int last, thin;                       // where that by the variance of the last layer's bias is, and how many parts it has
};
static_assert(sizeof(CrowdGradients) == 120, "");

// A Summing is what all threads of a block know.
struct Summing {
	const CrowdGradients& c;
	char* memory;
	Meeting* at;
	float* grad;
	int rank, first, last; // of the stretches; the last one comes first, since it was written last
};
// A Stage says where threads stand in the ring of stages.
struct Stage {
	int number;
	uint32 phase;
};
DEVICE void advance(Stage& s) {
	if (++s.number == STEPS) s.number = 0, s.phase ^= 1;
}
// supply fetches the cells of a stretch.
DEVICE void supply(const Summing& s, int stretch, int stage) {
	Barrier* full = s.at->full + stage;
	char* to = s.memory + MEETING + stage * CELLS;
	const char* from = s.c.planes + (long long)stretch * 16 * CELL;
	expect(full, CELLS);
#pragma unroll
	for (int j = 0; j < 2; j++) fetch(to + 2 * j * CELL, from + (4 * j + 2 * s.rank) * CELL, 2 * CELL, full);
	fetch_both(to + RIGHTS + 4 * s.rank * CELL, from + (8 + 4 * s.rank) * CELL, 4 * CELL, full);
}

// sum_rest sums up the scores of the rows, and what comes to a noise: a warp has one of these sums.
DEVICE void sum_rest(const Summing& s) {
	const CrowdGradients& c = s.c;
	int lane = thread() % 32, warp = of_warp(thread() / 32 % 4), rows = c.rows;
	if (warp == 3 && lane == 0 && c.raw) {
		float by = 0;
		for (int i = 0; i < c.thin; i++) by += c.grad[i * c.size + c.last]; // a noise adds to the variances as the bias does
		Spread a = spread(*c.raw);
		c.grad[c.noise] = by * (2 * a.sigma * a.slope);
	}
	if (warp != 1 && warp != 2) return;
	constexpr int AHEAD = 8;
	double sum = 0;
#pragma unroll 1
	for (int i = lane; i < rows; i += 32 * AHEAD) {
		double x[AHEAD];
#pragma unroll
		for (int j = 0; j < AHEAD; j++) {
			int row = i + 32 * j;
			x[j] = row < rows ? warp == 1 ? c.nll[row] : (double)c.floored[row] : 0.0;
		}
#pragma unroll
		for (int j = 0; j < AHEAD; j++) sum += x[j];
	}
	sum = warp_sum(sum);
	if (lane == 0) c.scores[warp - 1] = sum;
}

// sum_biases sums up g, or h: a warp has 32 columns. One thread supplies all others of the block.
DEVICE void sum_biases(const Summing& s) {
	int lane = thread() % 32, warp = of_warp(thread() / 32 % 4), row = lane % 16, width = s.c.out;
	if (warp == 0 && lane == 0)
#pragma unroll 1
		for (int i = 0; i < STEPS && i <= s.last - s.first; i++) supply(s, s.last - i, i);
	warp_ready();
	bool finite = s.c.turn->finite;
	if (s.rank == 1 && s.first == 0 && finite) sum_rest(s); // while the first cells come
	float sums[8] = {};
	uint32 place = shared_place(s.memory) + MEETING + RIGHTS + (4 * s.rank + warp) * CELL + row * 64 + ((lane / 16) ^ (row / 2 & 3)) * 16;
	Far scale = Far(s.c.scales + 2 + s.rank);
	Stage at = {0, 0};
#pragma unroll 1
	for (int i = s.last; i >= s.first; i--) {
		float by = scale[i / 2 * 4], t[4][4] = {}; // eight columns each
		wait_together(s.at->full + at.number, at.phase);
#pragma unroll
		for (int j = 0; j < 8; j++) { // what halves leave first
			uint32 x[4];
			load_left(x, (place + at.number * CELLS + (j < 4 ? CELL_LEFT : 0) + j / 2 % 2 * 1024) ^ j % 2 * 32);
			add_rows(t[j % 2 * 2], x[0], x[1]), add_rows(t[j % 2 * 2 + 1], x[2], x[3]);
		}
		warp_ready();
		if (i >= s.first + STEPS) {
			arrive_both(s.at->empty + at.number);
			if (warp == 0) {
				warp_ready(); // all threads have arrived
				wait_together(s.at->empty + at.number, at.phase);
				if (lane == 0) supply(s, i - STEPS, at.number);
				warp_ready();
			}
		}
#pragma unroll
		for (int k = 0; k < 8; k++) sums[k] = fma(t[k / 2][k % 2], by, sums[k]);
		advance(at);
	}
	if (32 * warp >= width || lane >= 4 || !finite) return;
	auto to = out(s.grad + (s.rank ? s.c.bias_rho : s.c.bias) + 32 * warp + 8 * lane);
#pragma unroll
	for (int k = 0; k < 8; k++) to[k] = sums[k];
}

// square replaces numbers by their squares times 2⁻¹⁶.
DEVICE void square(uint32 (&h)[8], uint32 (&l)[8]) {
#pragma unroll
	for (int i = 0; i < 8; i++) {
		float x = (from_half(h[i], 0) + from_half(l[i], 0)) * 0x1p-8f, y = (from_half(h[i], 1) + from_half(l[i], 1)) * 0x1p-8f;
		x *= x, y *= y;
		h[i] = two_halves(x, y), l[i] = two_halves(x - from_half(h[i], 0), y - from_half(h[i], 1));
	}
}

// start_cells begins the products of two cells, small ones first.
DEVICE void start_cells(float* d, const uint32 (&h)[8], const uint32 (&l)[8], uint32 b) {
	constexpr uint32 DEEPER = 1024 >> 4, LEFT = CELL_LEFT >> 4;
	wgmma_begin();
	wgmma16_first(d, l, b), wgmma16(d, l + 4, b + DEEPER);
	wgmma16(d, h, b + LEFT), wgmma16(d, h + 4, b + LEFT + DEEPER);
	wgmma16(d, h, b), wgmma16(d, h + 4, b + DEEPER);
	wgmma_end();
}
DEVICE void add_cells(float* sums, const float* d, float by) {
#pragma unroll
	for (int e = 0; e < 32; e++) sums[e] = fma(d[e], by, sums[e]);
	settled(sums);
}

// order is the number of a thread's sum: of a cell, first those of one input, then those of the other one, by columns.
DEVICE constexpr int order(int i) { return i / 16 * 16 + i % 8 / 2 * 4 + i % 16 / 8 * 2 + i % 2; }

// sum_up is the work of a group that sums up. A warp has sixteen inputs.
DEVICE void sum_up(const Summing& s) {
	int t = thread() % 128, lane = t % 32, sum = of_warp(thread() / 128), warp = of_warp(t / 32), in = s.c.in, width = s.c.out;
	float sums[64], d[32], e[32];
#pragma unroll
	for (int i = 0; i < 64; i++) sums[i] = 0;
	char* stages = s.memory + MEETING;
	int row = lane % 8 + lane / 16 * 8, lefts = (sum / 2 * 2 + warp / 2) * CELL, rights = RIGHTS + (sum ? 4 * CELL : 0);
	uint32 place = shared_place(stages) + lefts + row * 64 + ((warp % 2 * 2 + lane / 8 % 2) ^ (row / 2 & 3)) * 16;
	Far scales = Far(s.c.scales + sum / 2);
	int right = sum == 1 ? 3 : 2; // so far is the scale of the right operand
	Stage at = {0, 0};
#pragma unroll 1
	for (int i = s.last; i >= s.first; i--) {
		float by = scales[i / 2 * 4], other = scales[i / 2 * 4 + right];
		uint32 h[8], l[8], b = describe_cells(shared_place(stages) + at.number * CELLS + rights), from = place + at.number * CELLS;
		wait_together(s.at->full + at.number, at.phase);
		load_left(l, from + CELL_LEFT), load_left(l + 4, from + CELL_LEFT + 1024), load_left(h, from), load_left(h + 4, from + 1024);
		if (sum == 1) square(h, l), by *= by * 0x1p16f;
		by *= other;
		start_cells(d, h, l, b);
		start_cells(e, h, l, b + 2 * (CELL >> 4));
		wgmma16_wait<1>(d);
		add_cells(sums, d, by);
		wgmma16_wait<0>(e);
		holding(h), holding(l);
		warp_ready();
		if (i >= s.first + STEPS) arrive_both(s.at->empty + at.number); // else nothing comes there
		add_cells(sums + 32, e, by);
		advance(at);
	}
	Near exchange = near((const float*)(s.memory + EXCHANGE)) + t * 4;
	if (sum == 2) {
#pragma unroll
		for (int i = 0; i < 64; i += 4) {
			const float four[4] = {sums[order(i)], sums[order(i + 1)], sums[order(i + 2)], sums[order(i + 3)]};
			store4(exchange + i * 128, four);
		}
		warp_ready();
		arrive(&s.at->shared);
		return;
	}
	int g = lane / 4, input = s.rank * INPUTS + warp / 2 * 32 + g / 2 * 8 + warp % 2 * 4 + g % 2;
	if (s.rank * INPUTS + warp / 2 * 32 >= in || !s.c.turn->finite) return;
	long long first = (long long)input * width + lane % 4 * 8;
	const float* w = s.c.w + first;
	float* to = s.grad + (sum ? s.c.rho : s.c.mean) + first;
	wait_together(&s.at->shared, 0);
#pragma unroll
	for (int i = 0; i < 64; i += 4) { // four columns of an input
		int col = i / 16 * 32 + i % 8 / 4 * 4, at = i / 8 % 2 * 2 * width + col;
		if (col >= width) continue;
		Four32 f = load4(exchange + i * 128), u = {{0.5f, 0.5f, 0.5f, 0.5f}};
		if (sum == 0) u = load4(Far(w + at));
		float x[4];
#pragma unroll
		for (int k = 0; k < 4; k++) x[k] = fma(2 * u.x[k], f.x[k], sums[order(i + k)]);
		*(Four32*)(to + at) = {x[0], x[1], x[2], x[3]};
	}
}

KERNEL_CHAIN(crowd_gradients, CrowdGradients, SUMMING, 1) {
	char* memory = (char*)dynamic();
	memory += -(uint64)memory & 1023;
	int part = block() / 2, parts = blocks() / 2, stretches = (c.rows + STRETCH - 1) / STRETCH;
	const Summing s = {c, memory, (Meeting*)memory, c.grad + part * c.size, cluster_rank(), part * stretches / parts, (part + 1) * stretches / parts - 1};
	if (thread() == 0) {
#pragma unroll
		for (int i = 0; i < STEPS; i++) begin(s.at->full + i, 1), begin(s.at->empty + i, 32);
		begin(&s.at->shared, 4);
		all_begun();
	}
	cluster_arrive();
	cluster_wait();
	follow();
	if (thread() >= 384) {
		fewer_registers<56>();
		sum_biases(s);
	} else {
		more_registers<152>();
		sum_up(s);
	}
}
