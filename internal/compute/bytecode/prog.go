// Package bytecode runs formulas: straight-line programs over slots, and machines for them.
package bytecode

import (
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
)

// A Program is a straight-line program over slots, each of which holds one vector:
// how a formula runs. The slots are, in this order, x, the parameters, the
// constants, the outputs and the temporaries. Every instruction reads slots that
// are set and writes slots that are not inputs. Package expr makes programs; a
// Machine runs one over slices, At at a single number.
type Program struct {
	Params int       // parameter slots behind x
	Consts []float64 // constant slots behind them
	Outs   int       // output slots behind those
	Slots  int       // all of them
	Code   []Instr
}

// An Instr is one instruction: Dst = Code(X, Y, Z).
type Instr struct {
	Code    Code
	Fn      kernel.Op // of CodeEval
	X, Y, Z uint16
	Dst     uint16
	Slope   uint16 // of CodeEval: where Fn' goes; 0 if nobody asks
}

// A Code says what an instruction computes. Comparisons give 1 or 0, and 0 where
// an operand is NaN; Min, Max and Sign of NaN are NaN.
type Code uint8

// The codes of instructions.
const (
	CodeCopy     Code = iota
	CodeAdd           // x + y
	CodeSub           // x − y
	CodeMul           // x·y
	CodeDiv           // x / y
	CodeMulAdd        // x·y + z
	CodeMulSub        // x·y − z
	CodeSubMul        // z − x·y
	CodeNeg           // −x
	CodeAbs           // |x|
	CodeSign          // −1, 0 or 1
	CodeMin           // the lesser of x and y
	CodeMax           // the greater
	CodeLess          // x < y
	CodeAtMost        // x ≤ y
	CodeEqual         // x = y
	CodeNotEqual      // x ≠ y
	CodeSelect        // y where x ≠ 0, else z
	CodeSqrt          // √x
	CodeLog           // ln x
	CodeLog1p         // ln(1+x)
	CodeExpm1         // eˣ−1
	CodeAtan          // arctan x
	CodeBend          // Fn″(x), in float64 for every family
	CodeEval          // Fn(x), and its slope
	NumCodes
)

// First returns the slot of the first output.
func (p *Program) First() int { return 1 + p.Params + len(p.Consts) }

// progChunk is how many elements a machine takes at a time: its slots stay in the
// first-level cache, and calling an instruction costs little beside running it.
const progChunk = 256

// A Machine is a program with its scratch. It belongs to one goroutine.
type Machine[T compute.Float] struct {
	prog *Program
	at   []*T // where each slot begins, for the chunk under way
	x    []T  // a copy of x, where an output overwrites it
}

// NewMachine gives a program its scratch and sets the constants.
func NewMachine[T compute.Float](p *Program) *Machine[T] {
	m := &Machine[T]{prog: p, at: make([]*T, p.Slots)}
	own := len(p.Consts) + p.Slots - p.First() - p.Outs
	scratch := make([]T, (own+1)*progChunk)
	cut := func() []T {
		s := scratch[:progChunk:progChunk]
		scratch = scratch[progChunk:]
		return s
	}
	m.x = cut()
	for i, c := range p.Consts {
		s := cut()
		for k := range s {
			s[k] = T(c)
		}
		m.at[1+p.Params+i] = &s[0]
	}
	for i := p.First() + p.Outs; i < p.Slots; i++ {
		m.at[i] = &cut()[0]
	}
	return m
}

// Run computes the outputs for all elements of x. Parameters have one value an
// element. An output may be x itself, but not a parameter or another output. The
// bits of an element depend on its x and its parameters alone.
func (m *Machine[T]) Run(x []T, params, out [][]T) {
	p := m.prog
	if len(params) != p.Params || len(out) != p.Outs {
		panic("compute: a program is run with other inputs or outputs than it has")
	}
	for _, s := range params {
		if len(s) < len(x) {
			panic("compute: a parameter has fewer values than x")
		}
	}
	copied := false
	for _, s := range out {
		if len(s) < len(x) {
			panic("compute: an output is shorter than x")
		}
		copied = copied || len(x) > 0 && &s[0] == &x[0]
	}
	for lo := 0; lo < len(x); lo += progChunk {
		n := min(progChunk, len(x)-lo)
		m.at[0] = &x[lo]
		if copied {
			copy(m.x, x[lo:lo+n])
			m.at[0] = &m.x[0]
		}
		for i, s := range params {
			m.at[1+i] = &s[lo]
		}
		for i, s := range out {
			m.at[p.First()+i] = &s[lo]
		}
		if cpu.Is32[T]() && cpu.Vector {
			runVector(p.Code, *(*[]*float32)(unsafe.Pointer(&m.at)), n)
		} else {
			runGo(p.Code, m.at, n)
		}
	}
}
