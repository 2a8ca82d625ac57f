package neon

import "strings"

// general translates instructions on general registers. Those that set flags do so
// here, too.
func (t *translator) general(op string, a []string) bool {
	immediate := func(i int) bool { return strings.HasPrefix(a[i], "$") }
	source := func(i int) string { // an immediate, or a register
		if immediate(i) {
			return a[i]
		}
		return gp(a[i])
	}
	binary := map[string]string{"ADDQ": "ADDS", "SUBQ": "SUBS", "ANDQ": "ANDS", "IMULQ": "MUL", "SHLQ": "LSL"}
	switch op {
	case "ADDQ", "SUBQ", "ANDQ", "IMULQ", "SHLQ":
		t.put("\t%s %s, %s, %s", binary[op], source(0), gp(a[1]), gp(a[1]))
	case "IMUL3Q":
		t.put("\tMOVD %s, R16", a[0])
		t.put("\tMUL R16, %s, %s", gp(a[1]), gp(a[2]))
	case "DECQ":
		t.put("\tSUBS $1, %s, %s", gp(a[0]), gp(a[0]))
	case "NEGQ":
		t.put("\tNEGS %s, %s", gp(a[0]), gp(a[0]))
	case "XORQ":
		if a[0] != a[1] {
			return false
		}
		t.put("\tMOVD ZR, %s", gp(a[0]))
	case "CMPQ": // amd64 names the first operand first
		t.put("\tCMP %s, %s", source(1), gp(a[0]))
	case "TESTQ":
		if immediate(0) {
			t.put("\tTST %s, %s", a[0], gp(a[1]))
		} else {
			t.put("\tTST %s, %s", gp(a[0]), gp(a[1]))
		}
	case "SETNE":
		t.put("\tCSET NE, %s", gp(a[0]))
	case "LEAQ":
		t.put("\tMOVD %s, %s", t.exact(a[0]), gp(a[1]))
	case "MOVQ", "MOVL", "MOVB":
		move, size := map[string]string{"MOVQ": "MOVD", "MOVL": "MOVWU", "MOVB": "MOVBU"}[op], map[string]int{"MOVQ": 8, "MOVL": 4, "MOVB": 1}[op]
		from, to := a[0], a[1]
		switch {
		case strings.Contains(to, "("):
			t.put("\t%s %s, %s", strings.TrimSuffix(move, "U"), gp(from), t.memory(to, size))
		case strings.Contains(from, "("):
			t.put("\t%s %s, %s", move, t.memory(from, size), gp(to))
		case immediate(0):
			t.put("\tMOVD %s, %s", from, gp(to))
		default:
			t.put("\tMOVD %s, %s", gp(from), gp(to))
		}
	default:
		return false
	}
	return true
}
