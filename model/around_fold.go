package model

import (
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/nn"
)

// fold makes normalisations by fixed statistics part of the layers beside them: of a layer of
// weights before, else of one behind.
func (p *piece[T]) fold() {
	for _, q := range p.inside {
		q.fold()
	}
	if _, ok := p.layer.(nn.Chain); !ok {
		return
	}
	for i := 0; i < len(p.inside); {
		if p.foldAt(i) && len(p.inside) > 1 {
			p.inside = slices.Delete(p.inside, i, i+1)
			continue
		}
		i++
	}
}

// foldAt makes layer i of a chain part of a neighbour. It returns false, and changes nothing, if
// it is no normalisation or has no such neighbour.
func (p *piece[T]) foldAt(i int) bool {
	norm, ok := p.inside[i].layer.(nn.BatchNorm)
	if !ok {
		return false
	}
	var learned [][]float64
	for _, x := range p.inside[i].numbers {
		learned = append(learned, compute.Widened(x))
	}
	slope, constant := norm.Affine(learned...)
	if i > 0 && p.inside[i-1].foldBehind(slope, constant) {
		return true
	}
	behind := i + 1
	for behind < len(p.inside) && isFlatten(p.inside[behind].layer) {
		behind++
	}
	return behind < len(p.inside) && p.inside[behind].foldBefore(slope, constant)
}

func isFlatten(l nn.Layer) bool {
	_, ok := l.(nn.Flatten)
	return ok
}

// foldBehind makes slope·y + constant, one for each output or channel, part of the layer that
// yields y. It returns false if the layer has no such weights, or if it would get outputs of
// sizes that no common prior suits, as those in different units are.
func (p *piece[T]) foldBehind(slope, constant []float64) bool {
	if !outputsLast(p.layer) || uneven(p.numbers[0], slope) > max(mostUneven, uneven(p.numbers[0], ones(len(slope)))) {
		return false
	}
	p.bias(len(slope))
	n := len(slope)
	weights, bias := p.numbers[0], p.numbers[1]
	for i, w := range weights {
		weights[i] = T(float64(w) * slope[i%n])
	}
	for i, b := range bias {
		bias[i] = T(float64(b)*slope[i] + constant[i])
	}
	return true
}

// mostUneven is how uneven the outputs of a layer may become.
const mostUneven = 10

// uneven is the size of weights times slopes, one an output, beside the geometric mean of the
// sizes of each output's.
func uneven[T gauss.Float](weights []T, slope []float64) float64 {
	n := len(slope)
	sizes := make([]float64, n)
	for i, w := range weights {
		x := float64(w) * slope[i%n]
		sizes[i%n] += x * x * float64(n) / float64(len(weights))
	}
	var sum, logs float64
	counted := 0
	for _, s := range sizes {
		if s > 0 {
			sum += s
			logs += math.Log(s)
			counted++
		}
	}
	if counted == 0 {
		return 1
	}
	c := float64(counted)
	return math.Sqrt(sum / c / math.Exp(logs/c))
}

func ones(n int) []float64 {
	return slices.Repeat([]float64{1}, n)
}

// outputsLast reports a layer whose weights count fastest by the outputs.
func outputsLast(l nn.Layer) bool {
	switch l.(type) {
	case nn.Dense, nn.Conv2D, nn.Conv1D:
		return true
	}
	return false
}

// bias gives a layer of weights a bias, if it has none.
func (p *piece[T]) bias(outputs int) {
	if len(p.numbers) > 1 {
		return
	}
	switch l := p.layer.(type) {
	case nn.Dense:
		l.NoBias = false
		p.layer = l
	case nn.Conv2D:
		l.NoBias = false
		p.layer = l
	case nn.Conv1D:
		l.NoBias = false
		p.layer = l
	}
	p.numbers = append(p.numbers, make([]T, outputs))
}

// foldBefore makes slope·x + constant, one for each channel of the input, part of a dense layer
// that reads x. A convolution may read zeros beyond the image, which no constant belongs to.
func (p *piece[T]) foldBefore(slope, constant []float64) bool {
	l, ok := p.layer.(nn.Dense)
	if !ok {
		return false
	}
	p.bias(l.Out)
	weights, bias := p.numbers[0], p.numbers[1]
	sum := make([]float64, l.Out)
	for i, w := range weights {
		channel := i / l.Out % len(slope)
		weights[i] = T(float64(w) * slope[channel])
		sum[i%l.Out] += float64(w) * constant[channel]
	}
	for i, s := range sum {
		bias[i] += T(s)
	}
	return true
}
