// A quartet is a network of images with one broad layer: a convolution, a function, a dense
// layer, a function, a dense layer with few outputs, and layers that act on these. Four
// blocks of a cluster share the broad layer, whose weights fit into no block: each has a
// quarter of its outputs. They take eight rows at a time, two each.
#pragma once
#include "chain.h"
#include "cluster.h"
#include "sums.h"

constexpr int QUARTET = 256, FOUR = 4, EACH = 2, ROWS8 = FOUR * EACH; // threads and blocks, rows of a block and of all
constexpr int MOST_UNITS = 6;

// A Unit is a layer behind the last dense layer.
struct Unit {
	int kind, at[3];       // at: the units of a photon count
	Func f;
	const float *raw, *b;  // as in an Op
	float* tape;
	double n[3];           // photons, σ and the side of the sensor
};

struct Quartet {
	Unit units[MOST_UNITS];
	Func inner, outer;             // behind the convolution, behind the broad layer
	Image image;
	const float *cw, *cs, *cb, *cbs; // the convolution
	const float *w, *s, *b, *bs;     // the broad layer
	const float *tw, *ts, *tb, *tbs; // the last one
	float *m, *v, *g, *h;          // input of the broad layer, gradients by its outputs
	float *lm, *lv, *lg, *lh;      // of the last one
	int pixels, in, out, last;     // of an image; of the broad layer; outputs
	int count, rows, back, pad;    // count: of units
	int room, targets, batch, width; // width: of a part of the convolution's gradients
	const Control* control;
	const Result* results;         // null in prediction
	Turn* turn;                    // likewise
	const int* index;              // as in an input's Op
	const float *x, *y;
	float *parts, *om, *ov;        // gradients of the convolution; outputs, where nothing goes back
	double* nll;
	int* floored;
	double p;                      // least variance of the likelihood
};
static_assert(sizeof(Unit) == 128 && sizeof(Quartet) == 128 * MOST_UNITS + 480, "");

// A Floor says where things lie in shared memory; engine/gpu counts them likewise.
struct Floor {
	float *w, *s;          // own columns of the broad layer; groups of four are swizzled
	float* rows;           // inputs of all rows, a row of eight for each; then shares of sums; then the inbox
	float* thin;           // the last layer with its bias, behind these raw and b of the units, and kept
	float *zm, *zv;        // outputs of the convolution of own rows; then gradients by them
	float *xm, *xv;        // inputs of the last layer, own rows
	float *g, *h;          // gradients by own columns, all rows
	float *images, *y;     // of own rows
	float* conv;           // weights of the convolution, then its bias: means, then variances
	float* bias;           // of own columns: means, then variances
};
constexpr int HEAD_LEAST = 16 * 256, UNIT_FLOATS = 2 * SHALLOW + EACH * 4 * SHALLOW;
DEVICE Floor floor_of(const Quartet& c) {
	int own = c.out / FOUR, matrix = c.in * own, head = 2 * ROWS8 * c.in > HEAD_LEAST ? 2 * ROWS8 * c.in : HEAD_LEAST;
	int thin = 2 * (c.out + 1) * (c.last | 1) + c.count * UNIT_FLOATS, inbox = FOUR * EACH * 3 * c.in;
	thin = (thin + 3) / 4 * 4;
	Floor f;
	f.w = dynamic(), f.s = f.w + matrix;
	f.rows = f.s + matrix, f.thin = f.rows + head;
	f.zm = f.rows + (head + thin > inbox ? head + thin : inbox), f.zv = f.zm + EACH * c.in;
	f.xm = f.zv + EACH * c.in, f.xv = f.xm + EACH * c.out;
	f.g = f.xv + EACH * c.out, f.h = f.g + ROWS8 * own;
	f.bias = f.h + ROWS8 * own;
	f.images = f.bias + 2 * own, f.y = f.images + EACH * c.pixels;
	f.conv = f.y + EACH * SHALLOW;
	return f;
}
