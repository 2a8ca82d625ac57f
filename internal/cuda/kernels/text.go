package kernels

import (
	"bytes"
	"fmt"
	"sync"
)

// A Text is PTX with many kernels. The driver would compile all of them, which takes long,
// so it gets one kernel at a time.
type Text struct{ parts func() *parts }

func newText(ptx []byte) Text {
	return Text{sync.OnceValue(func() *parts { return split(ptx) })}
}

// parts are the statements of a text: functions, kernels and variables.
type parts struct {
	head  []byte // version and target
	all   [][]byte
	named map[string][]int // the statements that declare or define a name
	entry map[string]bool  // names of kernels
}

// split cuts a text into its statements. Each ends with a semicolon or with the brace that
// closes a function.
func split(ptx []byte) *parts {
	p := &parts{named: map[string][]int{}, entry: map[string]bool{}}
	depth := 0
	var statement []byte
	for line := range bytes.Lines(ptx) {
		code, _, _ := bytes.Cut(line, []byte("//"))
		code = bytes.TrimSpace(code)
		if len(statement) == 0 && isHead(code) {
			p.head = append(append(p.head, code...), '\n')
			continue
		}
		if len(code) == 0 {
			continue
		}
		depth += bytes.Count(code, []byte("{")) - bytes.Count(code, []byte("}"))
		statement = append(append(statement, code...), '\n')
		if depth == 0 && (bytes.HasSuffix(code, []byte(";")) || bytes.Equal(code, []byte("}"))) {
			p.add(statement)
			statement = nil
		}
	}
	return p
}

func isHead(code []byte) bool {
	for _, word := range []string{".version", ".target", ".address_size"} {
		if bytes.HasPrefix(code, []byte(word)) {
			return true
		}
	}
	return false
}

// add adds a statement under its name: the first word that is no directive, no number and
// does not stand in parentheses, such as the result of a function.
func (p *parts) add(statement []byte) {
	name, depth := "", 0
	words(statement, func(word []byte, mark byte) bool {
		switch {
		case mark == '(':
			depth++
		case mark == ')':
			depth--
		case depth == 0 && len(word) > 0 && word[0] != '.' && (word[0] < '0' || word[0] > '9'):
			name = string(word)
		}
		return name == ""
	})
	p.named[name] = append(p.named[name], len(p.all))
	p.all = append(p.all, statement)
	if bytes.Contains(statement[:min(len(statement), 64)], []byte(".entry")) {
		p.entry[name] = true
	}
}

// words calls each with the words of a statement and the marks between them, until it
// returns false.
func words(s []byte, each func(word []byte, mark byte) bool) {
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && inWord(s[j]) {
			j++
		}
		more := true
		if j > i {
			more = each(s[i:j], 0)
		} else {
			more = each(nil, s[j])
			j++
		}
		if !more {
			return
		}
		i = j
	}
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Kernels returns the names of the kernels.
func (t Text) Kernels() map[string]bool { return t.parts().entry }

// Kernel returns the text of one kernel and of what it needs.
func (t Text) Kernel(name string) ([]byte, error) {
	p := t.parts()
	if !p.entry[name] {
		return nil, fmt.Errorf("there is no kernel %s", name)
	}
	needed := make([]bool, len(p.all))
	todo := []string{name}
	seen := map[string]bool{name: true}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, i := range p.named[next] {
			needed[i] = true
			words(p.all[i], func(word []byte, _ byte) bool {
				if p.named[string(word)] != nil && !seen[string(word)] {
					seen[string(word)] = true
					todo = append(todo, string(word))
				}
				return true
			})
		}
	}
	out := bytes.Clone(p.head)
	for i, s := range p.all {
		if needed[i] {
			out = append(out, s...)
		}
	}
	return out, nil
}
