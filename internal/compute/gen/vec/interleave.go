package vec

import (
	"maps"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/reg"
)

// recording collects instructions instead of emitting them; nil: emit.
var recording *[]*ir.Instruction

// put emits what an instruction's constructor returned.
func put(i *ir.Instruction, err error) {
	if err != nil {
		panic(err)
	}
	if recording != nil {
		*recording = append(*recording, i)
		return
	}
	broadcast(i)
	build.Instruction(i)
}

// record returns the code of a piece without emitting it. The piece may use the
// emitters of this package only.
func record(piece func()) (code []*ir.Instruction) {
	outer := recording
	recording = &code
	piece()
	recording = outer
	return code
}

// interleave returns independent pieces of code, one instruction of each in
// turn. A processor looks ahead only so far: dependent instructions in a row
// fill its window with waiting, those of several vectors in turn keep it at work.
func interleave(pieces ...[]*ir.Instruction) (code []*ir.Instruction) {
	for i := 0; ; i++ {
		done := true
		for _, p := range pieces {
			if i < len(p) {
				code, done = append(code, p[i]), false
			}
		}
		if done {
			return code
		}
	}
}

// spread returns a and b with b spread evenly over a.
func spread(a, b []*ir.Instruction) (code []*ir.Instruction) {
	done := 0
	for i := range a {
		code = append(code, a[i])
		for ; done*len(a) < (i+1)*len(b); done++ {
			code = append(code, b[done])
		}
	}
	return code
}

// pressure is the number of vector registers that code needs in a loop.
func pressure(code []*ir.Instruction) int {
	written, live := map[reg.ID]bool{}, map[reg.ID]bool{}
	each := func(rs []reg.Register, do func(reg.ID)) {
		for _, r := range rs {
			if r.Kind() == reg.KindVector {
				do(r.ID())
			}
		}
	}
	for _, i := range code { // what is read before it is written lives throughout
		each(i.InputRegisters(), func(r reg.ID) {
			if !written[r] {
				live[r] = true
			}
		})
		each(i.OutputRegisters(), func(r reg.ID) { written[r] = true })
	}
	carried := maps.Clone(live)
	most := len(live)
	for k := len(code) - 1; k >= 0; k-- {
		each(code[k].OutputRegisters(), func(r reg.ID) { live[r] = true })
		most = max(most, len(live))
		each(code[k].OutputRegisters(), func(r reg.ID) {
			if !carried[r] {
				delete(live, r)
			}
		})
		each(code[k].InputRegisters(), func(r reg.ID) { live[r] = true })
	}
	return most
}
