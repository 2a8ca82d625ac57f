package gpu_test

import (
	"utvi/fn"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
)

// layerCases are networks with layers that move, embed or normalise units.
func layerCases() []testCase {
	leaky := nn.Apply{F: fn.LeakyReLU(0.01)}
	edges := nn.Piecewise{Edges: [][]float64{{-1.3, -0.2, 0.1, 0.9}, nil, {-2, 2.5}}}
	branch := nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 6}}
	return []testCase{
		{"table", 3, nn.Chain{edges, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 4}, nn.Append{Count: 2, Start: -1}}, likelihood.Heteroscedastic{Common: 0.3}},
		{"embedded later", 2, nn.Chain{nn.Dense{Out: 3}, edges, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"correlated table", 3, append(nn.Correlate(nn.Chain{edges, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 2}}), nn.Append{Count: 1, Start: -1}), likelihood.Heteroscedastic{Common: 0.5}},
		{"correlated, embedded later", 2, nn.Correlate(nn.Chain{nn.Dense{Out: 3}, edges, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"residual", 2, nn.Chain{nn.Dense{Out: 6}, nn.Residual{Branch: branch}, leaky, nn.Residual{Branch: nn.Chain{nn.Residual{Branch: branch}, nn.Dense{Out: 6}}}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"residual of numbers", 3, nn.Chain{nn.Residual{Branch: nn.Dense{Out: 3}}, nn.Residual{Branch: nn.Dense{Out: 3, Fixed: true}}}, likelihood.Normal{}},
		{"norms", 3, nn.Chain{nn.Dense{Out: 6}, nn.BatchNorm{Mean: []float64{1, 2, 3, 0, 0, 1}, Var: []float64{1, 2, 1, 3, 1, 0.5}, Gain: []float64{1, 2, 1, -1, 1, 1}},
			nn.LayerNorm{}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.LayerNorm{FixedMean: true, Eps: 0.1}, nn.Dense{Out: 2}}, likelihood.Normal{}},
	}
}
