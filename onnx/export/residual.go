package export

import "utvi/nn"

// residual adds a branch to its input, or to what a skip makes of it.
func (w *writer) residual(n *node, l nn.Residual, in signal, out *signal) (back, error) {
	if a, ok := l.Elementwise(); ok {
		return w.apply(n, a, in, out)
	}
	branch, b, err := w.layer(n.Children[0], in)
	if err != nil {
		return nil, err
	}
	skip, through := w.whole(in), w.pass(in)
	if len(n.Children) > 1 {
		skip, through, err = w.layer(n.Children[1], in)
		if err != nil {
			return nil, err
		}
	}
	w.Scope(w.prefix + n.Name)
	out.mean = w.add(branch.mean, skip.mean)
	switch {
	case skip.form == nn.Fixed:
		out.variance = branch.variance
	case branch.form == nn.Fixed:
		out.variance = skip.variance
	default:
		out.variance = w.add(skip.variance, branch.variance)
	}
	if b == nil && through == nil {
		return nil, nil
	}
	return func(s *sensed, a value) value {
		var roads []value
		for _, road := range []back{through, b} {
			if road != nil {
				roads = append(roads, road(s, a))
			}
		}
		if in.form == nn.Fixed {
			return ""
		}
		return w.total(roads)
	}, nil
}
