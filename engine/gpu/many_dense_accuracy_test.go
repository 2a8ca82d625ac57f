package gpu_test

import (
	"math"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// The gradients of a network that is one of many are as accurate as float32: their largest error against float64,
// by the largest of a tensor, is at most twice that of the CPU.
func TestManyDenseAccuracy(t *testing.T) {
	e := card(t)
	if !e.HasManyDense() {
		t.Skip("not run: many dense nets have kernels of their own on Hopper's cards")
	}
	const slope = 0.0078125 // the same in float32
	act := nn.Apply{F: fn.LeakyReLU(slope), Rule: moment.UT(2)}
	rows := 1024
	if emulated(e) {
		rows = 256
	}
	b, s := someRows(t, rows, 1, 1, false)
	n := network(t, 1, nn.Chain{nn.Dense{Out: 128}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: 1}})
	y := make([]float32, rows)
	for i := range y {
		y[i] = float32(rng.Normal(rng.New(3), uint64(i)))
	}
	o := optim.Paper()
	job := engine.Job{Data: s, Likelihood: likelihood.Normal{}, Optimizer: o, Batch: rows, Seed: rng.New(9), Pool: compute.NewPool(1), Beside: gpu.ManyFrom}
	var theta [][]float64
	for _, x := range n.Params.Tensors {
		theta = append(theta, doubles(x.Mean), doubles(x.Rho))
	}
	want := gradients64(theta, doubles(b.Mean), doubles(y), slope)
	cpu, card := firstMoments(t, engine.CPU[float32](), n, job), firstMoments(t, e, network(t, 1, n.Layers.(nn.Chain)), job)
	by := 1 - o.Beta1
	var onCPU, onCard float64
	for i := range want {
		var most, a, b float64
		for j, x := range want[i] {
			x *= by
			most = max(most, math.Abs(x))
			a = max(a, math.Abs(cpu[i][j]-x))
			b = max(b, math.Abs(card[i][j]-x))
		}
		onCPU, onCard = max(onCPU, a/most), max(onCard, b/most)
	}
	t.Logf("largest error by the largest gradient of a tensor: CPU %.2e, card %.2e", onCPU, onCard)
	if !(onCard <= 2*onCPU) {
		t.Errorf("largest error by the largest gradient of a tensor: CPU %.2e, card %.2e", onCPU, onCard)
	}
}

func doubles(x []float32) []float64 {
	y := make([]float64, len(x))
	compute.Convert(y, x)
	return y
}

// firstMoments are AdamW's first moments after a step: of the means of each tensor, then of its spreads.
func firstMoments(t *testing.T, e engine.Engine[float32], n engine.Network[float32], job engine.Job) (out [][]float64) {
	t.Helper()
	tr, err := e.Train(n, job)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := tr.(interface{ Close() error }); ok {
		defer c.Close()
	}
	tr.Gradient(1)
	tr.Update(engine.Update{Step: 1, Rate: 1e-2})
	if err := tr.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, x := range tr.State().First.Tensors {
		out = append(out, doubles(x.Mean), doubles(x.Rho))
	}
	return out
}

// gradients64 are the gradients of the mean score of rows with one input and one target, in float64: by the means of each
// tensor of a network with two layers of 128 units and leaky ReLUs by UT(2), then by its spreads.
func gradients64(theta [][]float64, xs, ys []float64, slope float64) [][]float64 {
	const n = 128
	g, vars := make([][]float64, len(theta)), make([][]float64, len(theta))
	for i, x := range theta {
		g[i] = make([]float64, len(x))
		if i%2 == 1 {
			for _, rho := range x {
				s := math.Log1p(math.Exp(rho))
				vars[i] = append(vars[i], s*s)
			}
		}
	}
	w0 := theta[0]
	s0 := vars[1]
	b0 := theta[2]
	c0 := vars[3]
	w1 := theta[4]
	s1 := vars[5]
	b1 := theta[6]
	c1 := vars[7]
	w2 := theta[8]
	s2 := vars[9]
	for r, x := range xs {
		var a, z [n]bent
		var zm, zv [n]float64
		for j := range n {
			a[j] = bend(x*w0[j]+b0[j], x*x*s0[j]+c0[j], slope)
			zm[j], zv[j] = b1[j], c1[j]
		}
		for i := range n {
			for j := range n {
				w, s := w1[i*n+j], s1[i*n+j]
				zm[j] += a[i].m * w
				zv[j] += a[i].m*a[i].m*s + a[i].v*(w*w+s)
			}
		}
		m, v := theta[10][0], vars[11][0]
		for j := range n {
			z[j] = bend(zm[j], zv[j], slope)
			m += z[j].m * w2[j]
			v += z[j].m*z[j].m*s2[j] + z[j].v*(w2[j]*w2[j]+s2[j])
		}
		by := 1 / float64(len(xs))
		e := m - ys[r]
		gm, gv := e/v*by, 0.5/v*(1-e*e/v)*by
		g[10][0] += gm
		g[11][0] += gv
		var dm, dv [n]float64
		for j := range n {
			g[8][j] += z[j].m*gm + 2*w2[j]*z[j].v*gv
			g[9][j] += (z[j].m*z[j].m + z[j].v) * gv
			am, av := gm*w2[j]+2*z[j].m*gv*s2[j], gv*(w2[j]*w2[j]+s2[j])
			dm[j], dv[j] = am*z[j].mm+av*z[j].vm, am*z[j].mv+av*z[j].vv
			g[6][j] += dm[j]
			g[7][j] += dv[j]
		}
		for i := range n {
			var am, av float64
			for j := range n {
				w, s := w1[i*n+j], s1[i*n+j]
				am += dm[j]*w + 2*a[i].m*dv[j]*s
				av += dv[j] * (w*w + s)
				g[4][i*n+j] += a[i].m*dm[j] + 2*w*a[i].v*dv[j]
				g[5][i*n+j] += (a[i].m*a[i].m + a[i].v) * dv[j]
			}
			p, q := am*a[i].mm+av*a[i].vm, am*a[i].mv+av*a[i].vv
			g[0][i] += x * p
			g[1][i] += x * x * q
			g[2][i] += p
			g[3][i] += q
		}
	}
	for i := 1; i < len(g); i += 2 {
		for j, rho := range theta[i] {
			g[i][j] *= 2 * math.Log1p(math.Exp(rho)) / (1 + math.Exp(-rho))
		}
	}
	return g
}

// A bent is mean and variance behind a leaky ReLU, and their slopes.
type bent struct{ m, v, mm, mv, vm, vv float64 }

func bend(m, v, slope float64) (o bent) {
	sd := math.Sqrt(v)
	var y, d [3]float64
	xi, w := [3]float64{0, math.Sqrt(3), -math.Sqrt(3)}, [3]float64{2. / 3, 1. / 6, 1. / 6}
	for i := range 3 {
		x := m + xi[i]*sd
		d[i] = 1
		if x <= 0 {
			d[i] = slope
		}
		y[i] = d[i] * x
		o.m += w[i] * y[i]
	}
	for i := range 3 {
		f := w[i] * (y[i] - o.m)
		o.v += f * (y[i] - o.m)
		o.mm += w[i] * d[i]
		o.mv += w[i] * d[i] * xi[i] / (2 * sd)
		o.vm += 2 * f * d[i]
		o.vv += f * d[i] * xi[i] / sd
	}
	return o
}
