package expr

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	end kind = iota
	number
	name
	operator // also parentheses and commas, which have no binding
	unknown
)

// A token is a word of a formula.
type token struct {
	kind  kind
	text  string
	value float64
	at    int // its first byte
}

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// advance reads the next token.
func (p *parser) advance() {
	rest := p.text[p.next:]
	trimmed := strings.TrimLeft(rest, " \t\r\n")
	at := p.next + len(rest) - len(trimmed)
	p.tok = token{at: at}
	if trimmed == "" {
		p.next = at
		return
	}
	n := 1
	switch c := trimmed[0]; {
	case digit(c) || c == '.':
		n = numeral(trimmed)
		v, err := strconv.ParseFloat(trimmed[:n], 64)
		if err != nil {
			p.fail(at, "%q is not a finite number", trimmed[:n])
		}
		p.tok.kind, p.tok.value = number, v
	case letter(c):
		for n < len(trimmed) && (letter(trimmed[n]) || digit(trimmed[n])) {
			n++
		}
		p.tok.kind = name
	default:
		p.tok.kind, n = p.symbol(trimmed, at)
	}
	p.tok.text, p.next = trimmed[:n], at+n
}

// symbol reads an operator, a parenthesis or a comma.
func (p *parser) symbol(s string, at int) (kind, int) {
	if strings.HasPrefix(s, "**") {
		p.fail(at, "found \"**\"; write ^ for powers")
	}
	if len(s) > 1 && s[1] == '=' && strings.IndexByte("<>=!", s[0]) >= 0 {
		return operator, 2
	}
	switch s[0] {
	case '+', '-', '*', '/', '^', '<', '>':
		return operator, 1
	case '(', ')', ',':
		return unknown, 1
	case '=':
		p.fail(at, "found \"=\"; write == to compare")
	}
	r, n := utf8.DecodeRuneInString(s)
	if !unicode.IsPrint(r) {
		p.fail(at, "found the character %U; expected an operator or the end", r)
	}
	p.fail(at, "found %q; expected numbers, names, + - * / ^, comparisons and parentheses", s[:n])
	return unknown, n
}

// numeral is the length of the number at the start of s: digits, a point, an
// exponent if digits follow.
func numeral(s string) int {
	n := 0
	for n < len(s) && (digit(s[n]) || s[n] == '.') {
		n++
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		k := n + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if k < len(s) && digit(s[k]) {
			for n = k; n < len(s) && digit(s[n]); n++ {
			}
		}
	}
	return n
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
