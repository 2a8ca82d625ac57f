package table

import (
	"bytes"
	"math"
	"strconv"
)

// Kind is what a cell holds.
type Kind uint8

const (
	Number Kind = iota // may be infinite; who needs finite numbers must check
	Text
	Missing
)

// A cell is one float64. What is not a number is a NaN that carries its kind and,
// for texts, padded numbers and marks, where they are: so rows of numbers cost what numbers cost. A number
// is never NaN, for NaN means missing.
//
//	bits 63…48  0x7ff8, a quiet NaN
//	bits 47…40  kind
//	bits 39…0   text, padded, marked: offset in the block or index into the list of texts
type cell = float64

const (
	boxed   = 0x7ff8 << 48
	refBits = 40
	refMask = 1<<refBits - 1
)

var missing = box(Missing, 0)

func box(k Kind, ref int) cell {
	return math.Float64frombits(boxed | uint64(k)<<refBits | uint64(ref)&refMask)
}

func unbox(c cell) (k Kind, ref int) {
	if c == c {
		return Number, 0
	}
	b := math.Float64bits(c)
	return Kind(b >> refBits & 0xff), int(b & refMask)
}

// number makes a cell of a value, NaN being missing.
func number(v float64) cell {
	if v != v {
		return missing
	}
	return v
}

// label is the text of a number, the same however it was written: as a level,
// 1, 1.0 and 01 are one.
func label(v float64) string {
	if v == 0 {
		v = 0 // no −0
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// digits writes a number for people, without an exponent where that is short enough.
func digits(v float64) string {
	if a := math.Abs(v); a >= 1e-4 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return label(v)
}

// isMissing reports whether a trimmed text stands for a missing value.
func isMissing(s []byte) bool {
	switch len(s) {
	case 0:
		return true
	case 1:
		return s[0] == '?'
	case 2:
		return fold(s, "na")
	case 3:
		return fold(s, "n/a") || fold(s, "nan")
	case 4:
		return fold(s, "null") || fold(s, "none")
	}
	return false
}

// fold compares with a text in lower case.
func fold(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// trim removes blanks around a text.
func trim(s []byte) []byte { return bytes.TrimSpace(s) }
