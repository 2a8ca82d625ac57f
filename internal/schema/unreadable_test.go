package schema

import (
	"errors"
	"slices"
	"testing"
)

// Images that cannot be read are named, a few of them and in one order whoever read them first, and
// the others are counted.
func TestUnreadableImages(t *testing.T) {
	e := &Encoder{remarks: &remarks{}}
	if got := e.remarks.images(); got != nil {
		t.Errorf("no image was unreadable, but %q", got)
	}
	for _, text := range []string{"c.png: damaged", "a.png: empty", "b.png: not found"} {
		e.remarkUnreadable(errors.New(text))
	}
	want := []string{"a.png: empty", "b.png: not found", "c.png: damaged"}
	if got := e.remarks.images(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	e.remarkUnreadable(errors.New("d.png: damaged"))
	e.remarkUnreadable(errors.New("e.png: damaged"))
	want = append(want, "2 more images cannot be read")
	if got := e.remarks.images(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
