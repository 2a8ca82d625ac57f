package serve

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A scanner reads JSON value by value, without building anything: a request of a
// thousand rows becomes numbers as it is read. It accepts what encoding/json accepts.
type scanner struct {
	s []byte
	i int
}

// maxDepth bounds how deep values that nobody wants may be nested.
const maxDepth = 100

func (s *scanner) errorf(format string, args ...any) error {
	return failf(malformed, "the JSON is malformed at byte %d: %s", s.i+1, fmt.Sprintf(format, args...))
}

// next skips blanks and returns the byte at which a value begins, 0 at the end.
func (s *scanner) next() byte {
	for ; s.i < len(s.s); s.i++ {
		switch s.s[s.i] {
		case ' ', '\t', '\n', '\r':
		default:
			return s.s[s.i]
		}
	}
	return 0
}

// ended reports whether nothing but blanks is left.
func (s *scanner) ended() bool { return s.next() == 0 && s.i >= len(s.s) }

// take skips blanks and one byte that must be c.
func (s *scanner) take(c byte) error {
	if got := s.next(); got != c {
		return s.unexpected("'" + string(c) + "'")
	}
	s.i++
	return nil
}

func (s *scanner) unexpected(want string) error {
	if s.ended() {
		return s.errorf("it ends too early, where %s is expected", want)
	}
	r, _ := utf8.DecodeRune(s.s[s.i:])
	return s.errorf("%q stands where %s is expected", r, want)
}

// more reports whether a list or an object has another item; close ends it. n counts.
func (s *scanner) more(n int, close byte) (bool, error) {
	switch c := s.next(); {
	case c == close:
		s.i++
		return false, nil
	case n == 0:
		return true, nil
	case c == ',':
		s.i++
		return true, nil
	}
	return false, s.unexpected("',' or '" + string(close) + "'")
}

// key reads the name of a field and the colon behind it.
func (s *scanner) key() ([]byte, error) {
	name, err := s.text()
	if err == nil {
		err = s.take(':')
	}
	return name, err
}

// text reads a string: bytes of the input. Escapes are replaced where they stand, since
// what they mean is never longer: no text takes memory of its own, and none can be read
// twice.
func (s *scanner) text() ([]byte, error) {
	if err := s.take('"'); err != nil {
		return nil, err
	}
	begin := s.i
	for ; s.i < len(s.s); s.i++ {
		switch c := s.s[s.i]; {
		case c == '"':
			s.i++
			return s.s[begin : s.i-1], nil
		case c == '\\':
			return s.escaped(begin)
		case c < ' ':
			return nil, s.errorf("a control character in a text")
		}
	}
	return nil, s.errorf("it ends too early, within a text")
}

// escaped goes on with a text that has an escape.
func (s *scanner) escaped(begin int) ([]byte, error) {
	out := s.s[begin:s.i]
	for s.i < len(s.s) {
		c := s.s[s.i]
		s.i++
		switch {
		case c == '"':
			return out, nil
		case c < ' ':
			s.i--
			return nil, s.errorf("a control character in a text")
		case c != '\\':
			out = append(out, c)
			continue
		}
		if s.i == len(s.s) {
			break
		}
		r, err := s.escape()
		if err != nil {
			return nil, err
		}
		out = utf8.AppendRune(out, r)
	}
	return nil, s.errorf("it ends too early, within a text")
}

// escapes are what stands behind a backslash, and what it means.
var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads what stands behind a backslash.
func (s *scanner) escape() (rune, error) {
	c := s.s[s.i]
	if r, ok := escapes[c]; ok {
		s.i++
		return r, nil
	}
	if c != 'u' {
		return 0, s.errorf("an unknown escape in a text")
	}
	s.i++
	r, ok := s.hex()
	if !ok {
		return 0, s.errorf("\\u needs four hexadecimal digits")
	}
	if utf16.IsSurrogate(r) {
		r = s.pair(r)
	}
	return r, nil
}

// skipText reads a string that nobody wants, and changes nothing.
func (s *scanner) skipText() error {
	if err := s.take('"'); err != nil {
		return err
	}
	for s.i < len(s.s) {
		c := s.s[s.i]
		switch {
		case c == '"':
			s.i++
			return nil
		case c < ' ':
			return s.errorf("a control character in a text")
		case c == '\\' && s.i+1 < len(s.s):
			s.i++
			if _, err := s.escape(); err != nil {
				return err
			}
		default:
			s.i++
		}
	}
	return s.errorf("it ends too early, within a text")
}

