package gpu_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/bytecode"
	"utvi/internal/compute/kernel"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// compiledFormulas have every instruction, and inputs of every kind.
func compiledFormulas(t *testing.T) []*moment.Func {
	t.Helper()
	all := []*moment.Func{
		fn.MustFormula("a*tanh(b*x) + c*max(x, d)", fn.Learned("a", 1.2), fn.LearnedPerUnit("b", 0.7), fn.Fixed("c", 0.4), fn.Learned("d", -0.57)),
		fn.MustFormula("x*sigmoid(b*x)", fn.Fixed("b", 0.5, 1, 2)),
	}
	seen := map[bytecode.Code]bool{}
	for _, text := range formulaTexts {
		f, err := fn.Named(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range f.Formula.Limit.Code {
			seen[in.Code] = true
		}
		all = append(all, f)
	}
	for c := range bytecode.NumCodes {
		if !seen[c] {
			t.Errorf("no formula has the instruction %d", c)
		}
	}
	return all
}

// The functions that are written for formulas compute what their programs compute, as a
// small interpreter of PTX runs them.
func TestFormulaPTX(t *testing.T) {
	const units = 3
	for _, f := range compiledFormulas(t) {
		x := f.Formula
		functions := parsePTX(t, string(gpu.FormulaPTX(x)))
		for name, prog := range map[string]*bytecode.Program{"code_value": x.Value, "code_train": x.Train, "code_limit": x.Limit} {
			for unit := range units {
				params := make([]float64, len(x.Inputs))
				machine := ptxMachine{unit: unit, inputs: make([][]float64, len(x.Inputs)), out: map[int]float64{}}
				for i, p := range x.Inputs {
					machine.inputs[i] = []float64{0.75 + float64(i)}
					if p.OnePerUnit() {
						machine.inputs[i] = []float64{0.5, -1.25, 2}
						params[i] = machine.inputs[i][unit]
					} else {
						params[i] = machine.inputs[i][0]
					}
				}
				want := make([]float64, prog.Outs)
				for _, at := range []float64{-3.7, -1, -0.1, 0, 0.4, 0.5, 1, 2, 9, math.NaN(), math.Inf(1)} {
					prog.At(at, params, want)
					machine.run(t, name, functions[name], at)
					for k, w := range want {
						if got := machine.out[k]; !(math.Abs(got-w) <= 1e-6*(1+math.Abs(w))) && !(got != got && w != w) && got != w {
							t.Errorf("%s: output %d of %s at %v is %v, want %v", f.Name, k, name, at, got, w)
						}
					}
				}
			}
		}
	}
}

// parsePTX cuts functions into statements.
func parsePTX(t *testing.T, text string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, f := range strings.Split(text, ".func ")[1:] {
		name, rest, _ := strings.Cut(f, "(")
		_, body, _ := strings.Cut(rest, ")")
		for _, s := range strings.Split(body, ";") {
			s = strings.Trim(s, "{} \t\n")
			if s != "" && !strings.HasPrefix(s, ".") {
				all[name] = append(all[name], s)
			}
		}
	}
	return all
}

// A ptxMachine runs the statements that the writer knows, in float64. The address of input
// i is i·2²⁰.
type ptxMachine struct {
	unit   int
	inputs [][]float64
	out    map[int]float64

	floats map[string]float64
	preds  map[string]bool
	places map[string]int
	params map[string]float64
}

func (m *ptxMachine) run(t *testing.T, name string, code []string, x float64) {
	t.Helper()
	m.floats = map[string]float64{}
	m.preds = map[string]bool{}
	m.places = map[string]int{}
	m.params = map[string]float64{name + "_param_2": x}
	clear(m.out)
	for _, s := range code {
		if !m.statement(name, s) {
			t.Fatalf("%s: the statement %q", name, s)
		}
	}
}

func (m *ptxMachine) value(s string) float64 {
	if bits, ok := strings.CutPrefix(s, "0f"); ok {
		b, _ := strconv.ParseUint(bits, 16, 32)
		return float64(math.Float32frombits(uint32(b)))
	}
	if x, ok := m.floats[s]; ok {
		return x
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x
	}
	panic("the register " + s + " is not set")
}

// statement reports whether it knows the statement.
func (m *ptxMachine) statement(name, s string) bool {
	op, rest, _ := strings.Cut(s, " ")
	args := strings.Split(strings.NewReplacer("(", "", ")", "", " ", "").Replace(rest), ",")
	place := func(s string) (base string, offset int) {
		base, o, _ := strings.Cut(strings.Trim(s, "[]"), "+")
		offset, _ = strconv.Atoi(o)
		return base, offset
	}
	switch op {
	case "ret", "ld.param.u64", "ld.param.u32":
	case "ld.param.f32":
		base, offset := place(args[1])
		m.floats[args[0]] = m.params[fmt.Sprint(base, strings.Repeat("'", offset/4))]
	case "st.param.b32", "st.param.f32":
		m.params[strings.Trim(args[0], "[]")] = m.value(args[1])
	case "call.uni":
		m.call(args[1])
	case "ld.u64":
		_, offset := place(args[1])
		m.places[args[0]] = (offset - 96) / 8 << 20
	case "mad.wide.s32":
		m.places[args[0]] = m.places[args[3]] + 4*m.unit
	case "ld.f32":
		base, _ := place(args[1])
		at := m.places[base]
		m.floats[args[0]] = m.inputs[at>>20][at&(1<<20-1)/4]
	case "st.f32":
		_, offset := place(args[0])
		m.out[offset/16] = m.value(args[1])
	case "selp.f32":
		m.floats[args[0]] = m.value(args[2])
		if m.preds[args[3]] {
			m.floats[args[0]] = m.value(args[1])
		}
	default:
		return m.arithmetic(op, args)
	}
	return true
}

func (m *ptxMachine) arithmetic(op string, args []string) bool {
	x := m.value(args[1])
	y, z := x, x
	if len(args) > 2 {
		y = m.value(args[2])
	}
	if len(args) > 3 {
		z = m.value(args[3])
	}
	if how, ok := strings.CutPrefix(op, "setp."); ok {
		m.preds[args[0]] = map[string]bool{"lt.f32": x < y, "le.f32": x <= y, "gt.f32": x > y, "eq.f32": x == y, "ne.f32": x < y || x > y, "neu.f32": x != y, "nan.f32": x != x || y != y}[how]
		return true
	}
	f, ok := map[string]float64{"mov.f32": x, "neg.f32": -x, "abs.f32": math.Abs(x), "sqrt.rn.f32": math.Sqrt(x), "add.rn.f32": x + y, "sub.rn.f32": x - y,
		"mul.rn.f32": x * y, "div.rn.f32": x / y, "fma.rn.f32": x*y + z}[op]
	m.floats[args[0]] = f
	return ok
}

// call calls one of the two functions of kernels/formula.h, by the program of one
// instruction.
func (m *ptxMachine) call(name string) {
	in := bytecode.Instr{Code: bytecode.CodeEval, Fn: kernel.Op(m.params["fn"]), Dst: 1, Slope: 2}
	if name == "formula_math" {
		in.Code, in.Slope = bytecode.Code(m.params["code"]), 0
	}
	p := bytecode.Program{Outs: 2, Slots: 3, Code: []bytecode.Instr{in}}
	var out [2]float64
	p.At(m.params["x"], nil, out[:])
	m.params["y"], m.params["y'"] = out[0], out[1]
}

// NVIDIA's assembler accepts what is written for formulas.
func TestFormulasAssemble(t *testing.T) {
	ptxas := os.Getenv("UTVI_PTXAS")
	if ptxas == "" {
		t.Skip("not run: there is no assembler; set UTVI_PTXAS to NVIDIA's ptxas")
	}
	text := string(gpu.FormulaBase())
	for i, f := range compiledFormulas(t) {
		own := string(gpu.FormulaPTX(f.Formula))
		if i > 0 { // the kernel calls those of the first one
			own = strings.ReplaceAll(own, "code_", fmt.Sprintf("code%d_", i))
		}
		text += own
	}
	file := filepath.Join(t.TempDir(), "formulas.ptx")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), ptxas, "-arch=sm_75", file, "-o", os.DevNull).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// On a card, a compiled formula has the bits of an interpreted one.
