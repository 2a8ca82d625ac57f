// The gradients of the weights of a chain beside many others. A block sums up 64 × 64 weights of the
// broad layer over a part of the rows, 32 columns at a time; two blocks fit into a
// multiprocessor, and one loads while the other multiplies. Inputs are the left operand, which the threads split;
// gradients by the outputs are split once, when they are turned into planes. The sums have the
// order that they have in chain_gradients.
#pragma once
#include "chain_gradients.h"
#include "hopper32.h"

constexpr int BESIDE = 64, LONG = 72, AT_ONCE = 64; // side of a block's weights; distance of rows of inputs; rows in planes
constexpr int TURNED = AT_ONCE / 8 * EIGHT; // numbers of a plane: 32 columns and AT_ONCE rows
enum { BY_MEAN = 0, BY_MEAN_LEFT = TURNED, BY_VAR = 2 * TURNED, BY_VAR_LEFT = 3 * TURNED };

// A Turned is what a thread copies of 32 columns of both gradients: four times four rows.
struct Turned {
	float x[4][4];
};
DEVICE Turned read_turned(const Slope& l, int col, int k0, int k1) {
	Turned o;
	int lane = thread() % 32, warp = thread() / 32, width = l.out;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		int r = k0 + 4 * (warp + i % 2 * 8);
		const float* from = (i < 2 ? l.g : l.h) + ((long long)r * width + col + lane);
#pragma unroll
		for (int j = 0; j < 4; j++, from += width) o.x[i][j] = r + j < k1 ? *from : 0.0f;
	}
	return o;
}
DEVICE void write_turned(Near planes, const Turned& o) {
	int lane = thread() % 32, warp = thread() / 32;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		int four = warp + i % 2 * 8;
		Near to = planes + (i < 2 ? BY_MEAN : BY_VAR) + four / 2 * EIGHT + four % 2 * HALF + lane * 4;
		float left[4];
#pragma unroll
		for (int j = 0; j < 4; j++) left[j] = left_of(o.x[i][j]);
		store4(to, o.x[i]), store4(to + TURNED, left);
	}
}

