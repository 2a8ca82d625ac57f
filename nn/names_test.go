package nn_test

import (
	"testing"

	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/vi"
)

// doubled binds the same layer twice, under names that may be the same.
type doubled struct{ first, second string }

func (doubled) Kind() string { return "doubled" }
func (l doubled) Bind32(b *nn.Binder[float32]) (nn.Unit[float32], error) {
	if _, err := nn.BindChild(nn.Dense{Out: 2}, b, l.first); err != nil {
		return nil, err
	}
	return nn.BindChild(nn.Dense{Out: 2}, b, l.second)
}
func (doubled) Bind64(*nn.Binder[float64]) (nn.Unit[float64], error) { panic("not used") }

// Parameters of one name are refused when a network is made, not when it is saved.
func TestNamesTwice(t *testing.T) {
	nntest.Refuses(t, doubled{"a", "a"}, nn.Vec(3), `two parameters have the name "layer.a.weight"`)
	if _, err := (doubled{"a", "b"}).Bind32(&nn.Binder[float32]{Params: &vi.Params[float32]{}, In: nn.Vec(3)}); err != nil {
		t.Error(err)
	}
}