func TestCompiledFormulas(t *testing.T) {
	e := card(t)
	if emulated(e) {
		t.Skip("not run: the emulated driver interprets formulas; a real card compiles them")
	}
	for _, f := range compiledFormulas(t) {
		if !e.Compiles(f.Formula) {
			t.Errorf("%s: the driver does not compile it", f.Name)
		}
		for _, rule := range []moment.Rule{moment.UT(2), moment.GaussHermite(9), moment.MonteCarlo(14), moment.Linear()} {
			n := network(t, 2, nn.Chain{nn.Dense{Out: 3}, nn.Apply{F: f, Rule: rule}, nn.Dense{Out: 1}})
			c := testCase{f.Name, 2, n.Layers.(nn.Chain), likelihood.Normal{}}
			results := func(interpret bool) (out gauss.Batch[float32], moments []float32) {
				defer gpu.SetInterpret(interpret)()
				p, err := e.Compile(n, nn.Independent)
				if err != nil {
					t.Fatal(err)
				}
				x := rows(77, 2, true)
				out = gauss.New[float32](x.Rows, 1)
				p.NewPredictor(compute.NewPool(1), x.Rows).Predict(x, out)
				job := engine.Job{Data: source(t, c, true, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 24, Seed: rng.New(9), Pool: compute.NewPool(1)}
				tr, err := e.Train(clone(n), job)
				if err != nil {
					t.Fatal(err)
				}
				tr.Gradient(1)
				tr.Update(engine.Update{Step: 1, Rate: 1e-2})
				if err := tr.Sync(); err != nil {
					t.Fatal(err)
				}
				return out, slices.Clone(tr.State().First.Theta)
			}
			a, ga := results(false)
			b, gb := results(true)
			if !slices.Equal(a.Mean, b.Mean) || !slices.Equal(a.Var, b.Var) || !slices.Equal(ga, gb) {
				t.Errorf("%s by %v: compiled and interpreted, results differ", f.Name, rule)
			}
		}
	}
	layers := nn.Chain{nn.Dense{Out: 256}, nn.Apply{F: fn.MustFormula("x*tanh(softplus(x))"), Rule: moment.GaussHermite(9)}, nn.Dense{Out: 1}}
	c := testCase{"mish", 64, layers, likelihood.Normal{}}
	for _, interpret := range []bool{true, false} {
		undo := gpu.SetInterpret(interpret)
		r, err := e.Time(network(t, c.in, c.layers), engine.Job{Data: source(t, c, false, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 256, Seed: rng.New(9), Pool: compute.NewPool(1)})
		undo()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("interpreted %v: forward %.1f µs, step %.1f µs", interpret, r.Forward, r.Step)
	}
}
