// A quartet is a network of images with one broad layer: a convolution, a function, a dense
// layer, a function, a dense layer with few outputs, and layers that act on these. Four
// blocks of a cluster share the broad layer, whose weights fit into no block: each has a
// quarter of its outputs. They take eight rows at a time, two each.
#pragma once
#include "chain.h"
#include "cluster.h"
#include "sums.h"

constexpr int QUARTET = 288, FOUR = 4, EACH = 2, ROWS8 = FOUR * EACH; // threads and blocks, rows of a block and of all
constexpr int MULTIPLY = 256; // threads of the product; the others prepare the tail meanwhile
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
	int room, targets, width, pad2; // width: of a part of the convolution's gradients
	int cells, features, high, wide; // of a window; of the convolution; of an image with its borders
	const Control* control;
	const Result* results;         // null in prediction
	Turn* turn;                    // likewise
	const int* index;              // as in an input's Op
	const float *x, *y;
	float *parts, *om, *ov;        // gradients of the convolution; outputs, where nothing goes back
	double* nll;
	int* floored;
	double p, scale;               // least variance of the likelihood; 1/batch
};
static_assert(sizeof(Unit) == 128 && sizeof(Quartet) == 128 * MOST_UNITS + 504, "");

// A Floor says where things lie in shared memory, in numbers; engine/gpu counts likewise.
struct Floor {
	int w, s;      // own columns of the broad layer; groups of four are swizzled
	int rows;      // inputs of all rows, eight for each; then shares of sums; then the inbox
	int thin;      // the last layer with its bias, behind these raw and b of the units, and kept
	int zm, zv;    // outputs of the convolution of own rows; then gradients by them
	int xm, xv;    // inputs of the last layer, own rows
	int g, h;      // gradients by own columns, all rows
	int bias;      // of own columns: means, then variances
	int images, y; // of own rows; images with their borders
	int conv;      // weights of the convolution, then its bias: means, then variances
};
constexpr int HEAD_LEAST = 16 * MULTIPLY, UNIT_FLOATS = 2 * SHALLOW + EACH * 4 * SHALLOW;
DEVICE Floor floor_of(const Quartet& c) {
	int own = c.out / FOUR, matrix = c.in * own, head = 2 * ROWS8 * c.in > HEAD_LEAST ? 2 * ROWS8 * c.in : HEAD_LEAST;
	int thin = (2 * (c.out + 1) * (c.last | 1) + c.count * UNIT_FLOATS + 3) / 4 * 4, inbox = FOUR * EACH * 3 * c.in;
	int shares = 2 * EACH * c.image.oh * (c.cells + 1) * c.features; // of the convolution's gradients, where the last layer lay
	if (thin < shares) thin = shares;
	Floor f;
	f.w = 0, f.s = matrix;
	f.rows = 2 * matrix, f.thin = f.rows + head;
	f.zm = f.rows + (head + thin > inbox ? head + thin : inbox), f.zv = f.zm + EACH * c.in;
	f.xm = f.zv + EACH * c.in, f.xv = f.xm + EACH * c.out;
	f.g = f.xv + EACH * c.out, f.h = f.g + ROWS8 * own;
	f.bias = f.h + ROWS8 * own;
	f.images = f.bias + 2 * own, f.y = f.images + EACH * c.wide * c.high * c.image.c;
	f.conv = f.y + EACH * SHALLOW;
	return f;
}
DEVICE Near on(int at) { return near(dynamic() + at); }
DEVICE Peer on(int at, int rank) { return peer(dynamic() + at, rank); } // in another block
