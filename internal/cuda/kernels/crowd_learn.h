// What follows the pass in a step of a crowd's network, by a cluster of two blocks: the gradients, KL and norm, then AdamW. The
// gradients of the broad layer stay in the registers where they were summed up, and its parameters and moments in shared memory, so
// everything is read once and written once.
#pragma once
#include "crowd_pieces.h"
#include "crowd_thin.h"

// Eight of a thread's weights are neighbours: a cell's columns of one input. Eights says where they lie; in every other
// row the second four come first, so that threads beside one another find different banks.
struct Eights {
	int first, width, odd, columns; // columns: of the thread's cells, how many are there
	METHOD explicit Eights(const Learner& s) {
		int lane = thread() % 32, group = thread() / 128, warp = thread() / 32 % 4, g = lane / 4, input = warp / 2 * 32 + g / 2 * 8 + warp % 2 * 4 + g % 2;
		width = s.c.out, odd = g % 2;
		first = input * width + group * 64 + lane % 4 * 8;
		columns = warp / 2 * 32 < s.inputs() ? width - group * 64 : 0;
	}
	METHOD bool live(int i) const { return i / 2 * 32 < columns; }
	METHOD int at(int i, int half) const { return first + i % 2 * 2 * width + i / 2 * 32 + (half ^ odd) * 4; }
};
// turn_on moves the next eight to where a loop's body finds them.
DEVICE void turn_on(float (&x)[32]) {
	float before[8];
#pragma unroll
	for (int i = 0; i < 8; i++) before[i] = x[i];
#pragma unroll
	for (int i = 0; i < 24; i++) x[i] = x[i + 8];
#pragma unroll
	for (int i = 0; i < 8; i++) x[24 + i] = before[i];
}
DEVICE void load8(float (&x)[8], const float* from, const Eights& e, int i) {
#pragma unroll
	for (int j = 0; j < 2; j++) {
		Four32 f = load4(near(from) + e.at(i, j));
#pragma unroll
		for (int k = 0; k < 4; k++) x[4 * j + k] = f.x[k];
	}
}
DEVICE void store8(float* to, const float (&x)[8], const Eights& e, int i) {
#pragma unroll
	for (int j = 0; j < 2; j++) store4(near(to) + e.at(i, j), x + 4 * j);
}

// combine makes gradients by mean and by variance of the sums.
DEVICE void combine(const Learner& s, const Eights& e, const Totals& o, float (&g)[32], float (&gr)[32]) {
	const float* mean = s.numbers(MEAN);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		float w[8] = {};
		if (e.live(i)) load8(w, mean, e, i);
#pragma unroll
		for (int k = 0; k < 8; k++) {
			int a = in_order(8 * i + k), b = in_order(8 * i + (k ^ 4));
			auto of = [&](int n) INLINED { return chosen(e.odd, o.s[n][b], o.s[n][a]); };
			float s2 = of(2);
			g[8 * i + k] = fma(2 * w[k], s2, of(0)), gr[8 * i + k] = of(1) + s2;
		}
	}
}

// weigh_broad adds the gradients of the KL to those of the broad layer, and adds up its KL and squared norm.
DEVICE void weigh_broad(const Learner& s, const Eights& e, float (&g)[32], float (&gr)[32], double& kl, double& norm2) {
	const float *mean = s.numbers(MEAN), *rho = s.numbers(RHO), *center = s.broad().center;
	const Pull pull(s.broad(), s.desk().control);
#pragma unroll 1
	for (int i = 0; i < 4; i++) {
		if (e.live(i)) {
			float x[8], y[8], sum = 0, squares = 0;
			load8(x, mean, e, i), load8(y, rho, e, i);
			if (center) {
#pragma unroll
				for (int k = 0; k < 8; k++) x[k] -= center[s.rank * INPUTS * e.width + e.at(i, k / 4) + k % 4];
			}
#pragma unroll
			for (int k = 0; k < 8; k++) sum += pull.weigh(x[k], y[k], g[k], gr[k]), squares = fma(g[k], g[k], fma(gr[k], gr[k], squares));
			kl += sum, norm2 += squares;
		}
		turn_on(g), turn_on(gr);
	}
}

