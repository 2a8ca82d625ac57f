package predict

import (
	"utvi/dist"
	"utvi/engine"
	"utvi/model"
)

// ends are the ends of intervals that an engine finds for all rows of a batch at once.
type ends struct {
	by             engine.Intervals
	mean, variance [][]float32 // of each network
	lo, hi         []float64
	level          float64 // of the ends of the present rows; 0: they are not found yet
}

// newEnds returns the ends of a session of many rows, nil if the engine finds none.
func (m *Model) newEnds(rows int) *ends {
	if m.engine == nil || m.engine.Abilities().NewIntervals == nil || rows <= tiers[0] || m.Net == nil || m.classes != nil || m.counts {
		return nil
	}
	var shapes []engine.Shape
	for _, s := range m.Net.Residuals {
		shapes = append(shapes, engine.Shape{Weights: s.W, Factors: s.R})
	}
	n := rows * len(m.targets)
	found, err := m.engine.Abilities().NewIntervals(len(m.Networks.Members), n, shapes)
	if err != nil { // too little memory: the CPU finds them
		return nil
	}
	return &ends{by: found, lo: make([]float64, n), hi: make([]float64, n)}
}

// find finds the ends of all rows, unless they are there. It returns false if the engine
// fails.
func (e *ends) find(out *model.Predictions, level float64) bool {
	if e.level == level {
		return true
	}
	if e.mean == nil {
		for k := range out.Members() {
			mean, variance := out.Normals(k)
			e.mean, e.variance = append(e.mean, mean), append(e.variance, variance)
		}
	}
	if e.by.Find(level, len(out.Mean), e.mean, e.variance, e.lo, e.hi) != nil {
		return false
	}
	e.level = level
	return true
}

// interval is the interval of a target before any calibration.
func (b *Batch) interval(row, target int, level float64) (lo, hi float64) {
	s := b.s
	if s.ends != nil && s.m.warp(target) == nil {
		if s.ends.find(s.out, level) {
			i, t := row*len(s.m.targets)+target, &s.m.targets[target]
			return s.ends.lo[i]*t.scale + t.shift, s.ends.hi[i]*t.scale + t.shift
		}
		s.ends = nil
	}
	return dist.Interval(b.Raw(row, target), level)
}
