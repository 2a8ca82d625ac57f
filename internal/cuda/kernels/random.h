// The streams of package rng, bit for bit: every operation is rounded by itself.
#pragma once
#include "gpu.h"

struct Key {
	uint32 a, b;
};
struct Four {
	float a, b, c, d;
};

DEVICE void philox(Key k, uint32* c) {
	for (int r = 0; r < 10; r++) {
		uint32 h0 = high(0xD2511F53u, c[0]), l0 = 0xD2511F53u * c[0];
		uint32 h1 = high(0xCD9E8D57u, c[2]), l1 = 0xCD9E8D57u * c[2];
		c[0] = h1 ^ c[1] ^ k.a, c[1] = l1, c[2] = h0 ^ c[3] ^ k.b, c[3] = l0;
		k.a += 0x9E3779B9u, k.b += 0xBB67AE85u;
	}
}

DEVICE Key sub_key(Key k, uint64 step, uint32 layer) {
	uint32 c[4] = {(uint32)step, (uint32)(step >> 32), layer, 0x6b657973u};
	philox(k, c);
	return {c[0], c[1]};
}

DEVICE float radius(uint32 w) {
	float x = (float)(int)(w >> 1) + 0.5f;
	int i = (int)bits(x) - (int)(0x3f3504f3u + (31u << 23));
	float e = (float)(i >> 23), f = from_bits((uint32)(i & 0x7fffff) + 0x3f3504f3u) - 1;
	float g = f * f;
	float a = 0.9999996851134522f + -0.6666780629451594f * f, b = 0.500050590820681f + -0.3992893356766597f * f;
	float c = 0.3310563940615126f + -0.29749903447874526f * f, d = 0.28839304438332924f + -0.17992173722662144f * f;
	float ab = a + b * g, cd = c + d * g, q = ab + (g * g) * cd;
	float l = g * q - (f + f);
	l += e * -1.3862943611198906f;
	return root(l);
}

DEVICE void direction(uint32 t, float* cosine, float* sine) {
	float x = (float)(int)(t << 2) * 3.6572953e-10f;
	float z = x * x;
	float s = 0.00833217814636727f + z * -0.00019517299007265108f;
	s = -0.16666654943704504f + z * s;
	s = x + (x * z) * s;
	float c = 0.04165629457830389f + z * -0.0013597823107792753f;
	c = -0.4999989478136719f + z * c;
	c = 1 + z * c;
	c = from_bits(bits(c) ^ (t & 0x80000000u));
	bool turn = t & 0x40000000u;
	*cosine = turn ? s : c, *sine = turn ? c : s;
}

// normals are samples 4·quad … 4·quad+3 of a unit.
DEVICE Four normals(Key k, uint64 row, uint32 unit, uint32 quad) {
	uint32 c[4] = {unit, quad, (uint32)row, (uint32)(row >> 32) & 0x3fffffffu};
	philox(k, c);
	float x, y, z, w, r = radius(c[0]), t = radius(c[2]);
	direction(c[1], &x, &y);
	direction(c[3], &z, &w);
	return {r * x, r * y, t * z, t * w};
}
