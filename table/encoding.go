package table

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An Encoding says how a text file writes characters as bytes: "utf-8", "utf-16le" (the lower
// byte first), "utf-16be" or "latin1"; "" detects it.
type Encoding string

const (
	utf8Text Encoding = "utf-8"
	utf16LE  Encoding = "utf-16le" // the lower byte first
	utf16BE  Encoding = "utf-16be" // the higher byte first
	latin1   Encoding = "latin1"   // Windows-1252, which contains it
)

// ParseEncoding reads the name of an encoding; auto is "", which detects it.
func ParseEncoding(name string) (Encoding, error) {
	switch strings.ToLower(name) {
	case "", "auto":
		return "", nil
	case "utf-8", "utf8":
		return utf8Text, nil
	case "utf-16", "utf16", "utf-16le", "utf16le":
		return utf16LE, nil
	case "utf-16be", "utf16be":
		return utf16BE, nil
	case "latin1", "latin-1", "iso-8859-1", "windows-1252", "cp1252", "ansi":
		return latin1, nil
	}
	return "", fmt.Errorf("unknown encoding %q; choose auto, utf-8, utf-16, utf-16be or latin1", name)
}

// of detects the encoding from the start of a file: UTF-16 by its mark or by zeros in
// every other byte, Latin-1 by bytes that UTF-8 does not have.
func (e Encoding) of(start []byte) Encoding {
	switch {
	case e == utf16LE && bytes.HasPrefix(start, []byte{0xfe, 0xff}): // the mark knows better
		return utf16BE
	case e != "":
		return e
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		return utf16LE
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		return utf16BE
	}
	if bytes.IndexByte(start, 0) >= 0 {
		var zeros [2]int
		for i, b := range start {
			if b == 0 {
				zeros[i%2]++
			}
		}
		half := len(start) / 2
		switch {
		case zeros[0] == 0 && 10*zeros[1] > 8*half:
			return utf16LE
		case zeros[1] == 0 && 10*zeros[0] > 8*half:
			return utf16BE
		}
		return utf8Text // or no text at all
	}
	for end := max(0, len(start)-utf8.UTFMax); end <= len(start); end++ { // the last character may be cut
		if utf8.Valid(start[:end]) {
			return utf8Text
		}
	}
	return latin1
}

// decode returns the text in UTF-8.
func (e Encoding) decode(r io.Reader) io.Reader { return &decoder{src: r, as: e} }

// A decoder turns bytes of another encoding into UTF-8.
type decoder struct {
	src   io.Reader
	as    Encoding
	in    [1 << 15]byte
	rest  []byte // read, but not yet decoded
	out   []byte // decoded, but not yet passed on
	begun bool
	err   error
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		n := copy(d.in[:], d.rest)
		m, err := d.src.Read(d.in[n:])
		d.err = err
		if err == io.EOF && d.as != latin1 && (n+m)%2 == 1 {
			d.err = io.ErrUnexpectedEOF // half a character
		}
		d.out = d.text(d.out[:0], d.in[:n+m])
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// text decodes bytes and keeps a character that is not complete.
func (d *decoder) text(out, b []byte) []byte {
	if d.as == latin1 {
		d.rest = nil
		for _, c := range b {
			r := rune(c)
			if 0x80 <= c && c < 0xa0 {
				r = windows1252[c-0x80]
			}
			out = utf8.AppendRune(out, r)
		}
		return out
	}
	for len(b) >= 2 {
		u, size := d.unit(b), 2
		if utf16.IsSurrogate(u) {
			if len(b) < 4 && d.err == nil {
				break
			}
			if len(b) >= 4 {
				if pair := utf16.DecodeRune(u, d.unit(b[2:])); pair != utf8.RuneError {
					u, size = pair, 4
				}
			}
		}
		if d.begun || u != 0xfeff { // the mark at the start
			out = utf8.AppendRune(out, u)
		}
		d.begun = true
		b = b[size:]
	}
	d.rest = append([]byte(nil), b...)
	return out
}

func (d *decoder) unit(b []byte) rune {
	if d.as == utf16BE {
		return rune(b[0])<<8 | rune(b[1])
	}
	return rune(b[1])<<8 | rune(b[0])
}

// windows1252 are the characters of the bytes 0x80 to 0x9f.
var windows1252 = [32]rune{'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ'}
