package table

import "testing"

func TestClassify(t *testing.T) {
	for s, want := range map[string]Kind{"": Missing, "NA": marked, "n/A": marked, "NaN": marked, "nan": marked, "NULL": marked, "None": marked, "?": marked,
		"1": Number, "inf": Number, "-Infinity": Number, "1e999": Number, "+inf": Number,
		"nab": Text, "N": Text, "-": Text, "infinit": Text, "0x1p3": Text, "1_0": Text, "1 2": Text, "--": Text, "+nan": Text} {
		if k, _ := unbox(classify([]byte(s), '.', 7)); k != want {
			t.Errorf("%q is %d, want %d", s, k, want)
		}
	}
	if _, ref := unbox(classify([]byte("red"), '.', 123456789)); ref != 123456789 {
		t.Errorf("a text's place became %d", ref)
	}
}
