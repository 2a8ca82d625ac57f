// nn.Embed: units that number levels become rows of learned tables.
#pragma once
#include "program.h"

// A Levels is the table of one category: unit of the input, first output, and moments.
struct Levels {
	int unit, levels, width, at;
	const float *mean, *var; // var is null if they are numbers
};
static_assert(sizeof(Levels) == 32, "");

DEVICE int level(int levels, float x) {
	float most = (float)(levels - 1);
	return (int)((double)less(more(x, 0.0f), most) + 0.5);
}

// embed writes the units that stay, o.table, and the rows of o.targets tables at o.nodes.
CALLED void embed(const Op& o, long long r0, int rows) {
	const Levels* tables = (const Levels*)o.nodes;
	for (int i = thread(); i < rows * o.out; i += threads()) {
		long long from = (r0 + i / o.out) * o.in, at = r0 * o.out + i;
		int u = i % o.out;
		float m, v = 0;
		if (u < tables[0].at) {
			m = o.m[from + o.table[u]], v = o.v ? o.v[from + o.table[u]] : 0.0f;
			if (o.tape) o.tape[at] = 0;
		} else {
			int t = 0;
			while (u >= tables[t].at + tables[t].width) t++;
			long long row = (long long)level(tables[t].levels, o.m[from + tables[t].unit]) * tables[t].width + u - tables[t].at;
			m = tables[t].mean[row], v = tables[t].var ? tables[t].var[row] : 0.0f;
			if (o.tape) o.tape[at] = v;
		}
		o.om[at] = m;
		if (o.ov) o.ov[at] = v;
	}
}

// embed_back takes gradients to the units that stay.
CALLED void embed_back(const Op& o, long long r0, int rows) {
	int others = ((const Levels*)o.nodes)[0].at;
	for (int i = thread(); i < rows * o.in; i += threads()) o.dm[r0 * o.in + i] = 0;
	for (int i = thread(); o.dv && i < rows * o.in; i += threads()) o.dv[r0 * o.in + i] = 0;
	barrier();
	for (int i = thread(); i < rows * others; i += threads()) {
		long long to = (r0 + i / others) * o.in + o.table[i % others], from = (r0 + i / others) * o.out + i % others;
		o.dm[to] = o.g[from];
		if (o.dv) o.dv[to] = o.h[from];
	}
}

// sense_embed takes the sensitivities a of some rows to the outputs to those to the inputs.
DEVICE void sense_embed(const Op& o, const float* a, float* in, int rows) {
	int others = ((const Levels*)o.nodes)[0].at;
	for (int i = thread(); i < rows * o.in; i += threads()) in[i] = 0;
	barrier();
	for (int i = thread(); i < rows * others; i += threads()) in[i / others * o.in + o.table[i % others]] = a[i / others * o.out + i % others];
}

// kept_unit is the unit of the input that an output is, -1 for outputs of tables.
DEVICE int kept_unit(const Op& o, int u) { return u < ((const Levels*)o.nodes)[0].at ? o.table[u] : -1; }

// levels adds up the gradients of one table: a thread has an element, and adds up the rows
// of its level in their order.
constexpr int LEVEL_ROWS = 256;
struct LevelGradient {
	Levels table;
	const float *m, *g, *h, *de; // inputs of the layer, gradients by its outputs
	int rows, in, out, pad;
	float *gm, *gs;
	const Result* results;
};
KERNEL_MANY(levels, LevelGradient, LEVEL_ROWS, 1, block_y) {
	if (a.results && !a.results->finite) return;
	SHARED int of[LEVEL_ROWS];
	int width = a.table.width, e = block() * LEVEL_ROWS + thread(), mine = e / width, col = a.table.at + e % width;
	bool in = e < a.table.levels * width;
	float gm = 0, gs = 0;
	for (int base = 0; base < a.rows; base += LEVEL_ROWS) {
		barrier();
		int n = less(LEVEL_ROWS, a.rows - base);
		if (thread() < n) of[thread()] = level(a.table.levels, a.m[(long long)(base + thread()) * a.in + a.table.unit]);
		barrier();
		for (int r = 0; in && r < n; r++)
			if (of[r] == mine) {
				long long at = (long long)(base + r) * a.out + col;
				gm += a.g[at], gs += (a.h ? a.h[at] : 0.0f) + (a.de ? a.de[at] : 0.0f);
			}
	}
	if (!in) return;
	a.gm[e] = gm;
	if (a.gs) a.gs[e] = gs;
}
