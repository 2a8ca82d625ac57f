package gpu

import "utvi/internal/cuda"

// wantCovariances marks the layers whose outputs need covariances: those between layers
// that carry correlations and a layer that takes covariances.
func (p *plan) wantCovariances() error {
	for i := range p.layers {
		if !p.layers[i].needs {
			continue
		}
		for j := i - 1; j >= 0 && !p.layers[j].cov; j-- {
			l := &p.layers[j]
			l.cov = true
			if l.last {
				break
			}
			if l.kind == opApply && (l.f.Rule == learned || l.f.Rule == bySamples) {
				return &Unsupported{l.name, "covariances pass it, and its rule is learned or draws; ut(2) or gh(9) would run"}
			}
		}
	}
	return nil
}

// covariance gives an operation the covariances that it needs, and its output room for
// those that layers behind it need. It returns where the layer writes its slopes, 0 if
// they are 1.
func (w *weights) covariance(l *layer, o *op, out *signal, rows int) (slopes cuda.Ptr) {
	if !l.cov {
		return 0
	}
	out.c = w.floats(rows * l.out * l.out)
	if l.sense {
		return 0
	}
	switch l.kind {
	case opApply:
		o.DM, o.Tape = w.floats(rows*l.out), w.floats(rows*l.out)
	case opScale, opMultiply:
		o.DM = w.floats(rows * l.out)
	}
	return o.DM
}

// scaleCovariance adds the operation that carries covariances through a layer.
func (b *launches) scaleCovariance(l *layer, in, out signal, slopes cuda.Ptr) {
	if out.c != 0 {
		x := op{Kind: opCov, In: int32(l.in), M: slopes, V: out.v, Cov: out.c}
		x.setExtra(in.c, 0, 0)
		b.add(x)
	}
}

// covarianceBack adds the reverse of scaleCovariance, and tells the reverse of the layer
// what reaches it through its slopes. It returns the gradients by the covariances of the
// input, 0 if it has none.
func (s *stepList) covarianceBack(l *layer, o *op, in, d signal) cuda.Ptr {
	if in.c == 0 || l.sense {
		return 0
	}
	w := s.w
	by := w.floats(s.rows * l.in * l.in)
	if l.needs {
		o.DCov = by
		return by
	}
	slopes := o.DM
	o.DM = 0
	o.Tape = 0
	x := op{Kind: opCovBack, In: int32(l.in), M: slopes, S: d.c, DCov: by}
	x.setExtra(in.c, 0, 0)
	if slopes != 0 {
		x.DM = w.floats(s.rows * l.in)
		o.setExtra(x.DM, w.zeros(s.rows*l.in), 0)
	}
	s.pass.add(x)
	return by
}
