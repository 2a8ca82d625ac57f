package table

import "testing"

// A comma in the header alone cuts nothing into fields, whatever the texts below are.
func TestCommaInHeader(t *testing.T) {
	const text = "last, first;kind\nbob;red\nann;blue\neve;red\ntom;blue\n"
	if got := sniffDelimiter([]byte(text), ".csv"); got != ';' {
		t.Errorf("the delimiter is %q, want a semicolon", got)
	}
}

// A table needs a column.
func TestBuilderWithoutColumns(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a builder without columns was made")
		}
	}()
	NewBuilder(&Header{})
}
