package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/affine"
)

// Share lets a runner split the outputs of wide layers among the workers of a pool. It is
// for prediction of a few rows, which are too few to be split themselves: Forward must
// then not be called from a task of the pool. Bits do not depend on it.
func Share[T gauss.Float](r Runner[T], pool *compute.Pool) {
	if s, ok := r.(sharer); ok {
		s.share(pool)
	}
}

// A sharer is a runner that can use a pool.
type sharer interface{ share(pool *compute.Pool) }

func (r *chainRunner[T]) share(pool *compute.Pool) {
	for _, child := range r.runners {
		Share(child, pool)
	}
}

func (r *residualRunner[T]) share(pool *compute.Pool) { Share(r.Runner, pool) }

// A denseShare is what the workers of a pool need of a pass through a dense layer.
type denseShare[T gauss.Float] struct {
	pool    *compute.Pool
	dense   *affine.Dense[T]
	in, out gauss.Batch[T]
	squares []T
	parts   int
	run     func(worker, part int)
}

func (r *denseRunner[T]) share(pool *compute.Pool) {
	s := &denseShare[T]{pool: pool, dense: r.dense, squares: r.scratch}
	s.parts = r.dense.Parts(4 * pool.Workers())
	if s.parts > 1 {
		s.run = s.part
		r.shared = s
	}
}

func (s *denseShare[T]) forward(p *Pass[T]) {
	s.in, s.out = p.In, p.Out
	s.dense.Squares(p.In.Rows, p.In.Mean, s.squares)
	s.pool.Run(s.parts, s.run)
}

func (s *denseShare[T]) part(_, part int) {
	s.dense.ForwardPart(part, s.parts, s.in.Rows, s.in.Mean, s.in.Var, s.out.Mean, s.out.Var, s.squares)
}
