// Package kernels holds the CUDA kernels as PTX. Their source lies beside them in
// CUDA C++; clang compiles it, without NVIDIA's toolkit (go generate). The PTX begins
// with a hash of its source, and a test turns red when the two do not match.
//
// A program that cannot call a driver (another system than Linux, or the tag nocuda) embeds
// no PTX: its texts have no kernels.
package kernels

//go:generate go run ./generate

// Base are the kernels for compute capability 7.5 and later.
var Base = newText(base)

// Formula is the kernel of formulas without the functions that compute one; package gpu
// appends them.
var Formula = formula

// Tensor are products on tensor cores, for compute capability 8.0 and later.
var Tensor = newText(tensor)

// Fused are the kernels of small networks, for compute capability 8.0 and later.
var Fused = newText(fused)

// DenseNet are the kernels of small networks of dense layers, for compute capability 9.0 and
// later. In their source they are called chains.
var DenseNet = newText(chain)

// ManyDense are the kernels of such networks that train beside many others, for compute
// capability 9.0 only. In their source they are called crowds.
var ManyDense = newText(crowd)

// ConvNet are the kernels of small convolutional networks, whose broad layer four blocks share,
// for compute capability 9.0 and later. In their source they are called quartets.
var ConvNet = newText(quartet)

// Hopper are products on tensor cores of compute capability 9.0, which no other card runs.
var Hopper = newText(hopper)

// Sensed is the kernel of predictions by plain networks with correlations.
var Sensed = newText(sensed)
