package serve

import (
	"slices"
	"testing"
)

// Whole numbers in JSON keep their digits, which may be those of an identifier, up to the ends
// of their datatype.
func TestIntegersKeepDigits(t *testing.T) {
	for datatype, c := range map[string]struct {
		data string
		want []int64
	}{
		"INT64":  {"[9007199254740993, [-9223372036854775808], 9223372036854775807, 1e3, 140.0]", []int64{9007199254740993, -1 << 63, 1<<63 - 1, 1000, 140}},
		"UINT64": {"[0, 9223372036854775807]", []int64{0, 1<<63 - 1}},
		"INT8":   {"[-128, 127]", []int64{-128, 127}},
		"UINT8":  {"[0, 255]", []int64{0, 255}},
		"UINT32": {"[4294967295]", []int64{1<<32 - 1}},
	} {
		x := tensor{name: "x", datatype: datatype, shape: []int64{int64(len(c.want)), 1}}
		if err := x.readJSON([]byte(c.data), len(c.want)); err != nil || !slices.Equal(x.ints, c.want) {
			t.Errorf("%s %s: %v, %v", datatype, c.data, x.ints, err)
		}
	}
}

// A tensor has at most so many dimensions.
func TestDimensions(t *testing.T) {
	x := tensor{name: "x", datatype: "FP32"}
	for range mostDims {
		x.shape = append(x.shape, 1)
	}
	n, err := x.elements(Limits{}.complete())
	if err != nil || n != 1 {
		t.Errorf("%d dimensions: %d, %v", mostDims, n, err)
	}
	x.shape = append(x.shape, 1)
	_, err = x.elements(Limits{}.complete())
	if err == nil || err.Error() != `tensor "x" has 9 dimensions; the server allows 8` {
		t.Errorf("one more: %v", err)
	}
}

// One row more than the server allows is refused, however it came.
func TestRowsOfAnAnswer(t *testing.T) {
	limits := Limits{}.complete()
	err := (&options{}).fits(limits.Rows+1, nil, limits)
	if err == nil || faultOf(err).kind != tooLarge {
		t.Errorf("%d rows: %v", limits.Rows+1, err)
	}
}
