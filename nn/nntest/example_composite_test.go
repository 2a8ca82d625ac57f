package nntest_test

import (
	"fmt"
	"log"

	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
)

// A Sum adds two branches of one input, taken as independent.
type Sum struct {
	A, B nn.Layer `json:"-"` // saved as children
}

// Kind implements nn.Layer.
func (Sum) Kind() string { return "both" }

// Children and WithChildren implement nn.Composite.
func (l Sum) Children() []nn.Layer             { return []nn.Layer{l.A, l.B} }
func (Sum) WithChildren(c []nn.Layer) nn.Layer { return Sum{c[0], c[1]} }

// Bind32 and Bind64 are one line over the same generic body.
func (l Sum) Bind32(b *nn.Binder[float32]) (nn.Unit[float32], error) { return bindSum(l, b) }
func (l Sum) Bind64(b *nn.Binder[float64]) (nn.Unit[float64], error) { return bindSum(l, b) }

type sum[T gauss.Float] struct {
	branches [2]nn.Unit[T]
	in       int
	from     nn.Form // of the input
}

func bindSum[T gauss.Float](l Sum, b *nn.Binder[T]) (nn.Unit[T], error) {
	u := &sum[T]{in: b.In.Size(), from: b.Form}
	for i, child := range l.Children() {
		var err error
		u.branches[i], err = nn.BindChild(child, b, string("ab"[i]))
		if err != nil {
			return nil, err
		}
	}
	if a, b := u.branches[0].Out(), u.branches[1].Out(); a != b {
		return nil, fmt.Errorf("its branches give %v and %v units; they must give the same shape", a, b)
	}
	return u, nil
}

// The tiles and the tape of a composite are those of its children, one after another.
func (u *sum[T]) Out() nn.Shape { return u.branches[0].Out() }
func (u *sum[T]) Form() nn.Form {
	return min(max(u.branches[0].Form(), u.branches[1].Form()), nn.Independent)
}
func (u *sum[T]) TapeWidth() int { return u.branches[0].TapeWidth() + u.branches[1].TapeWidth() }
func (u *sum[T]) GradTiles() int { return u.branches[0].GradTiles() + u.branches[1].GradTiles() }
func (u *sum[T]) PrepareTiles() int {
	return u.branches[0].PrepareTiles() + u.branches[1].PrepareTiles()
}

func (u *sum[T]) NewRunner(maxRows int, train bool) nn.Runner[T] {
	r := &sumRunner[T]{sum: u}
	for i, b := range u.branches {
		r.runners[i] = b.NewRunner(maxRows, train)
		r.outs[i] = room[T](maxRows, b.Out().Size(), b.Form())
	}
	if train {
		r.din = room[T](maxRows, u.in, u.from)
	}
	return r
}

// room makes room for signals of a form.
func room[T gauss.Float](rows, width int, form nn.Form) gauss.Batch[T] {
	b := gauss.New[T](rows, width)
	if form == nn.Fixed {
		b.Var = nil
	}
	return b
}

type sumRunner[T gauss.Float] struct {
	*sum[T]
	runners [2]nn.Runner[T]
	passes  [2]nn.Pass[T] // of the block that Forward saw last
	outs    [2]gauss.Batch[T]
	din     gauss.Batch[T] // what the second branch gives back
	blocks  []nn.Block[T]
}

func (r *sumRunner[T]) Prepare(tile int) {
	if first := r.branches[0].PrepareTiles(); tile >= first {
		r.runners[1].Prepare(tile - first)
		return
	}
	r.runners[0].Prepare(tile)
}

// part is child i's part of a tape; a prediction has none.
func (u *sum[T]) part(tape []T, rows, i int) []T {
	cut := min(len(tape), rows*u.branches[0].TapeWidth())
	if i == 0 {
		return tape[:cut]
	}
	return tape[cut:]
}

func (r *sumRunner[T]) Forward(p *nn.Pass[T]) {
	clear(p.Out.Mean)
	clear(p.Out.Var)
	for i, run := range r.runners {
		q := &r.passes[i]
		*q = *p
		q.Out, q.Tape = r.outs[i].Slice(0, p.In.Rows), r.part(p.Tape, p.In.Rows, i)
		run.Forward(q)
		add(p.Out.Mean, q.Out.Mean)
		add(p.Out.Var, q.Out.Var)
	}
}

// Backward gives both branches the gradient of their sum. Each writes its DIn, so the
// second one gets room of its own.
func (r *sumRunner[T]) Backward(p *nn.Pass[T]) {
	for i, run := range r.runners {
		q := &r.passes[i]
		q.DOut, q.DIn = p.DOut, p.DIn
		if r.branches[i].Form() == nn.Fixed {
			q.DOut.Var = nil
		}
		if i == 1 && p.DIn.Mean != nil {
			q.DIn = r.din.Slice(0, p.In.Rows)
		}
		run.Backward(q)
	}
	if p.DIn.Mean != nil {
		add(p.DIn.Mean, r.passes[1].DIn.Mean)
		add(p.DIn.Var, r.passes[1].DIn.Var)
	}
}

func (r *sumRunner[T]) Gradient(tile int, blocks []nn.Block[T]) {
	i := 0
	if first := r.branches[0].GradTiles(); tile >= first {
		i, tile = 1, tile-first
	}
	r.blocks = r.blocks[:0]
	for _, b := range blocks {
		r.blocks = append(r.blocks, nn.Block[T]{Rows: b.Rows, Tape: r.part(b.Tape, b.Rows, i)})
	}
	r.runners[i].Gradient(tile, r.blocks)
}

func add[T gauss.Float](dst, x []T) {
	for i, x := range x {
		dst[i] += x
	}
}

// A layer made of layers. Its test is one line:
//
//	nntest.Layer(t, Sum{nn.Dense{Out: 3}, nn.Dense{Out: 3}}, nn.Vec(4), nntest.Options{})
//
// It is loaded with model.WithLayer(Sum{}).
func ExampleLayer_composite() {
	net, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{
		Sum{nn.Apply{F: fn.Identity()}, nn.Multiply{By: []float64{3}}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	y := net.NewPredictor(1).Predict(gauss.FromStd(1, []float32{2}, []float32{0.5}))
	fmt.Printf("mean %.2f, variance %.2f\n", y.Mean, y.Var)
	// Output:
	// mean [8.00], variance [2.50]
}
