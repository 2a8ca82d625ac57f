package nntest

import (
	"maps"
	"reflect"
	"testing"

	"utvi/internal/codec"
	"utvi/nn"
)

// stored writes the layer as a model file holds it, and reads it back. Layers of package nn have tests of
// their own for this.
func stored(t testing.TB, l nn.Layer, lib codec.Library) {
	t.Helper()
	if reflect.TypeOf(l).PkgPath() == reflect.TypeFor[nn.Dense]().PkgPath() {
		return
	}
	text, err := codec.Marshal(l)
	if err != nil {
		t.Errorf("the layer cannot be stored: %v", err)
		return
	}
	lib.Layers = maps.Clone(lib.Layers)
	var add func(l nn.Layer)
	add = func(l nn.Layer) {
		lib.AddLayer(l) // does nothing if the kind is built in, or there already
		if c, ok := l.(nn.Composite); ok {
			for _, child := range c.Children() {
				add(child)
			}
		}
	}
	add(l)
	again, err := codec.Unmarshal(text, lib)
	if err != nil {
		t.Errorf("the layer was stored as %s, which cannot be read: %v", text, err)
		return
	}
	if c, ok := again.(nn.Composite); ok { // children may come back with their defaults written out
		again = c.WithChildren(l.(nn.Composite).Children())
	}
	if !reflect.DeepEqual(again, l) {
		t.Errorf("%#v was stored as %s and came back as %#v; options must be exported fields that JSON can hold", l, text, again)
	}
}
