// The sums of products of a few rows with a matrix.
#pragma once
#include "gpu.h"

constexpr int THREADS = 512, PER = 8; // of a block: threads, and the most rows
constexpr int SHALLOW = 16; // most inputs, or outputs, of a thin layer

// A Sums holds the sums of one element: FORWARD has Σ m·w and Σ m²·s + v·(w²+s), the
// reverse Σ g·w, Σ h·s and Σ h·(w²+s).
struct Sums {
	float a, b, c;
};
// With correlations, c is Σ (m²+v)·s going forward.
enum { THROUGH, BACK, APART };
template <int WAY>
DEVICE void add(Sums& t, float x, float y, float w, float s, float w2) {
	t.a = fma(x, w, t.a);
	if (WAY == APART) t.c = fma(fma(x, x, y), s, t.c);
	if (WAY != BACK) {
		t.b = fma(x * x, s, t.b);
		t.b = fma(y, w2, t.b);
	} else {
		t.b = fma(y, s, t.b);
		t.c = fma(y, w2, t.c);
	}
}
