// What a run of trainings side by side begins and ends with, in one launch for all of them: each gets
// the numbers and the rows of its steps from the memory of the host, and brings its results there.
#include "program.h"

struct Parcel {
	const uint64* controls; // on the host
	uint64* control;
	const uint32* rows;     // on the host; null: a batch that is no stretch of a table
	uint32* index;
	Result *results, *out;  // out: on the host
	int steps, count;       // count: rows of all steps
};
static_assert(sizeof(Parcel) == 56, "");
struct Parcels {
	const Parcel* list;
};

// deliver starts with the first step.
KERNEL(deliver, Parcels, 256) {
	const Parcel& d = a.list[block_y()];
	const int first = block() * 256 + thread(), stride = blocks() * 256, words = d.steps * (int)(sizeof(Control) / 8);
	if (first == 0) {
		Result start = {};
		start.finite = 1, start.clip = 1;
		*d.results = start;
	}
	for (int i = first; i < words; i += stride) d.control[i] = d.controls[i];
	if (!d.rows) return;
	int pairs = d.count / 2;
#pragma unroll 4
	for (int i = first; i < pairs; i += stride) ((uint64*)d.index)[i] = ((const uint64*)d.rows)[i];
	if (first == 0 && d.count % 2) d.index[d.count - 1] = d.rows[d.count - 1];
}

KERNEL(collect, Parcels, 128) {
	const Parcel& d = a.list[block_y()];
	const uint64* from = (const uint64*)(d.results + 1);
	for (int i = thread(); i < d.steps * (int)(sizeof(Result) / 8); i += 128) ((uint64*)d.out)[i] = from[i];
}
