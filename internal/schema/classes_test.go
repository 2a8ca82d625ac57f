package schema

import (
	"fmt"
	"strings"
	"testing"
)

// Numbers and classes cannot be predicted together; the error says which target holds which.
func TestNumbersAndClasses(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y,z,u\n")
	for i := range 100 {
		fmt.Fprintf(&b, "%d,%d.5,%c,%d.25\n", i*i%17, i, 'p'+rune(i%2), i)
	}
	rows := load(t, b.String())
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Targets: []string{"y", "z"}}, "a.csv: several targets must all be numbers; y holds numbers, z names"},
		{Spec{Targets: []string{"z", "u", "y"}}, "a.csv: several targets must all be numbers; y, u hold numbers, z names"},
		{Spec{Targets: []string{"y", "z"}, Task: Classification}, "a.csv: a classification has one target, not 2"},
	} {
		_, err := Infer(rows.Rows(nil), c.spec)
		wantError(t, fmt.Sprint(c.spec.Targets), err, c.want)
	}
}
