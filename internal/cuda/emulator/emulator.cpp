// A CUDA driver without a card: kernels run on the processor, a block at a time, every
// thread of the block a fiber that runs to its next barrier. Of blocks that form a cluster,
// each runs until it waits for the others; variables that are SHARED are then those of all. It holds the functions of
// the driver that package cuda calls, so that the engine is tested on machines that
// have no card. Build it with build.sh.
//
// Variables of the environment make it misbehave, when it is loaded:
//
//	UTVI_EMULATED_CARDS=2      how many cards there are
//	UTVI_EMULATED_OLD=1        they have no tensor cores for TF32
//	UTVI_EMULATED_AMPERE=1     they have those of compute capability 8.0, not Hopper's
//	UTVI_EMULATED_MEMORY=n     a card has n bytes of memory
//	UTVI_EMULATED_LOST=n       after n launches the card is lost
//	UTVI_EMULATED_ORDER=back   the threads of a block, and the blocks, run from the last
//	                           to the first: what needs a barrier and has none differs
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define EMULATED
#include "../kernels/gpu.h"

namespace emulated {
int thread, threads, block[3], blocks, rank, cluster = 1;

static std::map<std::string, void (*)(void**)>& entries() {
	static std::map<std::string, void (*)(void**)> all;
	return all;
}
Entry::Entry(const char* name, void (*run)(void**)) { entries()[name] = run; }

// Fibers: swap saves the registers that a call keeps, and the stack.
extern "C" void emulated_swap(void** from, void* to);
asm(R"(
.text
.globl emulated_swap
.type emulated_swap,@function
emulated_swap:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
)");

constexpr size_t STACK = 64 << 10;
struct Fiber {
	void* stack;
	char* memory;
	bool done, waiting; // waiting: until all threads of the cluster wait
};
static std::vector<Fiber> fibers; // of all blocks of a cluster
static void* scheduler;
static void (*kernel)(void**);
static void** arguments;

static Fiber& current() { return fibers[rank * threads + thread]; }

static void begin() {
	kernel(arguments);
	current().done = true;
	for (;;) emulated_swap(&current().stack, scheduler);
}

void barrier() { emulated_swap(&current().stack, scheduler); }
void pause() {
	current().waiting = true;
	barrier();
}
static size_t arrived;   // threads that wait at the cluster's barrier
static unsigned passed; // so often
void cluster_barrier() {
	arrived++;
	for (unsigned before = passed; passed == before;) pause();
}

static const bool backwards = getenv("UTVI_EMULATED_ORDER") && !strcmp(getenv("UTVI_EMULATED_ORDER"), "back");

void poison(); // of shared memory: a block finds there what others left

// run_block runs a block until all of its threads have ended, or wait for the cluster;
// false: all have ended.
static bool run_block() {
	for (bool left = true; left;) {
		left = false;
		for (int i = 0; i < threads; i++) {
			thread = backwards ? threads - 1 - i : i;
			Fiber& f = current();
			if (f.done || f.waiting) continue;
			emulated_swap(&scheduler, f.stack);
			left = left || !f.done && !f.waiting;
		}
	}
	bool waits = false;
	for (thread = 0; thread < threads; thread++) waits = waits || !current().done;
	return waits;
}

static void run_cluster(int count, const unsigned* first) {
	for (rank = 0; rank < count; rank++) {
		poison();
		for (thread = 0; thread < threads; thread++) {
			Fiber& f = current();
			f.done = f.waiting = false;
			void** top = (void**)((uintptr_t)(f.memory + STACK) & ~(uintptr_t)15);
			*--top = nullptr; // as if begin had been called
			*--top = (void*)begin;
			for (int k = 0; k < 6; k++) *--top = nullptr;
			f.stack = top;
		}
	}
	for (bool left = true; left;) {
		left = false;
		for (int i = 0; i < count; i++) {
			rank = backwards ? count - 1 - i : i;
			block[0] = first[0] + rank, block[1] = first[1], block[2] = first[2];
			left = run_block() || left;
		}
		size_t live = 0;
		for (int i = 0; i < count * threads; i++) live += !fibers[i].done, fibers[i].waiting = false;
		if (arrived == live) arrived = 0, passed++;
	}
	rank = 0;
}

static void launch(void (*run)(void**), unsigned x, unsigned y, unsigned z, unsigned n, unsigned together, void** args) {
	while (fibers.size() < n * together) fibers.push_back({nullptr, (char*)malloc(STACK), false, false});
	kernel = run, arguments = args, threads = n, blocks = x, cluster = together;
	for (unsigned c = 0; c < z; c++)
		for (unsigned b = 0; b < y; b++)
			for (unsigned a = 0; a < x; a += together) {
				unsigned first[3] = {backwards ? x - together - a : a, backwards ? y - 1 - b : b, backwards ? z - 1 - c : c};
				run_cluster(together, first);
			}
}
} // namespace emulated

