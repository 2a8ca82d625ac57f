package model

import (
	"fmt"

	"utvi/engine"
	"utvi/gauss"
	"utvi/nn"
)

// A Predictor runs rows through a network. It owns its scratch, so it must be used by
// one goroutine at a time; any number of predictors may share a network.
type Predictor[T gauss.Float] struct {
	net   *Net[T]
	pool  *engine.Pool
	rows  int                           // most rows of a call
	forms [nn.Forms]engine.Predictor[T] // by the form of the inputs, made on demand
	fixed [nn.Forms]bool                // the outputs have no variance
	out   gauss.Batch[T]
}

// NewPredictor returns a predictor for batches of at most maxBatch rows.
func (n *Net[T]) NewPredictor(maxBatch int) *Predictor[T] { return n.NewPredictorOn(nil, maxBatch) }

// NewPredictorOn returns a predictor that shares its work among a pool; nil stands for
// one worker.
func (n *Net[T]) NewPredictorOn(pool *engine.Pool, maxBatch int) *Predictor[T] {
	if maxBatch < 1 {
		panic("model: a predictor needs a batch size of at least 1")
	}
	if pool == nil {
		pool = engine.NewPool(1)
	}
	p := n.newPredictor(pool, maxBatch)
	if p.ready(nn.Fixed) != nil {
		panic("model: a network that was built cannot be bound again")
	}
	return p
}

// newPredictor returns a predictor that is not ready for any form of inputs.
func (n *Net[T]) newPredictor(pool *engine.Pool, maxBatch int) *Predictor[T] {
	return &Predictor[T]{net: n, pool: pool, rows: maxBatch, out: gauss.New[T](maxBatch, n.Outputs())}
}

// ready makes the predictor of a form of inputs.
func (p *Predictor[T]) ready(form nn.Form) error {
	if p.forms[form] == nil {
		program, err := p.net.program(form)
		if err != nil {
			return fmt.Errorf("the network does not take inputs with variances: %w", err)
		}
		p.forms[form] = program.NewPredictor(p.pool, p.rows)
		p.fixed[form] = program.Graph().To == nn.Fixed
	}
	return nil
}

// Predict returns the moments of the outputs for the rows of x. The result is valid
// until the next call. A row with a NaN, or with a number whose square overflows,
// gives NaN; other rows are not affected. Predict panics if the rows have the wrong
// width, there are too many, a variance is negative, or there are covariances; see TryPredict.
func (p *Predictor[T]) Predict(x gauss.Batch[T]) gauss.Batch[T] {
	p.check(x)
	form := nn.Fixed
	if x.Var != nil {
		form = nn.Independent
	}
	if p.ready(form) != nil {
		panic("model: the network does not take inputs with variances")
	}
	out, y := p.room(x.Rows, form)
	if x.Rows > 0 {
		p.forms[form].Predict(x, y)
	}
	return out
}

// check panics if the rows cannot be predicted.
func (p *Predictor[T]) check(x gauss.Batch[T]) {
	if x.Width != p.net.Inputs() {
		panic(fmt.Sprintf("model: a row has %d numbers; the network has %d inputs", x.Width, p.net.Inputs()))
	}
	if x.Rows > p.rows {
		panic("model: more rows than the predictor was made for")
	}
	if x.Cov != nil {
		panic("model: the inputs have covariances; a network takes independent ones")
	}
	if size := x.Rows * x.Width; len(x.Mean) < size || x.Var != nil && len(x.Var) < size {
		panic("model: the batch has too few numbers for its rows")
	}
	for _, v := range x.Var {
		if v < 0 {
			panic("model: an input variance is negative")
		}
	}
}

// room returns where predictions of some rows go, and the same as an engine fills it.
func (p *Predictor[T]) room(rows int, form nn.Form) (out, y gauss.Batch[T]) {
	out = p.out.Slice(0, rows)
	y = out
	if p.fixed[form] {
		y.Var = nil
		clear(out.Var)
	}
	return out, y
}
