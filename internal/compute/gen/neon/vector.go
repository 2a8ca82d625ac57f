package neon

import (
	"strconv"
	"strings"
)

// word gives an instruction as its encoding, with what it says.
func (t *translator) word(code uint32, text string, a ...any) {
	t.put("\tWORD $0x%08x // "+text, append([]any{code}, a...)...)
}

// binary gives an instruction with two sources n, m and a destination d.
func (t *translator) binary(name string, d, n, m int) {
	code, ok := binaries[name]
	if !ok {
		panic("no instruction " + name)
	}
	lanes := "4s"
	if f := strings.Fields(name); len(f) == 2 {
		name, lanes = f[0], f[1]
	}
	t.word(code|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s, v%d.%s", name, d, lanes, n, lanes, m, lanes)
}

var binaries = map[string]uint32{
	"fadd": 0x4E20D400, "fsub": 0x4EA0D400, "fmul": 0x6E20DC00, "fdiv": 0x6E20FC00,
	"fmla": 0x4E20CC00, "fmls": 0x4EA0CC00, "faddp": 0x6E20D400,
	"fcmgt": 0x6EA0E400, "fcmge": 0x6E20E400, "fcmeq": 0x4E20E400,
	"add": 0x4EA08400, "sub": 0x6EA08400,
	"and 16b": 0x4E201C00, "bic 16b": 0x4E601C00, "orr 16b": 0x4EA01C00, "eor 16b": 0x6E201C00, "bsl 16b": 0x6E601C00,
	"zip1": 0x4E803800, "zip2": 0x4E807800, "zip1 2d": 0x4EC03800, "zip2 2d": 0x4EC07800,
	"fadd 2d": 0x4E60D400, "fmla 2d": 0x4E60CC00,
}

// unary gives an instruction with one source.
func (t *translator) unary(name string, d, n int) {
	t.word(unaries[name]|uint32(n)<<5|uint32(d), "%s v%d.4s, v%d.4s", name, d, n)
}

var unaries = map[string]uint32{
	"fsqrt": 0x6EA1F800, "fneg": 0x6EA0F800, "mvn": 0x6E205800, "scvtf": 0x4E21D800,
}

func (t *translator) shift(name string, code uint32, field, d, n, by int) {
	t.word(code|uint32(field)<<16|uint32(n)<<5|uint32(d), "%s v%d.4s, v%d.4s, #%d", name, d, n, by)
}

func (t *translator) copy(d, n int) {
	if d != n {
		t.binary("orr 16b", d, n, n)
	}
}

// source is the register of an operand; one in memory is loaded into scratch.
func (t *translator) source(a string, scratch int) int {
	if isVector(a) {
		return number(a)
	}
	t.put("\tFMOVQ %s, F%d", t.memory(a, 16), scratch)
	return scratch
}

// threes are instructions whose operands m, n, d are those of one here.
var threes = map[string]string{
	"VADDPS": "fadd", "VSUBPS": "fsub", "VMULPS": "fmul", "VDIVPS": "fdiv",
	"VFMADD231PS": "fmla", "VFNMADD231PS": "fmls", "VHADDPS": "faddp",
	"VPADDD": "add", "VPSUBD": "sub",
	"VANDPS": "and 16b", "VORPS": "orr 16b", "VXORPS": "eor 16b", "VXORPD": "eor 16b",
	"VUNPCKLPS": "zip1", "VUNPCKHPS": "zip2", "VUNPCKLPD": "zip1 2d", "VUNPCKHPD": "zip2 2d",
	"VADDPD": "fadd 2d", "VFMADD231PD": "fmla 2d",
}

func (t *translator) three(op string, a []string) bool {
	name, ok := threes[op]
	if ok {
		t.binary(name, number(a[2]), number(a[1]), t.source(a[0], 31))
	}
	return ok
}

// vector translates what takes more than one instruction, or another order.
func (t *translator) vector(op string, a []string) bool {
	last := len(a) - 1
	d := func() int { return number(a[last]) }
	imm := func() int {
		n, err := strconv.ParseInt(strings.TrimPrefix(a[0], "$"), 0, 64)
		if err != nil {
			panic(err)
		}
		return int(n)
	}
	switch op {
	case "VANDNPS":
		t.binary("bic 16b", d(), t.source(a[0], 31), number(a[1]))
	case "VSQRTPS":
		t.unary("fsqrt", d(), t.source(a[0], 31))
	case "VCVTDQ2PS":
		t.unary("scvtf", d(), t.source(a[0], 31))
	case "VPSLLD":
		t.shift("shl", 0x4F005400, 32+imm(), d(), number(a[1]), imm())
	case "VPSRAD":
		t.shift("sshr", 0x4F000400, 64-imm(), d(), number(a[1]), imm())
	case "VMINPS", "VMAXPS": // the second if either is NaN or both are zero
		m, n := t.source(a[0], 31), number(a[1])
		if op == "VMAXPS" {
			t.binary("fcmgt", 30, n, m)
		} else {
			t.binary("fcmgt", 30, m, n)
		}
		t.binary("bsl 16b", 30, n, m)
		t.copy(d(), 30)
	case "VBLENDVPS": // by the sign of the first
		yes := t.source(a[1], 31)
		t.shift("sshr", 0x4F000400, 33, 30, number(a[0]), 31)
		t.binary("bsl 16b", 30, yes, number(a[2]))
		t.copy(d(), 30)
	case "VFMADD213PS", "VFMSUB213PS":
		c := t.source(a[0], 31)
		if op == "VFMSUB213PS" {
			t.unary("fneg", 30, c)
		} else {
			t.copy(30, c)
		}
		t.binary("fmla", 30, number(a[1]), d())
		t.copy(d(), 30)
	case "VCMPPS":
		t.compare(imm(), t.source(a[1], 31), number(a[2]), d())
	case "VPTEST": // for the flag that says whether any bit is set
		t.word(0x6EB0A800|uint32(number(a[0]))<<5|31, "umaxv s31, v%d.4s", number(a[0]))
		t.put("\tFMOVS F31, R16")
		t.put("\tCMPW $0, R16")
	case "VCVTPS2PD":
		t.word(0x0E617800|uint32(number(a[0]))<<5|uint32(d()), "fcvtl v%d.2d, v%d.2s", d(), number(a[0]))
	case "VMOVHLPS": // the upper half of the first
		t.word(0x6E004000|uint32(number(a[0]))<<16|uint32(number(a[0]))<<5|uint32(d()), "ext v%d.16b, v%d.16b, v%d.16b, #8", d(), number(a[0]), number(a[0]))
	case "VMOVSHDUP": // lane 1 is all that is wanted
		t.word(0x4E0C0400|uint32(number(a[0]))<<5|uint32(d()), "dup v%d.4s, v%d.s[1]", d(), number(a[0]))
	case "VADDSS":
		m := 31
		if isVector(a[0]) {
			m = number(a[0])
		} else {
			t.put("\tFMOVS %s, F31", t.memory(a[0], 4))
		}
		t.put("\tFADDS F%d, F%d, F%d", m, number(a[1]), d())
	case "VADDSD":
		t.put("\tFADDD F%d, F%d, F%d", number(a[0]), number(a[1]), d())
	default:
		return false
	}
	return true
}

// compare sets d to all ones where n rel m, by the predicates of AVX.
func (t *translator) compare(rel, m, n, d int) {
	not := false
	switch rel {
	case 0x11: // <
		t.binary("fcmgt", 30, m, n)
	case 0x12: // ≤
		t.binary("fcmge", 30, m, n)
	case 0x1e: // >
		t.binary("fcmgt", 30, n, m)
	case 0x00: // =
		t.binary("fcmeq", 30, n, m)
	case 0x04: // ≠, or unordered
		t.binary("fcmeq", 30, n, m)
		not = true
	case 0x16: // not ≤
		t.binary("fcmge", 30, m, n)
		not = true
	case 0x19: // not ≥
		t.binary("fcmge", 30, n, m)
		not = true
	case 0x0c: // < or >
		t.binary("fcmgt", 30, n, m)
		t.binary("fcmgt", 29, m, n)
		t.binary("orr 16b", 30, 30, 29)
	case 0x03, 0x07: // unordered, ordered
		t.binary("fcmeq", 30, n, n)
		t.binary("fcmeq", 29, m, m)
		t.binary("and 16b", 30, 30, 29)
		not = rel == 0x03
	default:
		panic("no translation of a comparison")
	}
	if not {
		t.unary("mvn", d, 30)
	} else {
		t.copy(d, 30)
	}
}

// move translates loads, stores and copies.
func (t *translator) move(op string, a []string) bool {
	sizes := map[string]struct {
		name string
		size int
	}{"VMOVUPS": {"FMOVQ", 16}, "VMOVAPS": {"FMOVQ", 16}, "VMOVSS": {"FMOVS", 4}, "MOVSS": {"FMOVS", 4}, "VMOVSD": {"FMOVD", 8}, "MOVSD": {"FMOVD", 8}, "VMOVLPS": {"FMOVD", 8}}
	switch {
	case op == "VMOVNTPS": // what streams past the caches on amd64 is a plain store here
		op = "VMOVUPS"
	case op == "VBROADCASTSS" && !isVector(a[0]):
		base := t.exact(a[0])
		t.word(0x4D40C800|uint32(base32(base))<<5|uint32(number(a[1])), "ld1r {v%d.4s}, [%s]", number(a[1]), base)
		return true
	case op == "VMOVHPS":
		base := t.exact(a[1])
		t.word(0x4D008400|uint32(base32(base))<<5|uint32(number(a[0])), "st1 {v%d.d}[1], [%s]", number(a[0]), base)
		return true
	}
	m, ok := sizes[op]
	switch {
	case !ok:
		return false
	case isVector(a[0]) && isVector(a[1]):
		t.copy(number(a[1]), number(a[0]))
	case isVector(a[0]):
		t.put("\t%s F%d, %s", m.name, number(a[0]), t.memory(a[1], m.size))
	default:
		t.put("\t%s %s, F%d", m.name, t.memory(a[0], m.size), number(a[1]))
	}
	return true
}

func base32(r string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(r, "R"))
	if err != nil {
		panic("no register " + r)
	}
	return n
}