#include "../kernels/all.cu"
#include "../kernels/tensor.cu"
#include "../kernels/fused.cu"
#include "../kernels/hopper.cu"
#include "../kernels/chain.cu"
#include "../kernels/crowd.cu"
#include "../kernels/quartet.cu"
#include "../kernels/sensed.cu"

void emulated::poison() { memset(dynamic(), 0xff, 227 << 10); } // of the block that begins

// The driver.
typedef int CUresult;
enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NOT_FOUND = 500, LOST = 719 };
typedef void (*Run)(void**);
static std::mutex one; // the emulated card runs one thing at a time

struct Node {
	int kind; // 0 launch, 1 copy, 2 set
	Run run;
	unsigned grid[3], threads, cluster;
	std::vector<char> args;
	void *to;
	const void* from;
	size_t size;
	int value;
};
struct Graph {
	std::vector<Node> nodes;
};
struct Stream {
	Graph* capture = nullptr;
};

static long setting(const char* name, long standard) {
	const char* e = getenv(name);
	return e ? atol(e) : standard;
}
static long launches_left = setting("UTVI_EMULATED_LOST", -1);
static bool lost() { return launches_left == 0; }

static void play(const Node& n) {
	if (lost()) return;
	if (n.kind == 0 && launches_left > 0 && --launches_left == 0) return;
	if (n.kind == 1) memcpy(n.to, n.from, n.size);
	else if (n.kind == 2) memset(n.to, n.value, n.size);
	else {
		void* args[1] = {(void*)n.args.data()};
		emulated::launch(n.run, n.grid[0], n.grid[1], n.grid[2], n.threads, n.cluster, args);
	}
}
static CUresult submit(void* stream, Node n) {
	Stream* s = (Stream*)stream;
	if (s && s->capture) {
		s->capture->nodes.push_back(n);
		return OK;
	}
	std::lock_guard<std::mutex> l(one);
	play(n);
	return lost() ? LOST : OK;
}

static size_t used;
static const size_t capacity = setting("UTVI_EMULATED_MEMORY", 2l << 30);
static std::map<void*, size_t> sizes;

