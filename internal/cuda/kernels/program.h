// What the engine writes for the kernels: a list of operations on rows, the tensors,
// the numbers of a step. Package gpu has the same structures in Go.
#pragma once
#include "elem.h"

// Kinds of operations.
enum {
	OP_INPUT,
	OP_DENSE,
	OP_DENSE_BACK,
	OP_APPLY,
	OP_APPLY_BACK,
	OP_NOISE,
	OP_NOISE_BACK,
	OP_SCALE,
	OP_SCALE_BACK,
	OP_MULTIPLY,
	OP_MULTIPLY_BACK,
	OP_DROPOUT,
	OP_DROPOUT_BACK,
	OP_SCORE,
	OP_SENSE_START,
	OP_SENSE_DENSE,
	OP_SENSE_UNITS,
	OP_SENSE_END,
	OP_SENSE_BACK,
	OP_SENSE_DENSE_BACK,
	OP_SENSE_ADD,
	OP_ADD,
	OP_PIECEWISE,
	OP_PIECEWISE_BACK,
	OP_APPEND,
	OP_APPEND_BACK,
	OP_LAYER_NORM,
	OP_LAYER_NORM_BACK,
	OP_SOFTMAX,
	OP_SOFTMAX_BACK,
	OP_CONDITIONAL,
	OP_CONDITIONAL_BACK,
	OP_AVG_POOL,
	OP_AVG_POOL_BACK,
	OP_MAX_POOL,
	OP_MAX_POOL_BACK,
	OP_EMBED,
	OP_EMBED_BACK,
	OP_COV,
	OP_COV_BACK,
	OP_PERIODIC,
	OP_PERIODIC_BACK,
	OP_APART,
	OP_APART_BACK,
	OP_SENSE_SUM,
	OP_SENSE_AVG,
	OP_SENSE_AVG_BACK,
	OP_SENSE_MAX,
	OP_SENSE_MAX_BACK,
	OP_SENSE_CONV,
	OP_SENSE_CONV_BACK,
	OP_SENSE_NORM,
	OP_SENSE_NORM_BACK,
	OP_SOFTMAX_POINTS,
	OP_SOFTMAX_POINTS_BACK,
	OP_CONV,
	OP_CONV_GRADIENT,
};

// Likelihoods.
enum { NORMAL, EXPECTED_NORMAL, HETEROSCEDASTIC, CATEGORICAL, BERNOULLI, POISSON, COUNT, TOTAL };

// An Image says how a window of kh × kw cells walks over an image of h × w × c, channels
// last, to oh × ow places. At the first place its first cell lies top above and left of
// the image; what lies outside is zero.
struct Image {
	int h, w, c, kh, kw, down, across, top, left, oh, ow, pad;
};

// An Op is one operation. Absent parts are null: v of a fixed input, ov of a fixed
// output, s of weights that are numbers, dm where nobody wants the gradient.
//
// Where correlations are carried, dense layers and functions also write to tape what they
// add to the variance of a unit, and functions their slopes to dm. The operations of the
// sense then take the sensitivities of the outputs, one block of rows behind the other
// for each output, from layer to layer backwards, and sum up the variances in nll. Their
// reverse goes from layer to layer forwards and leaves the gradients by the slopes and by
// what the layers add, which the reverse of a layer finds in tm and tv.
struct Op {
	int kind, in, out, room; // room: rows between the sensitivities of two outputs, or between steps
	Func f;
	const float *m, *v;          // input
	float *om, *ov;              // output
	const float *g, *h;          // gradient by the output
	float *dm, *dv;              // gradient by the input
	const float *w, *s, *wt, *st; // weights, row-major, and their transposes
	const float *b, *bs;          // bias
	const float *raw;            // learned numbers of Noise and Scale; factors of Multiply
	float* tape;                 // gradients of learned numbers, a row each
	const float* y;              // targets
	double* nll;                 // of every row
	int* floored;
	double p;                    // parameter of the likelihood, or of Dropout
	int targets, likelihood, weighted, pad2;
	const int* index;            // rows of the table in the batch
	const float *tm, *tv, *ty;   // the table
	float* yo;                   // targets of the batch
	double q;                    // a second parameter
	const int* table;            // numbers of units
	const double* nodes;         // points of a joint rule, each followed by its weight
	double* scratch;             // of every row
	float *cov, *dcov;           // covariances of the units of each row, gradients by them
	Image image;                 // of a pooling
};

// A Control holds what changes from step to step.
struct Control {
	uint64 step, row;       // row: of the first row in the batch
	Key seed;
	int batch, pad0;        // rows that share the loss
	float keep_mean, keep_rho, rate, root2, eps, b1, b2, kl;
	double clip;
	int random_decay, pad;
};

// A Result is what the host reads of a step.
struct Result {
	double nll, kl, norm2;
	int floored, finite;
	float clip;
	int slot; // in the first result: of the step that is next
};

// failed reports that an earlier step failed: nothing may change.
DEVICE bool failed(const Result* r) { return r && !r->finite; }

// Many are the arguments of a kernel for one network, or for several of the same shapes
// side by side: an axis of the grid counts them.
template <class T>
struct Many {
	T one;
	const T* list; // null: there is one
};
template <class T>
DEVICE void take(T& mine, const Many<T>& all, int network) {
	if (thread() == 0) {
		if (all.list) mine = all.list[network];
		else mine = all.one;
	}
	barrier();
}
// follow waits until the launch before this one has ended, if this one may start earlier
// (cards of compute capability 9.0 on); then the one behind it may start.
#if !defined(EMULATED) && __CUDA_ARCH__ >= 900
DEVICE void follow() { asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory"); }
#else
DEVICE void follow() {}
#endif
#define KERNEL_MANY(name, T, threads, blocks, axis) \
	DEVICE void name##_of(const T& a); \
	KERNEL_OF(name, Many<T>, threads, blocks) { \
		SHARED T mine; \
		take(mine, a, axis()); \
		follow(); \
		name##_of(mine); \
	} \
	DEVICE void name##_of(const T& a)

// A Chunk is a stretch of a tensor, the part of one block in an update: elements lo to hi
// of parameters at mean and rho of theta; gradients lie likewise.
struct Chunk {
	int lo, hi, random, no_decay;
	int rows, cols;      // of the tensor, where transposes are kept
	int parts, tensor;   // partial gradients to add up
	long long mean, rho;
	double prior_mean, prior_var;
	float *s, *wt, *st;  // what is derived from the parameters; may be null
	const float* center; // moves the prior of each weight; may be null
};

// The engine counts on these.
static_assert(sizeof(Op) == 392 && sizeof(Chunk) == 96 && sizeof(Control) == 80 && sizeof(Result) == 40, "");