// move_means and move_spreads make the step of the broad layer, where its numbers lie.
DEVICE void move_means(const Learner& s, const Eights& e, const Pace& pace, float (&g)[32]) {
	float *mean = s.numbers(MEAN), *first = s.numbers(FIRST_MEAN), *second = s.numbers(SECOND_MEAN), keep = s.broad().no_decay ? 1.0f : s.desk().control.keep_mean;
	const float* center = s.broad().center;
#pragma unroll 1
	for (int i = 0; i < 4; i++) {
		if (e.live(i)) {
			float x[8], m1[8], m2[8];
			load8(x, mean, e, i), load8(m1, first, e, i), load8(m2, second, e, i);
			if (center) {
#pragma unroll
				for (int k = 0; k < 8; k++) x[k] -= center[s.rank * INPUTS * e.width + e.at(i, k / 4) + k % 4];
			}
#pragma unroll
			for (int k = 0; k < 8; k++) pace.move(keep, x[k], g[k], m1[k], m2[k]);
			if (center) {
#pragma unroll
				for (int k = 0; k < 8; k++) x[k] += center[s.rank * INPUTS * e.width + e.at(i, k / 4) + k % 4];
			}
			store8(mean, x, e, i), store8(first, m1, e, i), store8(second, m2, e, i);
		}
		turn_on(g);
	}
}
DEVICE void move_spreads(const Learner& s, const Eights& e, const Pace& pace, float (&g)[32]) {
	float *rho = s.numbers(RHO), *first = s.numbers(FIRST_RHO), *second = s.numbers(SECOND_RHO), keep = s.desk().control.keep_rho;
	Out variance = out(s.broad().s) + s.rank * INPUTS * e.width;
#pragma unroll 1
	for (int i = 0; i < 4; i++) {
		if (e.live(i)) {
			float x[8], m1[8], m2[8];
			load8(x, rho, e, i), load8(m1, first, e, i), load8(m2, second, e, i);
#pragma unroll
			for (int k = 0; k < 8; k++) pace.move(keep, x[k], g[k], m1[k], m2[k]);
			store8(rho, x, e, i), store8(first, m1, e, i), store8(second, m2, e, i);
#pragma unroll
			for (int k = 0; k < 8; k++) x[k] = variance_of(x[k]);
			store4(variance + e.at(i, 0), x), store4(variance + e.at(i, 1), x + 4);
		}
		turn_on(g);
	}
}
// bring_back writes what the block moved of the broad layer: all kinds of means, or of ρ.
DEVICE void bring_back(const Learner& s, bool rho) {
	begun();
	barrier_of_block();
	if (thread() == 0 && s.inputs() > 0)
#pragma unroll 1
		for (int kind = 0; kind < NUMBERS; kind++)
			if ((kind == RHO || kind >= FIRST_RHO) == rho) bring(s.source(kind), s.numbers(kind), 4 * s.inputs() * s.c.out);
}

// read_step reads the chunks, the numbers of the step and the pieces of the block's warps: a thread has eight bytes.
DEVICE void read_step(const Learner& s, int slot) {
	const Norm& a = s.c.update.norm;
	constexpr int WORDS = sizeof(Chunk) / 8, DEALT = 192, CONTROL = DEALT + sizeof(Desk::dealt) / 8, END = CONTROL + sizeof(Control) / 8;
	static_assert((SMALL_CHUNKS + 1) * WORDS <= DEALT && END <= LEARNERS, "");
	int t = thread(), number = t / WORDS, broad = s.c.in * s.c.out / 256, count = a.count - broad;
	Desk& desk = s.desk();
	const void* from = a.chunks + (number == count ? s.c.broad : number < s.c.broad ? number : number + broad);
	void* to = desk.chunks + (number == count ? SMALL_CHUNKS : number);
	int word = t % WORDS;
	if (t >= DEALT) from = s.c.pieces + s.rank * 8 * PIECES, to = desk.dealt, word = t - DEALT;
	if (t >= CONTROL) from = a.control + slot, to = &desk.control, word = t - CONTROL;
	if (t < DEALT ? number <= count : t < END) ((uint64*)to)[word] = fresh((const uint64*)from + word);
}

// Scores are those of some of a warp's rows, on their way.
struct Scores {
	double nll[2];
	int floored[2];
};
DEVICE Scores read_scores(const Learner& s, int row) {
	const Norm& a = s.c.update.norm;
	Scores o;
#pragma unroll
	for (int i = 0; i < 2; i++, row += 2 * LEARNERS) {
		bool in = row < a.rows;
		o.nll[i] = in ? fresh(a.nll + row) : 0.0, o.floored[i] = in ? fresh(a.floored + row) : 0;
	}
	return o;
}
// sum_scores adds up those of a warp, of which the first ones are on their way.
DEVICE void sum_scores(const Learner& s, Scores o, double (&told)[2]) {
	double nll = 0, floored = 0;
#pragma unroll 1
	for (int row = s.rank * LEARNERS + thread(); row < s.c.update.norm.rows; row += 4 * LEARNERS) {
		if (row >= 4 * LEARNERS) o = read_scores(s, row);
		nll += o.nll[0] + o.nll[1], floored += o.floored[0] + o.floored[1];
	}
	nll = warp_sum(nll), floored = warp_sum(floored);
	if (thread() % 32 == 0) told[0] = nll, told[1] = floored;
}