// crowd_tile sums up the weights from input BESIDE·y and to column BESIDE·x on. Two groups of four
// warps take every other eight rows each; then each finishes half of the columns. Tiles at the
// top sum up the biases, too.
DEVICE void crowd_tile(const ChainGradients& c, const Slope& l, bool finite, int x, int y, int part) {
	Near M = near(dynamic()), V = M + DEEP * LONG, planes = V + DEEP * LONG, biases = planes + 4 * TURNED;
	int lane = thread() % 32, g = lane >> 2, q = lane & 3, warp = thread() / 32, half = warp >> 2;
	int k0 = part * c.split, k1 = less(c.rows, k0 + c.split), in = l.in, width = l.out, end = less(width, x * BESIDE + BESIDE);
	int first = y * BESIDE + warp % 4 * 16, row = less(first, in - 16) + g;
#pragma unroll
	for (int i = 0; i < 2; i++) { // AT_ONCE rows each
#pragma unroll
		for (int j = 0; j < 4; j++) {
			int r = AT_ONCE * i + 16 * j + thread() / 16, col = thread() % 16 * 4, from = y * BESIDE + col;
			bool there = k0 + r < k1 && from < in;
			long long at = (long long)(k0 + r) * in + from;
			copy16(dynamic() + r * LONG + col, there ? l.m + at : l.m, there);
			copy16(dynamic() + (DEEP + r) * LONG + col, there ? l.v + at : l.m, there);
		}
		copies_end();
	}
	Turned turned = read_turned(l, x * BESIDE, k0, k1);
	CHAIN_STAMP(1, 4);
#pragma unroll 1
	for (int col = x * BESIDE; col < end; col += 32) {
		float t[3][16];
#pragma unroll
		for (int i = 0; i < 48; i++) t[i / 16][i % 16] = 0;
		Near m = M + (8 * half + q) * LONG + row - y * BESIDE, v = V + (8 * half + q) * LONG + row - y * BESIDE;
#pragma unroll 1
		for (int k = 0; k < c.split; k += AT_ONCE) {
			write_turned(planes, turned);
			begun();
			if (k == 0) copies_wait<1>();
			else copies_wait<0>();
			barrier();
			CHAIN_STAMP(1, 5 + k / AT_ONCE * 2);
			bool more = k + AT_ONCE < c.split;
			if (more || col + 32 < end) turned = read_turned(l, more ? col : col + 32, more ? k0 + k + AT_ONCE : k0, k1); // on their way while this one is multiplied
			uint32 mean = describe(planes, BY_MEAN + half * EIGHT), var = describe(planes, BY_VAR + half * EIGHT);
#pragma unroll 1
			for (int i = 0; i < less(AT_ONCE, c.split - k); i += 16) {
				float a[2][4];
#pragma unroll
				for (int e = 0; e < 4; e++) a[0][e] = m[e / 2 * 4 * LONG + e % 2 * 8], a[1][e] = v[e / 2 * 4 * LONG + e % 2 * 8];
#pragma unroll
				for (int s = 0; s < 3; s++) {
					uint32 ah[4], al[4], b = s > 0 ? var : mean;
#pragma unroll
					for (int e = 0; e < 4; e++) split(s == 0 ? a[0][e] : s == 1 ? a[0][e] * a[0][e] : a[1][e], &ah[e], &al[e]);
					float d[16];
					wgmma_begin();
					wgmma32_first(d, al, b), wgmma32(d, ah, b + TURNED / 4), wgmma32(d, ah, b);
					wgmma_end();
					wgmma32_wait(d);
#pragma unroll
					for (int e = 0; e < 16; e++) t[s][e] += d[e];
				}
				m += 16 * LONG, v += 16 * LONG, mean += 2 * EIGHT / 4, var += 2 * EIGHT / 4;
			}
			CHAIN_STAMP(1, 6 + k / AT_ONCE * 2);
			if (y == 0 && thread() < CG / 2) { // a thread has a column of one of the two, and a quarter of DEEP rows
				Near from = planes + (warp % 2 ? BY_VAR : BY_MEAN) + thread() / 64 * 4 * EIGHT + lane * 4;
				float by = 0;
#pragma unroll
				for (int i = 0; i < 8; i++) {
					Four32 f = load4(from + i / 2 * EIGHT + i % 2 * HALF);
					by += f.x[0], by += f.x[1], by += f.x[2], by += f.x[3];
				}
				biases[k / AT_ONCE * (CG / 2) + thread()] = by;
			}
			barrier(); // the planes are needed no more
		}
		Near scratch = planes + warp % 4 * 32 + lane, own = scratch + half * 24 * 128, other = scratch + (half ^ 1) * 24 * 128;
		uint32 upper = 0u - half;
#pragma unroll
		for (int i = 0; i < 24; i++) own[i * 128] = either(t[i / 8][8 + i % 8], t[i / 8][i % 8], upper);
		float* grad = c.grad + part * c.size;
		int j = col + 16 * half + 2 * q;
		const float* w = l.w + ((long long)row * width + j);
		barrier();
		CHAIN_STAMP(1, 10);
		float all[3][8];
#pragma unroll
		for (int i = 0; i < 24; i++) all[i / 8][i % 8] = either(t[i / 8][i % 8], t[i / 8][8 + i % 8], upper) + other[i * 128];
		if (finite && first < in) {
			auto to_mean = out(grad + l.mean + ((long long)row * width + j)), to_rho = out(grad + l.rho + ((long long)row * width + j));
#pragma unroll
			for (int e = 0; e < 8; e++) {
				int at = e / 2 % 2 * 8 * width + e / 4 * 8 + e % 2;
				to_mean[at] = fma(2 * w[at], all[2][e], all[0][e]), to_rho[at] = all[1][e] + all[2][e];
			}
		}
		if (finite && y == 0 && thread() < 64) {
			float s = biases[thread()];
			for (int i = 1; i < CG / 64; i++) s += 32 * i < c.split ? biases[i * 64 + thread()] : 0.0f;
			grad[(thread() / 32 ? l.bias_rho : l.bias) + col + lane] = s;
		}
		CHAIN_STAMP(1, 9);
		barrier(); // nor are the sums
	}
}

KERNEL_CHAIN(crowd_gradients, ChainGradients, CG, 2) {
	int b = block(), i = 0;
	while (i + 1 < c.count && b >= c.links[i + 1].block) i++;
	const Slope& l = c.links[i];
	follow();
	int number = divide(b - l.block, c.by_parts), part = b - l.block - number * c.parts, across = (l.out + BESIDE - 1) / BESIDE;
	CHAIN_STAMP(1, 2);
	crowd_tile(c, l, c.turn->finite, number % across, number / across, part);
	CHAIN_STAMP(1, 15);
}

// crowd_thin sums up the gradients of thin layers, and what is no weight of a link. A block
// takes all parts: to start takes it longer than to sum up one.
KERNEL_CHAIN(crowd_thin, ChainGradients, CG, 2) {
	int b = block(), i = 0;
	while (i + 1 < c.count && b >= c.links[i + 1].block) i++;
	follow();
	bool finite = c.turn->finite;
	if (b >= c.rest) {
		beside_links(c, b, finite);
		return;
	}
	for (int part = 0; part < c.parts; part++) {
		elements(c, c.links[i], finite, b - c.links[i].block, part);
		barrier(); // the shares are needed no more
	}
}
