package gpu

import (
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/bytecode"
	"utvi/internal/cuda"
	"utvi/internal/expr"
)

// A formula runs in a launch of its own, whose kernel is compiled for the formula or
// interprets the programs that package expr made of it. The structures are those of
// kernels/formula.h.

// mostSlots is the most slots of a program, inputs and constants not counted.
const mostSlots, mostInputs = 64, 16

const sizeInstr, sizeFormula = 12, 296

type instr struct {
	Code, Fn            uint8
	X, Y, Z, Dst, Slope uint16
}

type code struct {
	Instr, Consts         cuda.Ptr
	Count, First, Outs, _ int32
}

type formula struct {
	Value, Train, Limit code
	At                  [mostInputs]cuda.Ptr
	Step                [mostInputs]int32
	Inputs, Learned     int32
}

var _ = [1]struct{}{}[unsafe.Sizeof(instr{})-sizeInstr]
var _ = [1]struct{}{}[unsafe.Sizeof(formula{})-sizeFormula]

// slotsOf returns the most slots that a program of the formula needs.
func slotsOf(f *expr.Formula) int {
	most := 0
	for _, p := range []*bytecode.Program{f.Value, f.Train, f.Limit} {
		most = max(most, p.Slots-p.First())
	}
	return most
}

// placeFormula copies the formula of a layer to the card.
func (w *weights) placeFormula(l *layer) cuda.Ptr {
	f := l.formula
	x := formula{Value: w.placeCode(f.Value), Train: w.placeCode(f.Train), Limit: w.placeCode(f.Limit), Inputs: int32(len(f.Inputs)), Learned: int32(f.Learned)}
	for i, p := range f.Inputs {
		if p.OnePerUnit() {
			x.Step[i] = 1
		}
		if i < f.Learned {
			x.At[i] = w.at(l.learnedTensor(i))
			continue
		}
		values := make([]float32, l.in)
		compute.Convert(values, p.Values)
		x.At[i] = place(w.memory, values, 4)
	}
	return place(w.memory, []formula{x}, sizeFormula)
}

// learnedTensor returns the number of the tensor of a learned input: κ lies before them.
func (l *layer) learnedTensor(i int) int {
	if l.f.Rule == learned {
		i++
	}
	return l.tensors[i]
}

func (w *weights) placeCode(p *bytecode.Program) code {
	consts := make([]float32, len(p.Consts))
	compute.Convert(consts, p.Consts)
	all := make([]instr, len(p.Code))
	for i, c := range p.Code {
		all[i] = instr{uint8(c.Code), uint8(c.Fn), c.X, c.Y, c.Z, c.Dst, c.Slope}
	}
	return code{Instr: place(w.memory, all, sizeInstr), Consts: place(w.memory, consts, 4), Count: int32(len(all)), First: int32(p.First()), Outs: int32(p.Outs)}
}

type formulaArgs struct {
	Op, Program      cuda.Ptr
	Rows, _          int32
	Control, Results cuda.Ptr
}

// formulaStage is the launch of an operation with a formula.
type formulaStage struct {
	o      op
	number int         // of the operation
	kernel cuda.Kernel // compiled for the formula, or the one that interprets all
	args   many[formulaArgs]
}

// formulaThreads is how many threads a block of the kernel formulas has.
const formulaThreads = 128

// addFormula adds an operation whose function is the formula at o.Raw.
func (b *launches) addFormula(l *layer, o op) {
	f := &formulaStage{o: o, number: len(b.ops), kernel: l.kernel, args: many[formulaArgs]{One: formulaArgs{Program: o.Raw}}}
	b.ops = append(b.ops, o)
	b.stages = append(b.stages, f)
}

func (f *formulaStage) result() *product { return nil }

func (f *formulaStage) reads() []cuda.Ptr { return []cuda.Ptr{f.o.M, f.o.V, f.o.G, f.o.H, f.o.Y} }

func (f *formulaStage) place(w *weights, ops, results cuda.Ptr) {
	a := &f.args.One
	a.Op = ops.Add(f.number * sizeOp)
	a.Control = w.control
	a.Results = results
}

func (f *formulaStage) run(w *weights, rows int) error {
	f.args.One.Rows = int32(rows)
	blocks := tiles(rows*int(f.o.In), formulaThreads)
	if f.o.Kind == opApplyBack && f.o.Tape != 0 { // a block takes a row, and sums up gradients over it
		blocks = rows
	}
	return launch(w, f.kernel, cuda.Grid{X: blocks}, formulaThreads, &f.args)
}

// formulaTapes gives the reverse of a layer with a formula its tapes: of κ, then of each
// learned input.
func (s *stepList) formulaTapes(l *layer, o *op) []tape {
	var all []tape
	if l.f.Rule == learned {
		all = append(all, tape{width: 1, tensor: l.tensors[0], mode: bySoftplus})
	}
	for i, p := range l.formula.Inputs[:l.formula.Learned] {
		x := tape{width: 1, tensor: l.learnedTensor(i), mode: byItself}
		if p.OnePerUnit() {
			x.width = l.in
		}
		all = append(all, x)
	}
	columns := 0
	for i := range all {
		all[i].at = cuda.Ptr(0).Add(4 * s.rows * columns)
		columns += all[i].width
	}
	if columns == 0 {
		return nil
	}
	o.Tape = s.w.floats(s.rows * columns)
	for i := range all {
		all[i].at += o.Tape
	}
	return all
}
