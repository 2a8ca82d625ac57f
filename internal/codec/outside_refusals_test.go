package codec_test

import (
	"testing"

	"utvi/internal/codec"
	"utvi/nn"
)

// otherShift calls itself like shift and computes something else.
type otherShift struct{ shift }

// open is a composite whose children JSON sees, closed has no Children; pile holds a
// list.
type (
	open   struct{ A, B nn.Layer }
	closed struct {
		shift
		Inner nn.Layer
	}
	pile struct {
		shift
		Layers nn.Chain
	}
)

func (open) Kind() string                                             { return "open" }
func (l open) Children() []nn.Layer                                   { return []nn.Layer{l.A, l.B} }
func (l open) WithChildren(c []nn.Layer) nn.Layer                     { return open{c[0], c[1]} }
func (l open) Bind32(b *nn.Binder[float32]) (nn.Unit[float32], error) { return nn.Bind(l.A, b) }
func (l open) Bind64(b *nn.Binder[float64]) (nn.Unit[float64], error) { return nn.Bind(l.A, b) }

// A network that could not be loaded as it was is not saved.
func TestOutsideLayersThatAreNotSaved(t *testing.T) {
	_, err := codec.Marshal(nn.Chain{shift{By: 1}, nn.Residual{Branch: otherShift{}}})
	wants(t, err, `the network has layers of kind "shift" of two types, codec_test.shift and codec_test.otherShift: give one of them another kind`)
	if _, err := codec.Marshal(nn.Chain{shift{By: 1}, twice{Name: "a", First: shift{}, Later: shift{By: 3}}}); err != nil {
		t.Error(err)
	}
	for name, l := range map[string]nn.Layer{
		"A":      open{shift{}, nn.Dense{Out: 2}},
		"Inner":  closed{Inner: shift{}},
		"Layers": pile{Layers: nn.Chain{nn.Dense{Out: 2}}},
	} {
		_, err := codec.Marshal(l)
		wants(t, err, "its field "+name+" holds layers: tag it `json:\"-\"` and implement nn.Composite (Children, WithChildren)")
	}
	if _, err := codec.Marshal(closed{}); err != nil {
		t.Error(err)
	}
}
