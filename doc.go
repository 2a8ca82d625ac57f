// Package utvi is the root of a library for Bayesian neural networks by moment
// propagation. It holds no code: start at [utvi/model], [utvi/train] and
// [utvi/moment], or with the example of this package.
package utvi
