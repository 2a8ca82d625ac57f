// A quartet is a network of images with one broad layer: a convolution, a function, a dense
// layer, a function, a dense layer with few outputs, and layers that act on these. The blocks
// of a cluster, four or two, share the broad layer, whose weights fit into no block: each has
// some of its columns. They take rows together, two each. What a row becomes does not depend
// on how many blocks there are: columns are summed up in quarters.
#pragma once
#include "chain.h"
#include "cluster.h"
#include "sums.h"

constexpr int QUARTET = 288, EACH = 2, QUARTERS = 4; // threads and rows of a block; shares of the columns
constexpr int MULTIPLY = 256; // threads of the product; the others prepare the tail meanwhile
constexpr int CONVOLVE = 160; // threads that fetch and convolve the first rows; the others copy the broad layer meanwhile
constexpr int MOST_UNITS = 6;

// A Unit is a layer behind the last dense layer.
struct Unit {
	int kind, at[3];       // at: the units of a photon count
	Func f;
	const float *raw, *b;  // as in an Op
	float* tape;
	double n[3];           // photons, σ and the side of the sensor
};

// A Floor says how a cluster shares the work and where things lie in shared memory, in
// numbers; engine/gpu lays it out.
struct Floor {
	int team, all; // blocks of the cluster, rows of all
	int own, bits; // columns of a block: 2^bits
	int w, s;      // own columns of the broad layer; groups of four are swizzled
	int rows;      // inputs of all rows, beside one another; then shares of sums; then the inbox
	int lines;     // shares of the convolution's gradients: behind the inputs of all rows
	int thin;      // own columns of the last layer, then its bias
	int units;     // raw and b of the units, and what they keep
	int sums;      // of own rows and quarters of the columns: the last layer's outputs
	int back;      // gradients by these, all rows
	int g, h;      // gradients by own columns, all rows
	int zm, zv;    // outputs of the convolution of own rows; then gradients by them
	int bias;      // of own columns: means, then variances
	int images, y; // of own rows; images with their borders
	int conv;      // weights of the convolution, then its bias: means, then variances
};
constexpr int UNIT_NUMBERS = 2 + 4 * EACH; // of each output

struct Quartet {
	Unit units[MOST_UNITS];
	Floor floor;
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
static_assert(sizeof(Unit) == 128 && sizeof(Quartet) == 128 * MOST_UNITS + 584, "");

DEVICE Near on(int at) { return near(dynamic() + at); }
DEVICE Peer on(int at, int rank) { return peer(dynamic() + at, rank); } // in another block

// STAMP notes, in a build that measures phases, how many clocks have passed since the
// start of a block; om, which nobody wants of a step, is the place for it.
#ifdef STAMPS
#define STAMP(i) if (thread() == 0 && c.back) ((uint32*)c.om)[32 * block() + i] = clocks() - stamped[0]
#else
#define STAMP(i)
#endif