// tell_all tells both blocks four sums of a warp, and adds up those of all, in a fixed order.
DEVICE void tell_all(const Learner& s, double (&x)[4]) {
	Meeting& at = s.at();
	int lane = thread() % 32;
#pragma unroll
	for (int i = 0; i < 4; i++) x[i] = warp_sum(x[i]);
	if (thread() == 0) expect(&at.all, sizeof(at.told));
	warp_ready();
	if (lane < 2)
#pragma unroll
		for (int i = 0; i < 4; i++) tell(&at.told[s.rank * 8 + thread() / 32][i], x[i], &at.all, lane);
	warp_ready();
	wait_together(&at.all, 0);
#pragma unroll
	for (int i = 0; i < 4; i++) x[i] = 0;
#pragma unroll 4
	for (int w = 0; w < 16; w++)
#pragma unroll
		for (int i = 0; i < 4; i++) x[i] += at.told[w][i];
}

// learn is the work of a block, in step slot. Shared memory is its own from the beginning to the end; then both blocks have finished.
DEVICE void learn(const CrowdLearn& c, int slot) {
	const Learner s(c);
	Meeting& at = s.at();
	Desk& mine = s.desk();
	if (thread() == 0) {
#pragma unroll
		for (int i = 0; i < STEPS; i++) begin(at.full + i, 1), begin(at.empty + i, 16);
#pragma unroll
		for (int i = 0; i < 2; i++) begin(at.numbers + i, 1);
		begin(&at.all, 1);
		all_begun();
	}
	proxies_meet(); // the pass wrote what copies read
	cluster_arrive();
	cluster_wait();
	if (thread() % 32 == 0) {
		proxies_meet();
#pragma unroll 1
		for (int i = thread() / 128; i < STEPS && i < 2 * s.pairs; i += 2) supply(s, i, thread() / 32 % 4);
	}
	const Scores scores = read_scores(s, s.rank * LEARNERS + thread());
	read_step(s, slot);
	barrier_of_block();
	if (thread() % 32 == 0 && thread() / 32 < NUMBERS && s.inputs() > 0) expect_soon(s.source(thread() / 32), 4 * s.inputs() * c.out);
	if (thread() % 32 == 0 && thread() >= 128 && s.pairs == 1) supply_numbers(s, 0, thread() / 32 % 4); // else behind the last pair but one
	double sums[4] = {}; // KL, squared norm, score, rows whose variance was too small
	weigh_small(s, sums[0], sums[1]);
	mine.kl[thread()] = sums[0], mine.norm2[thread()] = sums[1];
	sum_scores(s, scores, mine.scores[thread() / 32]);
	float g[32], gr[32];
	{
		Totals o;
#pragma unroll
		for (int i = 0; i < 96; i++) o.s[i / 32][i % 32] = 0;
		o.bias[0] = o.bias[1] = o.bias[2] = o.bias[3] = 0;
		sum_up(s, o);
		wait_together(at.numbers, 0);
		combine(s, Eights(s), o, g, gr);
	}
	const Eights e(s);
	barrier_of_block(); // the sums of the biases are there
	sums[0] = mine.kl[thread()], sums[1] = mine.norm2[thread()];
	weigh_biases(s, sums[0], sums[1]);
	weigh_broad(s, e, g, gr, sums[0], sums[1]);
#pragma unroll
	for (int i = 2; i < 4; i++) sums[i] = thread() % 32 == 0 ? mine.scores[thread() / 32][i - 2] : 0.0;
	tell_all(s, sums);
	const Control& k = mine.control;
	const bool finite = is_finite(sums[2]) && is_finite(sums[0] + sums[1]);
	if (finite) {
		const Pace pace(k, clipping(k, sums[1]));
		wait_together(at.numbers + 1, 0);
		move_means(s, e, pace, g);
		bring_back(s, false);
		move_spreads(s, e, pace, gr);
		bring_back(s, true);
		move_pieces(s, pace);
	}
	if (thread() == 0) {
		if (s.rank == 0) publish(c.update.norm, slot, conclude(k, sums[0], sums[1], sums[2], sums[3]));
		if (!finite) wait_together(at.numbers + 1, 0);
		brought();
#pragma unroll
		for (int i = 0; i < STEPS; i++) end(at.full + i), end(at.empty + i);
#pragma unroll
		for (int i = 0; i < 2; i++) end(at.numbers + i);
		end(&at.all);
	}
	cluster_arrive();
	cluster_wait();
}

KERNEL_CHAIN(crowd_learn, CrowdLearn, LEARNERS, 1) {
	follow();
	const int slot = fresh(&c.update.turn->slot), finite = fresh(&c.update.turn->finite);
	if (finite) learn(c, slot);
}
