package fn

import (
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// Identity returns f(x) = x.
func Identity() *moment.Func {
	return withExact(&moment.Func{
		Name: "identity",
		F:    func(x float64) float64 { return x },
		DF:   func(float64) float64 { return 1 },
		D2F:  zero,
		Op:   kernel.OpIdentity,
	}, identityMoments)
}

func zero(float64) float64 { return 0 }

func identityMoments(m, v float64) moment.Jet {
	return moment.Jet{Mean: m, Var: v, MeanByMean: 1, VarByVar: 1}
}
