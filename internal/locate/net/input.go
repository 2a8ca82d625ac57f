// Package net corrects fitted emitters by a Bayesian network whose moments are propagated: what the
// residual around an emitter and the light of its neighbours say about its place and its error bars.
package net

import (
	"math"

	"utvi/internal/locate/fit"
)

// A row of the network's inputs: residuals, the neighbours' light, then numbers.
const (
	Side    = 9
	window  = Side * Side
	numbers = 2 * window // first of the numbers
	Inputs  = numbers + inNumbers
)

// The numbers behind the windows.
const (
	inX = iota
	inY
	inLight
	inBackground
	inRead
	inMisfit
	inWidth
	inNoise
	inUsual
	inOval
	inLopsided
	inJointX
	inJointY
	inCorrelation
	inRatioX
	inRatioY
	inSingle
	inNear
	inCertain
	inNumbers
)

// Numbers are brought to about unit size; those of inNear are read again.
const (
	nearMiddle = 2.5
	nearSpread = 2
)

// Farthest bounds the numbers.
const Farthest = 6

// Fill writes the inputs of an emitter that f has just found.
func Fill(f *fit.Fitter, e *fit.Found, row []float32) {
	read := f.Read(e)
	f.Window(e, Side, row[:window], row[window:numbers])
	for i, r := range row[:window] {
		row[i] = float32(math.Asinh(float64(r)/(2*f.Noise))) / 1.2
	}
	for i, o := range row[window:numbers] {
		row[window+i] = float32(math.Asinh(20*float64(o))) - 0.5
	}
	x := row[numbers:]
	set := func(i int, v, middle, spread float64) {
		v = (v - middle) / spread
		x[i] = float32(min(max(v, -Farthest), Farthest)) // NaN becomes NaN, and its prediction is refused
	}
	variance := max(e.Background, 0) + read
	sx, sy := math.Sqrt(e.XX), math.Sqrt(e.YY)
	set(inX, e.X-math.Floor(e.X)-0.5, 0, 0.3)
	set(inY, e.Y-math.Floor(e.Y)-0.5, 0, 0.3)
	set(inLight, math.Log(e.N), 7, 1)
	set(inBackground, math.Log(variance+0.1), 4, 2)
	set(inRead, read/(variance+0.1), 0.4, 0.3)
	set(inMisfit, math.Log(max(e.Misfit, 1e-3)/(f.Noise*f.Noise)), 0, 0.25)
	set(inWidth, f.Sigma, 1.15, 0.2)
	set(inNoise, math.Log(f.Noise), 0.05, 0.2)
	set(inUsual, math.Log(f.Misfit), 0, 0.1)
	set(inOval, math.Log(f.Oval), 0.1, 0.3)
	set(inLopsided, math.Log(f.Lopsided), 0.1, 0.3)
	set(inJointX, math.Log(sx), -2.3, 0.8)
	set(inJointY, math.Log(sy), -2.3, 0.8)
	set(inCorrelation, e.XY/(sx*sy), 0, 0.3)
	set(inRatioX, math.Log(sx/e.Single), 0.3, 0.4)
	set(inRatioY, math.Log(sy/e.Single), 0.3, 0.4)
	set(inSingle, math.Log(e.Single), -2.6, 0.7)
	set(inNear, float64(e.Near), nearMiddle, nearSpread)
	set(inCertain, math.Log(e.LogN)/2, -2, 0.7)
}

// Symmetries is how many ways there are to look at a square: flipped along x (1), along y (2), and
// with x and y exchanged (4).
const Symmetries = 8

// Turn writes row as one of the symmetries shows it.
func Turn(row, out []float32, symmetry int) {
	for k := range 2 {
		from, to := row[k*window:][:window], out[k*window:][:window]
		for i := range Side {
			for j := range Side {
				a, b := turned(i, j, symmetry)
				to[a*Side+b] = from[i*Side+j]
			}
		}
	}
	x := out[numbers:Inputs]
	copy(x, row[numbers:])
	TurnPair(&x[inX], &x[inY], symmetry)
	flips := symmetry&1 ^ symmetry>>1&1
	if flips == 1 {
		x[inCorrelation] = -x[inCorrelation]
	}
	if symmetry&4 != 0 {
		x[inJointX], x[inJointY] = x[inJointY], x[inJointX]
		x[inRatioX], x[inRatioY] = x[inRatioY], x[inRatioX]
	}
}

func turned(i, j, symmetry int) (int, int) {
	if symmetry&1 != 0 {
		j = Side - 1 - j
	}
	if symmetry&2 != 0 {
		i = Side - 1 - i
	}
	if symmetry&4 != 0 {
		i, j = j, i
	}
	return i, j
}

// TurnPair turns a vector.
func TurnPair(x, y *float32, symmetry int) {
	if symmetry&1 != 0 {
		*x = -*x
	}
	if symmetry&2 != 0 {
		*y = -*y
	}
	if symmetry&4 != 0 {
		*x, *y = *y, *x
	}
}