extern "C" {
CUresult cuInit(unsigned) { return OK; }
CUresult cuDriverGetVersion(int* v) { *v = 12030; return OK; }
CUresult cuDeviceGetCount(int* n) { const char* e = getenv("UTVI_EMULATED_CARDS"); *n = e ? atoi(e) : 1; return OK; }
CUresult cuDeviceGet(int* d, int i) { *d = i; return OK; }
CUresult cuDeviceGetName(char* name, int len, int) { snprintf(name, len, "emulated card"); return OK; }
CUresult cuDeviceTotalMem_v2(size_t* n, int) { *n = capacity; return OK; }
CUresult cuDeviceGetAttribute(int* v, int which, int) {
	const char *old = getenv("UTVI_EMULATED_OLD"), *ampere = getenv("UTVI_EMULATED_AMPERE");
	*v = which == 75 ? old ? 7 : ampere ? 8 : 9 : which == 76 ? old ? 5 : 0 : which == 16 ? 4 : which == 97 ? 227 << 10 : 0; // capability, multiprocessors, shared memory
	return OK;
}
CUresult cuDevicePrimaryCtxRetain(void** c, int d) { *c = (void*)(intptr_t)(d + 1); return OK; }
CUresult cuDevicePrimaryCtxRelease_v2(int) { return OK; }
CUresult cuCtxSetCurrent(void*) { return lost() ? LOST : OK; }
CUresult cuMemGetInfo_v2(size_t* f, size_t* t) { *f = capacity - used, *t = capacity; return OK; }
// The logs of cuModuleLoadDataEx: a text without a target is an error, and the comment "// remark: " is one.
static void write_log(int place, const char* from, size_t n, unsigned count, int* options, void** values) {
	for (unsigned i = 0; i + 1 < count; i++)
		if (options[i] == place && options[i + 1] == place + 1 && n < (size_t)values[i + 1]) memcpy(values[i], from, n), ((char*)values[i])[n] = 0;
}
CUresult cuModuleLoadDataEx(void** m, const void* image, unsigned count, int* options, void** values) {
	const char* text = (const char*)image;
	if (!strstr(text, ".target")) {
		const char why[] = "\nptxas fatal: missing .target\nand more\n";
		write_log(5, why, strlen(why), count, options, values);
		return 218;
	}
	if (const char* r = strstr(text, "// remark: ")) write_log(3, r + 11, strcspn(r + 11, "\n"), count, options, values);
	*m = (void*)1;
	return OK;
}
CUresult cuModuleUnload(void*) { return OK; }
CUresult cuModuleGetFunction(void** f, void*, const char* name) {
	auto i = emulated::entries().find(name);
	if (i == emulated::entries().end()) return NOT_FOUND;
	*f = (void*)i->second;
	return OK;
}
CUresult cuMemAlloc_v2(void** p, size_t n) {
	std::lock_guard<std::mutex> l(one);
	if (lost()) return LOST;
	if (used + n > capacity) return NO_MEMORY;
	*p = malloc(n);
	memset(*p, 0xff, n); // what nobody wrote is not a number
	sizes[*p] = n, used += n;
	return OK;
}
CUresult cuMemFree_v2(void* p) {
	std::lock_guard<std::mutex> l(one);
	used -= sizes[p];
	sizes.erase(p);
	free(p);
	return OK;
}
CUresult cuMemAllocHost_v2(void** p, size_t n) { *p = malloc(n); return OK; }
CUresult cuMemFreeHost(void* p) { free(p); return OK; }
CUresult cuMemcpyHtoDAsync_v2(void* to, const void* from, size_t n, void* s) { return submit(s, {1, nullptr, {}, 0, 1, {}, to, from, n, 0}); }
CUresult cuMemcpyDtoHAsync_v2(void* to, const void* from, size_t n, void* s) { return submit(s, {1, nullptr, {}, 0, 1, {}, to, from, n, 0}); }
CUresult cuMemcpyDtoDAsync_v2(void* to, const void* from, size_t n, void* s) { return submit(s, {1, nullptr, {}, 0, 1, {}, to, from, n, 0}); }
CUresult cuMemsetD8Async(void* to, unsigned char v, size_t n, void* s) { return submit(s, {2, nullptr, {}, 0, 1, {}, to, nullptr, n, v}); }
CUresult cuStreamCreate(void** s, unsigned) { *s = new Stream; return OK; }
CUresult cuStreamDestroy_v2(void* s) { delete (Stream*)s; return OK; }
CUresult cuStreamSynchronize(void*) { return lost() ? LOST : OK; }
CUresult cuEventCreate(void** e, unsigned) { *e = new double; return OK; }
CUresult cuEventDestroy_v2(void* e) { delete (double*)e; return OK; }
CUresult cuEventRecord(void* e, void*) { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); *(double*)e = t.tv_sec * 1e3 + t.tv_nsec / 1e6; return OK; }
CUresult cuEventSynchronize(void*) { return OK; }
CUresult cuEventElapsedTime(float* ms, void* a, void* b) { *ms = *(double*)b - *(double*)a; return OK; }
CUresult cuFuncSetAttribute(void*, int, int) { return OK; }
static CUresult queue(void* f, unsigned x, unsigned y, unsigned z, unsigned n, unsigned cluster, void* s, void** extra) {
	if (n > 1024 || x == 0 || y == 0 || z == 0 || cluster == 0 || cluster > 8 || x % cluster) return INVALID;
	// package cuda passes all arguments as one structure, with its size.
	void* data = nullptr;
	size_t size = 0;
	for (int i = 0; extra && extra[i]; i += 2) {
		if ((intptr_t)extra[i] == 1) data = extra[i + 1];
		if ((intptr_t)extra[i] == 2) size = *(size_t*)extra[i + 1];
	}
	if (!data) return INVALID;
	Node node{0, (Run)f, {x, y, z}, n, cluster, std::vector<char>((char*)data, (char*)data + size), nullptr, nullptr, 0, 0};
	return submit(s, node);
}
CUresult cuLaunchKernel(void* f, unsigned x, unsigned y, unsigned z, unsigned n, unsigned, unsigned, unsigned, void* s, void** args, void** extra) {
	return queue(f, x, y, z, n, 1, s, extra);
}
struct Attribute {
	unsigned id, pad, value[16];
};
struct Config {
	unsigned x, y, z, threads, y1, z1, shared;
	void* stream;
	Attribute* attributes;
	unsigned count;
};
CUresult cuLaunchKernelEx(const Config* c, void* f, void** args, void** extra) {
	unsigned cluster = 1;
	for (unsigned i = 0; i < c->count; i++)
		if (c->attributes[i].id == 4) cluster = c->attributes[i].value[0];
	return queue(f, c->x, c->y, c->z, c->threads, cluster, c->stream, extra);
}
// Blocks run one after the other here, so none can wait for another.
CUresult cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**) { return INVALID; }
CUresult cuStreamBeginCapture_v2(void* s, int) { ((Stream*)s)->capture = new Graph; return OK; }
CUresult cuStreamEndCapture(void* s, void** g) { *g = ((Stream*)s)->capture; ((Stream*)s)->capture = nullptr; return OK; }
CUresult cuGraphInstantiateWithFlags(void** e, void* g, uint64_t) { *e = new Graph(*(Graph*)g); return OK; }
CUresult cuGraphDestroy(void* g) { delete (Graph*)g; return OK; }
CUresult cuGraphExecDestroy(void* g) { delete (Graph*)g; return OK; }
CUresult cuGraphLaunch(void* g, void*) {
	std::lock_guard<std::mutex> l(one);
	for (const Node& n : ((Graph*)g)->nodes) play(n);
	return lost() ? LOST : OK;
}
CUresult cuGetErrorString(CUresult r, const char** s) {
	*s = r == NO_MEMORY ? "out of memory" : r == LOST ? "unspecified launch failure" : r == NOT_FOUND ? "named symbol not found" : "invalid argument";
	return OK;
}
}
