package gpu

import (
	"slices"

	"utvi/internal/cuda"
)

// launches lists the operations of a pass, and cuts them into stages: neighbours that act on
// rows are one.
type launches struct {
	ops     []op
	stages  []stage
	kept    []cuda.Ptr             // signals that are needed outside
	cuts    map[cuda.Ptr][3]planes // of signals, by their means
	sums    cuda.Ptr               // of the product under way, if its operands are cut
	results cuda.Ptr               // of training; 0: the network predicts
}

// last returns the stage that was added last; nil: there is none.
func (b *launches) last() stage {
	if len(b.stages) == 0 {
		return nil
	}
	return b.stages[len(b.stages)-1]
}

// add adds an operation on rows.
func (b *launches) add(o op) {
	s, ok := b.last().(*rowsStage)
	if !ok || s.first.Count == mostOps {
		s = &rowsStage{list: b, first: rowsArgs{First: int32(len(b.ops))}}
		b.stages = append(b.stages, s)
	}
	b.ops = append(b.ops, o)
	s.add(o)
}

// keep says that signals are needed outside of the launches.
func (b *launches) keep(signals ...cuda.Ptr) {
	b.kept = append(b.kept, slices.DeleteFunc(signals, func(p cuda.Ptr) bool { return p == 0 })...)
}

// open returns the product that was added last, if no function is part of it and nothing
// followed it.
func (b *launches) open() *product {
	s := b.last()
	if s == nil {
		return nil
	}
	if p := s.result(); p != nil && p.Fused == 0 {
		return p
	}
	return nil
}

// forward adds the forward operation of a layer.
func (b *launches) forward(w *weights, l *layer, o op, rows int) {
	if l.formula != nil {
		b.addFormula(l, o)
		return
	}
	if p := b.open(); p != nil && p.O0 == o.M && l.fusable() {
		p.Fused = 1
		p.F = o.F
		p.P0 = o.OM
		p.P1 = o.OV
		return
	}
	p := product{A0: o.M, A1: o.V, B0: o.W, B1: o.S, Cols: o.Out, Depth: o.In, O0: o.OM, O1: o.OV, E0: o.B, E1: o.BS}
	switch l.mode {
	case ownConv:
		b.stages = append(b.stages, &convStage{conv: convForward(l, o)})
		b.apart(o)
	case onPlanes:
		b.multiplyPlanes(w, l, p, false, rows)
	case narrow:
		b.multiplyNarrow(p, o, false)
	case ownProduct:
		b.stages = append(b.stages, &productStage{p: p})
	default:
		b.add(o)
	}
}

// backward adds the reverse of a layer.
func (b *launches) backward(w *weights, l *layer, o op, rows int) {
	if p := b.open(); p != nil && p.O0 == o.G && l.fusable() {
		p.Fused = 1
		p.F = o.F
		p.Q0 = o.M
		p.Q1 = o.V
		p.O0 = o.DM
		p.O1 = o.DV
		return
	}
	if l.kind == opConv {
		b.stages = append(b.stages, &convStage{conv: convBackward(l, o), back: true})
		b.apartBack(o)
		return
	}
	o.Kind++
	if l.formula != nil {
		b.addFormula(l, o)
		return
	}
	p := product{A0: o.G, A1: o.H, B0: o.W, B1: o.S, Cols: o.In, Depth: o.Out, O0: o.DM, O1: o.DV, E0: o.M}
	switch l.mode {
	case onPlanes:
		b.multiplyPlanes(w, l, p, true, rows)
	case narrow:
		b.multiplyNarrow(p, o, true)
	case ownProduct:
		b.stages = append(b.stages, &productStage{p: p, back: true})
	default:
		b.add(o)
	}
}

// scoreAt is the number of the operation that scores the outputs; behind the last one if there
// is none.
func (b *launches) scoreAt() int {
	at := slices.IndexFunc(b.ops, func(o op) bool { return o.Kind == opScore })
	if at < 0 {
		return len(b.ops)
	}
	return at
}

// A stagedPass runs the stages of a network, one behind the other.
type stagedPass struct {
	*launches
	w     *weights
	score int // number of the operation that scores
}

// newStagedPass copies the operations to the card.
func newStagedPass(w *weights, b *launches) *stagedPass {
	ops := place(w.memory, b.ops, sizeOp)
	for _, s := range b.stages {
		s.place(w, ops, b.results)
	}
	return &stagedPass{launches: b, w: w, score: b.scoreAt()}
}

func (p *stagedPass) forward(rows int) error { return p.runTo(rows, p.score) }

func (p *stagedPass) whole(rows int) error { return p.runTo(rows, len(p.ops)) }

// runTo queues what comes before an operation on rows.
func (p *stagedPass) runTo(rows, last int) error {
	for i := 0; i < len(p.stages); i++ {
		if n, ok := p.stages[i].(*narrowStage); ok && p.scores(i, last) {
			i++ // it is part of this launch
			if err := n.runWith(p.w, p.stages[i].(*rowsStage), rows); err != nil {
				return err
			}
			continue
		}
		if s, ok := p.stages[i].(*rowsStage); ok && last < int(s.first.First+s.first.Count) {
			return s.runSome(p.w, rows, last-int(s.first.First))
		}
		if err := p.stages[i].run(p.w, rows); err != nil {
			return err
		}
	}
	return nil
}
