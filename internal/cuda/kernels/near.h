// Pointers into shared memory and into global memory that the compiler knows to be such:
// a load through any other pointer takes several instructions.
#pragma once
#include "mma.h"

struct alignas(16) Four32 {
	float x[4];
};
struct alignas(8) Two32 {
	float x[2];
};
#ifndef EMULATED
typedef __attribute__((address_space(3))) float* Near; // into shared memory
typedef __attribute__((address_space(1))) const float* Far; // into global memory
typedef __attribute__((address_space(1))) float* Out; // likewise, to be written
typedef float Vector __attribute__((ext_vector_type(4)));
DEVICE Four32 four(Vector v) { return {v[0], v[1], v[2], v[3]}; }
DEVICE Four32 load4(Near p) { return four(*(__attribute__((address_space(3))) const Vector*)p); }
DEVICE Four32 load4(Far p) { return four(*(__attribute__((address_space(1))) const Vector*)p); }
DEVICE void store4(Near p, const float* x) { *(__attribute__((address_space(3))) Vector*)p = Vector{x[0], x[1], x[2], x[3]}; }
DEVICE void store4(Out p, const float* x) { *(__attribute__((address_space(1))) Vector*)p = Vector{x[0], x[1], x[2], x[3]}; }
// fresh4 reads past the cache of the multiprocessor, which may hold what was there before.
DEVICE Four32 fresh4(Far p) {
	Four32 f;
	asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(f.x[0]), "=f"(f.x[1]), "=f"(f.x[2]), "=f"(f.x[3]) : "l"(p));
	return f;
}
typedef float Pair __attribute__((ext_vector_type(2)));
DEVICE Two32 load2(Near p) {
	Pair v = *(__attribute__((address_space(3))) const Pair*)p;
	return {v[0], v[1]};
}
DEVICE Two32 load2(Far p) {
	Pair v = *(__attribute__((address_space(1))) const Pair*)p;
	return {v[0], v[1]};
}
DEVICE void store2(Out p, float x, float y) { *(__attribute__((address_space(1))) Pair*)p = Pair{x, y}; }
DEVICE void store2(Near p, float x, float y) { *(__attribute__((address_space(3))) Pair*)p = Pair{x, y}; }
DEVICE void store16(char* p, uint32 a, uint32 b, uint32 c, uint32 d) { asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(a), "r"(b), "r"(c), "r"(d) : "memory"); }
#else
typedef float *Near, *Out;
struct Far {
	const float* p;
	explicit Far(const float* p) : p(p) {}
	Far operator+(int n) const { return Far(p + n); }
	float operator[](long long i) const { return p[i]; }
};
DEVICE Four32 load4(Near p) { return *(const Four32*)p; }
DEVICE void store4(Near p, const float* x) { *(Four32*)p = {x[0], x[1], x[2], x[3]}; }
DEVICE Four32 load4(Far p) { return *(const Four32*)p.p; }
DEVICE Four32 fresh4(Far p) { return load4(p); }
DEVICE Two32 load2(Near p) { return *(const Two32*)p; }
DEVICE Two32 load2(Far p) { return *(const Two32*)p.p; }
DEVICE void store2(Out p, float x, float y) { *(Two32*)p = {x, y}; }
DEVICE void store16(char* p, uint32 a, uint32 b, uint32 c, uint32 d) { ((uint32*)p)[0] = a, ((uint32*)p)[1] = b, ((uint32*)p)[2] = c, ((uint32*)p)[3] = d; }
#endif
#ifndef EMULATED
DEVICE uint32 place_near(Near p) { return (uint32)(uint64)p; } // in bytes
DEVICE Near near_at(uint32 place) { return (Near)(uint64)place; }
#else
DEVICE uint32 place_near(Near p) { return (uint32)((p - dynamic()) * 4); }
DEVICE Near near_at(uint32 place) { return dynamic() + (place & 0x3ffff) / 4; }
#endif
// near returns a pointer that points into shared memory.
DEVICE Near near(const float* p) { return (Near)(float*)p; }
// out returns a pointer that points into global memory.
DEVICE Out out(float* p) { return (Out)p; }
