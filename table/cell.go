package table

import (
	"bytes"
	"math"

	"utvi/internal/notation"
)

// Kind is what a cell holds.
type Kind uint8

// The kinds of cells.
const (
	Number  Kind = iota // a number, maybe infinite: who needs finite numbers must check
	Text                // a text, also one that a column may read as a number or a time
	Missing             // nothing, or a word such as NA that says so

	// padded is a whole number with zeros in front, such as 01067: a number, or a code whose
	// zeros count. The column decides; Chunk.Cell returns a number.
	padded
	// marked is a word that says that the value is missing, such as NA. The column decides
	// whether that is a name; Chunk.Cell returns Missing.
	marked
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

// classify makes a cell of a whole trimmed field; ref is where its text is.
func classify(s []byte, point byte, ref int) cell {
	if notation.IsMissing(s) {
		if len(s) > 0 {
			return box(marked, ref)
		}
		return missing
	}
	if v, n := notation.ScanFloat(s, point); n == len(s) {
		if notation.IsPadded(s) {
			return box(padded, ref)
		}
		return v
	}
	if v, ok := notation.Infinite(s); ok {
		return v
	}
	return box(Text, ref)
}

// trim removes blanks around a text.
func trim(s []byte) []byte { return bytes.TrimSpace(s) }
