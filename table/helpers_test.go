package table

import (
	"strings"
	"testing"
)

func load(t *testing.T, text string) *Frame {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "a.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Load(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("%s: got\n%v, want\n%s", what, err, want)
	}
}
