package engine

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/nn"
)

// Explain runs the batch through the network once more and checks every layer.
func (t *trainer) Explain(what string) error {
	if err := t.params.CheckFinite(); err != nil {
		return err
	}
	var culprit string
	net := t.net
	if t.draws != nil {
		net.Fixed, net.Params = true, t.draws.drawn
	}
	b := &nn.Binder[float32]{Form: t.form}
	b.Observe = func(n *nn.Node[float32], out gauss.Batch[float32]) {
		if culprit == "" && !(compute.Finite(out.Mean...) && compute.Finite(out.Var...)) {
			culprit = n.Name
		}
	}
	unit, err := Bind(net, b)
	if err != nil {
		return err
	}
	Prepare(unit)
	watched := unit.NewRunner(t.rows, false)
	block := 0
	for rows := range t.shares.all {
		t.doBlock(0, block, rows)
		block++
		if watched.Forward(&t.scratch[0].pass); culprit != "" {
			return fmt.Errorf("the output of layer %s is not finite", culprit)
		}
		if err := t.unscored(rows); err != nil {
			return err
		}
	}
	if err := t.params.CheckGrads(); err != nil {
		return fmt.Errorf("%w; scale the targets to about 1, or lower the learning rate", err)
	}
	return fmt.Errorf("%s is not finite; check the targets and the learning rate", what)
}

// unscored returns an error with the targets of the first row of the last block that
// the likelihood cannot score.
func (t *trainer) unscored(rows span) error {
	k := t.Data.Targets()
	for i := range rows.to - rows.from {
		if !compute.Finite(t.nll[rows.from+i]) {
			return fmt.Errorf("likelihood %v cannot score the targets %v of a row with %d outputs", t.Likelihood, few(t.scratch[0].y[i*k:(i+1)*k]), t.unit.Out().Size())
		}
	}
	return nil
}

// few writes the targets of a row, or the first ones of an image of them.
func few(y []float32) string {
	const most = 12
	if len(y) <= most {
		return fmt.Sprint(y)
	}
	return fmt.Sprintf("%v … (%d in all)", y[:most], len(y))
}