// pair returns the rune of two surrogates, or U+FFFD for one alone.
func (s *scanner) pair(first rune) rune {
	if at := s.i; at+1 < len(s.s) && s.s[at] == '\\' && s.s[at+1] == 'u' {
		s.i += 2
		if second, ok := s.hex(); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r
			}
		}
		s.i = at
	}
	return utf8.RuneError
}

// hex reads four hexadecimal digits.
func (s *scanner) hex() (r rune, ok bool) {
	if s.i+4 > len(s.s) {
		return 0, false
	}
	for _, c := range s.s[s.i : s.i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.i += 4
	return r, true
}

// mostDigits bounds the length of a number; more digits change nothing.
const mostDigits = 1000

// number reads a number as it is written.
func (s *scanner) number() ([]byte, error) {
	s.next()
	begin := s.i
	s.accept('-', '-')
	if zero := s.accept('0', '0'); !zero && !s.digits() {
		return nil, s.unexpected("a number")
	}
	if s.accept('.', '.') && !s.digits() {
		return nil, s.unexpected("a digit")
	}
	if s.accept('e', 'E') {
		s.accept('+', '-')
		if !s.digits() {
			return nil, s.unexpected("a digit")
		}
	}
	if s.i-begin > mostDigits {
		return nil, s.errorf("a number has more than %d characters", mostDigits)
	}
	return s.s[begin:s.i], nil
}

// digits skips digits and reports whether there are any.
func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.s) && s.s[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i > from
}

// accept skips one byte if it is a or b.
func (s *scanner) accept(a, b byte) bool {
	if s.i < len(s.s) && (s.s[s.i] == a || s.s[s.i] == b) {
		s.i++
		return true
	}
	return false
}

// float reads a number; null is ok = false.
func (s *scanner) float() (v float64, ok bool, err error) {
	if s.next() == 'n' {
		return 0, false, s.word("null")
	}
	text, err := s.number()
	if err != nil {
		return 0, false, err
	}
	v, err = strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, false, failf(invalid, "the number %.40s is too large", text)
	}
	return v, true, nil
}

// word reads true, false or null.
func (s *scanner) word(w string) error {
	s.next()
	if len(s.s)-s.i < len(w) || string(s.s[s.i:s.i+len(w)]) != w {
		return s.unexpected("a value")
	}
	s.i += len(w)
	return nil
}

// null skips null, and reports whether it is there.
func (s *scanner) null() bool { return s.next() == 'n' && s.word("null") == nil }

// list calls f for every item of a list.
func (s *scanner) list(f func(n int) error) error {
	if err := s.take('['); err != nil {
		return err
	}
	for n := 0; ; n++ {
		ok, err := s.more(n, ']')
		if err != nil || !ok {
			return err
		}
		if err := f(n); err != nil {
			return err
		}
	}
}

// object calls f for every field of an object, whose value it must read.
func (s *scanner) object(f func(name string) error) error {
	if err := s.take('{'); err != nil {
		return err
	}
	for n := 0; ; n++ {
		ok, err := s.more(n, '}')
		if err != nil || !ok {
			return err
		}
		name, err := s.key()
		if err != nil {
			return err
		}
		if err := f(string(name)); err != nil {
			return err
		}
	}
}

// skip reads a value that nobody wants, and returns it as it is written.
func (s *scanner) skip(depth int) ([]byte, error) {
	c := s.next()
	begin := s.i
	var err error
	switch {
	case c == '"':
		err = s.skipText()
	case c == '-' || c-'0' <= 9:
		_, err = s.number()
	case c == 't':
		err = s.word("true")
	case c == 'f':
		err = s.word("false")
	case c == 'n':
		err = s.word("null")
	case (c == '{' || c == '[') && depth == maxDepth:
		err = s.errorf("values are nested too deep")
	case c == '{' || c == '[':
		err = s.skipItems(c, depth)
	default:
		err = s.unexpected("a value")
	}
	return s.s[begin:s.i], err
}

// skipItems reads the rest of a list or an object, which begins with open.
func (s *scanner) skipItems(open byte, depth int) error {
	s.i++
	for n := 0; ; n++ {
		ok, err := s.more(n, open+2) // the closing one comes two later
		if err != nil || !ok {
			return err
		}
		if open == '{' {
			err = s.skipText()
			if err == nil {
				err = s.take(':')
			}
			if err != nil {
				return err
			}
		}
		if _, err := s.skip(depth + 1); err != nil {
			return err
		}
	}
}

// end reports what stands behind the last value.
func (s *scanner) end() error {
	if s.next() != 0 || s.i < len(s.s) {
		return s.unexpected("the end")
	}
	return nil
}
