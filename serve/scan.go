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

// text reads a string: bytes of the input, or a copy if it has escapes.
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

func (s *scanner) escaped(begin int) ([]byte, error) {
	out := append([]byte(nil), s.s[begin:s.i]...)
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
		c = s.s[s.i]
		s.i++
		switch c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := s.hex()
			if !ok {
				return nil, s.errorf("\\u needs four hexadecimal digits")
			}
			if utf16.IsSurrogate(r) {
				r = s.pair(r)
			}
			out = utf8.AppendRune(out, r)
		default:
			s.i--
			return nil, s.errorf("an unknown escape in a text")
		}
	}
	return nil, s.errorf("it ends too early, within a text")
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

// number reads a number as it is written.
func (s *scanner) number() ([]byte, error) {
	s.next()
	begin := s.i
	digits := func() bool {
		from := s.i
		for s.i < len(s.s) && s.s[s.i]-'0' <= 9 {
			s.i++
		}
		return s.i > from
	}
	skip := func(a, b byte) bool {
		if s.i < len(s.s) && (s.s[s.i] == a || s.s[s.i] == b) {
			s.i++
			return true
		}
		return false
	}
	skip('-', '-')
	if zero := skip('0', '0'); !zero && !digits() {
		return nil, s.unexpected("a number")
	}
	if skip('.', '.') && !digits() {
		return nil, s.unexpected("a digit")
	}
	if skip('e', 'E') {
		skip('+', '-')
		if !digits() {
			return nil, s.unexpected("a digit")
		}
	}
	return s.s[begin:s.i], nil
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

// skip reads a value that nobody wants, and returns it as it is written.
func (s *scanner) skip(depth int) ([]byte, error) {
	c := s.next()
	begin := s.i
	var err error
	switch {
	case c == '"':
		_, err = s.text()
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
		s.i++
		for n := 0; ; n++ {
			var ok bool
			ok, err = s.more(n, c+2)
			if err != nil || !ok { // the closing one comes two later
				break
			}
			if c == '{' {
				_, err = s.key()
			}
			if err == nil {
				_, err = s.skip(depth + 1)
			}
			if err != nil {
				break
			}
		}
	default:
		err = s.unexpected("a value")
	}
	return s.s[begin:s.i], err
}

// end reports what stands behind the last value.
func (s *scanner) end() error {
	if s.next() != 0 || s.i < len(s.s) {
		return s.unexpected("the end")
	}
	return nil
}
