package nn

import (
	"fmt"

	"utvi/gauss"
)

// GroupNorm normalises the channels of an image in groups: over all places and the channels
// of a group together, as LayerNorm does over a whole row, with a learned gain and offset per
// channel. Rows stay apart.
type GroupNorm struct {
	Groups int     `json:"groups"`        // of as many channels each; 1: all channels together
	Eps    float64 `json:"eps,omitempty"` // 0 means 1e-5
}

// Kind is "groupnorm", as model files and the names of parameters have it.
func (GroupNorm) Kind() string { return "groupnorm" }

// Bind32 declares a gain and an offset for each channel.
func (l GroupNorm) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindGroupNorm(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l GroupNorm) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindGroupNorm(l, b) }

// InstanceNorm normalises each channel of an image over its places: a GroupNorm with a group
// for each channel.
type InstanceNorm struct {
	Eps float64 `json:"eps,omitempty"` // 0 means 1e-5
}

// Kind is "instancenorm", as model files and the names of parameters have it.
func (InstanceNorm) Kind() string { return "instancenorm" }

// Bind32 declares a gain and an offset for each channel.
func (l InstanceNorm) Bind32(b *Binder[float32]) (Unit[float32], error) {
	return bindGroupNorm(GroupNorm{Groups: b.In.C, Eps: l.Eps}, b)
}

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l InstanceNorm) Bind64(b *Binder[float64]) (Unit[float64], error) {
	return bindGroupNorm(GroupNorm{Groups: b.In.C, Eps: l.Eps}, b)
}

func bindGroupNorm[T gauss.Float](l GroupNorm, b *Binder[T]) (Unit[T], error) {
	eps, err := orEps(l.Eps)
	if err != nil {
		return nil, err
	}
	c := b.In.C
	if l.Groups < 1 || c%l.Groups != 0 {
		return nil, fmt.Errorf("%d groups of %d channels; the number of channels must be a multiple of the number of groups", l.Groups, c)
	}
	size := b.In.Size() / l.Groups
	if size < 2 {
		return nil, fmt.Errorf("a group of the input %v has one unit, which would become zero; a group needs at least 2", b.In)
	}
	u := newLayerNorm[T](b, groups{count: l.Groups, size: size, run: c / l.Groups, step: c}, eps)
	u.randomMean()
	err = u.declare(b, c, true)
	return u, err
}

// RMSNorm divides each row by the root of its mean square, and has a learned gain γ per
// unit. The mean square is replaced by its expectation:
//
//	τ² = avg (m² + v) + ε,   mean m/τ·γ,   variance v/τ²·γ²
//
// Gradients go through τ. Inside Correlated, the dependence of τ on the units is carried, too.
type RMSNorm struct {
	Eps float64 `json:"eps,omitempty"` // 0 means 1e-5
}

// Kind is "rmsnorm", as model files and the names of parameters have it.
func (RMSNorm) Kind() string { return "rmsnorm" }

// Bind32 declares a gain for each unit.
func (l RMSNorm) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindRMSNorm(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l RMSNorm) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindRMSNorm(l, b) }

func bindRMSNorm[T gauss.Float](l RMSNorm, b *Binder[T]) (Unit[T], error) {
	eps, err := orEps(l.Eps)
	if err != nil {
		return nil, err
	}
	n := b.In.Size()
	u := newLayerNorm[T](b, groups{count: 1, size: n, run: n}, eps)
	u.centred = false
	err = u.declare(b, n, false)
	return u, err
}
