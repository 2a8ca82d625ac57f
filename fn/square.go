package fn

import (
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// Square returns f(x) = x².
func Square() *moment.Func {
	return withExact(&moment.Func{
		Name: "square",
		F:    func(x float64) float64 { return x * x },
		DF:   func(x float64) float64 { return 2 * x },
		D2F:  func(float64) float64 { return 2 },
		Op:   kernel.OpSquare,
	}, squareMoments)
}

// squareMoments: mean m² + v, variance 4m²v + 2v².
func squareMoments(m, v float64) moment.Jet {
	return moment.Jet{
		Mean: m*m + v, Var: v * (4*m*m + 2*v),
		MeanByMean: 2 * m, MeanByVar: 1,
		VarByMean: 8 * m * v, VarByVar: 4 * (m*m + v),
	}
}
