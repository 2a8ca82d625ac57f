package schema

import (
	"unicode"
	"unicode/utf8"
)

// wide are characters that take two places of a terminal: those of East Asian scripts,
// and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1}},
}

// places is how many places of a terminal a text takes.
func places(s string) (n int) {
	for _, r := range s {
		n += placesOf(r)
	}
	return n
}

func placesOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me): // stand on the character before
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// shortened is a text that takes at most room places.
func shortened(s string, room int) string {
	n, end := 0, 0 // where a text of room-1 places ends
	for i, r := range s {
		n += placesOf(r)
		if n > room {
			return s[:end] + "…"
		} else if n < room {
			end = i + utf8.RuneLen(r)
		}
	}
	return s
}
