// Package kernels holds the CUDA kernels as PTX. Their source lies beside them in
// CUDA C++; clang compiles it, without NVIDIA's toolkit (go generate). The PTX begins
// with a hash of its source, and a test turns red when the two do not match.
package kernels

import _ "embed"

//go:generate go run ./generate

// Base are the kernels for compute capability 7.5 and later.
var Base = newText(base)

//go:embed base.ptx
var base []byte

// Formula is the kernel of formulas without the functions that compute one; package gpu
// appends them.
//
//go:embed formula.ptx
var Formula []byte

// Tensor are products on tensor cores, for compute capability 8.0 and later.
var Tensor = newText(tensor)

//go:embed tensor.ptx
var tensor []byte

// Fused are the kernels of small networks, for compute capability 8.0 and later.
var Fused = newText(fused)

//go:embed fused.ptx
var fused []byte

// Chain are the kernels of plain small networks, for compute capability 9.0 and later.
var Chain = newText(chain)

//go:embed chain.ptx
var chain []byte

// Crowd are the kernels of plain small networks that run beside many others, for compute
// capability 9.0 only.
var Crowd = newText(crowd)

//go:embed crowd.ptx
var crowd []byte

// Quartet are the kernels of networks whose broad layer four blocks share, with those of small
// networks that follow them, for compute capability 9.0 and later.
var Quartet = newText(quartet)

//go:embed quartet.ptx
var quartet []byte

// Hopper are products on tensor cores of compute capability 9.0, which no other card runs.
var Hopper = newText(hopper)

//go:embed hopper.ptx
var hopper []byte

// Sensed is the kernel of predictions by plain networks with correlations.
var Sensed = newText(sensed)

//go:embed sensed.ptx
var sensed []byte
