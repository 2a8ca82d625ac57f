// Package neon turns the listing of a generator into one for arm64. Generators that are
// run for neon write for vectors of four float32: the AVX instructions of 128 bits that
// they use have counterparts there, mostly one each. Registers are allocated already, by
// avo; Xn becomes Vn, and V29 to V31, R15 to R17 are left to the translation. Vector
// instructions that Go's assembler does not know are given as words.
package neon

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Translate returns the listing for arm64.
func Translate(text string) string {
	var t translator
	for _, line := range strings.Split(text, "\n") {
		t.line(line)
	}
	return strings.Join(t.out, "\n")
}

type translator struct{ out []string }

func (t *translator) put(format string, a ...any) { t.out = append(t.out, fmt.Sprintf(format, a...)) }

func (t *translator) line(line string) {
	if !strings.HasPrefix(line, "\t") { // labels, declarations, data
		t.put("%s", line)
		return
	}
	op, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	var args []string
	rest = strings.TrimSpace(rest)
	if rest != "" {
		args = splitArgs(rest)
	}
	switch {
	case op == "VZEROUPPER" || strings.HasPrefix(op, "PREFETCH"):
	case op == "RET":
		t.put("\tRET")
	case branches[op] != "":
		t.put("\t%s %s", branches[op], args[0])
	case t.general(op, args), t.move(op, args), t.three(op, args), t.vector(op, args):
	default:
		panic("no translation of " + line)
	}
}

// splitArgs splits at commas outside of brackets.
func splitArgs(s string) []string {
	var args []string
	for _, a := range strings.Split(s, ",") {
		args = append(args, strings.TrimSpace(a))
	}
	return args
}

var branches = map[string]string{
	"JMP": "JMP", "JLT": "BLT", "JGE": "BGE", "JGT": "BGT", "JLE": "BLE",
	"JEQ": "BEQ", "JZ": "BEQ", "JE": "BEQ", "JNE": "BNE", "JNZ": "BNE",
}

// The registers of amd64, in the order of their names on arm64.
var registers = []string{"AX", "CX", "DX", "BX", "SI", "DI", "BP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}

func gp(name string) string {
	i := slices.Index(registers, strings.TrimSuffix(strings.Replace(name, "AL", "AX", 1), "L"))
	if name == "BL" || name == "CL" || name == "DL" {
		i = slices.Index(registers, name[:1]+"X")
	}
	if i < 0 {
		panic("no register " + name)
	}
	return "R" + strconv.Itoa(i)
}

func isVector(a string) bool { return regexp.MustCompile(`^X\d+$`).MatchString(a) }

func number(x string) int {
	n, err := strconv.Atoi(x[1:])
	if err != nil || n > 28 {
		panic("no vector register for " + x)
	}
	return n
}

var address = regexp.MustCompile(`^(-?\d+)?\((\w+)\)(?:\((\w+)\*(\d)\))?$`)

// at computes an address and returns base register and displacement.
func (t *translator) at(a string) (base string, disp int) {
	if strings.HasSuffix(a, "(FP)") || strings.HasSuffix(a, "(SB)") {
		t.put("\tMOVD $%s, R16", a)
		return "R16", 0
	}
	m := address.FindStringSubmatch(a)
	if m == nil {
		panic("no address: " + a)
	}
	disp, _ = strconv.Atoi(m[1])
	if m[2] == "SP" {
		base, disp = "RSP", disp+8 // the return address lies below the locals
	} else {
		base = gp(m[2])
	}
	if m[3] != "" {
		scale, _ := strconv.Atoi(m[4])
		shift := map[int]int{1: 0, 2: 1, 4: 2, 8: 3}[scale]
		if base == "RSP" {
			t.put("\tMOVD RSP, R16")
			base = "R16"
		}
		t.put("\tADD %s<<%d, %s, R16", gp(m[3]), shift, base)
		base = "R16"
	}
	return base, disp
}

// exact computes an address without displacement.
func (t *translator) exact(a string) string {
	base, disp := t.at(a)
	if disp != 0 || base == "RSP" {
		t.put("\tADD $%d, %s, R16", disp, base)
		base = "R16"
	}
	return base
}

// memory gives an address as an operand for moves of size bytes.
func (t *translator) memory(a string, size int) string {
	if strings.HasSuffix(a, "(FP)") && size <= 8 {
		return a
	}
	base, disp := t.at(a)
	if disp < 0 || disp%size != 0 || disp >= 4096*size {
		t.put("\tADD $%d, %s, R16", disp, base)
		base, disp = "R16", 0
	}
	return fmt.Sprintf("%d(%s)", disp, base)
}
