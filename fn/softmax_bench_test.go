package fn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/rng"
)

// softmaxCase draws logits: means N(0, 1.5²), variances within ±50 % of v.
func softmaxCase(key rng.Key, d int, v float64) (mean, variance []float64) {
	mean, variance = make([]float64, d), make([]float64, d)
	for i := range mean {
		mean[i] = 1.5 * rng.Normal(key, uint64(2*i))
		variance[i] = v * (0.5 + rng.Uniform(key, uint64(2*i+1)))
	}
	return mean, variance
}

// softmaxPush is one row through one rule.
func softmaxPush(rule moment.JointRule, mean, variance []float64) (m, v []float64) {
	m, v = make([]float64, len(mean)), make([]float64, len(mean))
	t := moment.NewJointTile(fn.Softmax(), rule, len(mean))
	t.Key = rng.New(5)
	t.Push(mean, variance, m, v)
	return m, v
}

// softmaxTruth is joint sampling, in rows of a thousand draws.
func softmaxTruth(mean, variance []float64, draws int) (m, v []float64) {
	d := len(mean)
	m, v = make([]float64, d), make([]float64, d)
	m1, v1 := make([]float64, d), make([]float64, d)
	t := moment.NewJointTile(fn.Softmax(), moment.JointMC(1000), d)
	t.Key = rng.New(9)
	n := draws / 1000
	sq := make([]float64, d)
	for row := range n {
		t.Row = uint64(row)
		t.Push(mean, variance, m1, v1)
		for i := range m {
			m[i] += m1[i] / float64(n)
			sq[i] += (v1[i]*0.999 + m1[i]*m1[i]) / float64(n)
		}
	}
	for i := range v {
		v[i] = sq[i] - m[i]*m[i]
	}
	return m, v
}

// off is the root mean square difference of two vectors, relative to b's.
func off(a, b []float64) float64 {
	var num, den float64
	for i := range a {
		num += (a[i] - b[i]) * (a[i] - b[i])
		den += b[i] * b[i]
	}
	return math.Sqrt(num / den)
}

// BenchmarkSoftmaxRules measures the table of softmaxMoments:
//
//	go test ./fn -run xxx -bench SoftmaxRules
func BenchmarkSoftmaxRules(b *testing.B) {
	rules := []moment.JointRule{
		moment.JointUT(2), moment.JointUTGauss(), moment.JointAxes(3), moment.JointAxes(5), moment.JointFifth(),
		moment.JointMC(20), moment.JointMC(200), moment.JointOwn(),
	}
	const reps = 4
	for _, d := range []int{2, 3, 10, 100} {
		for _, v := range []float64{0.1, 1, 4} {
			var mean, variance, wantM, wantV [reps][]float64
			for r := range reps {
				mean[r], variance[r] = softmaxCase(rng.New(1).Sub(uint64(r), uint32(d)), d, v)
				wantM[r], wantV[r] = softmaxTruth(mean[r], variance[r], 1_000_000)
			}
			for _, rule := range rules {
				b.Run(fmt.Sprintf("d=%d/v=%v/%v", d, v, rule), func(b *testing.B) {
					var em, ev float64
					for r := range reps {
						m, v := softmaxPush(rule, mean[r], variance[r])
						em += 100 * off(m, wantM[r]) / reps
						ev += 100 * off(v, wantV[r]) / reps
					}
					t := moment.NewJointTile(fn.Softmax(), rule, d)
					m, v := make([]float64, d), make([]float64, d)
					for b.Loop() {
						t.Push(mean[0], variance[0], m, v)
					}
					b.ReportMetric(em, "%mean")
					b.ReportMetric(ev, "%var")
				})
			}
		}
	}
}

// BenchmarkSoftmaxRow times a row forward, and forward and backward, by rule.
func BenchmarkSoftmaxRow(b *testing.B) {
	for _, d := range []int{10, 100} {
		for _, rule := range []moment.JointRule{moment.JointOwn(), moment.JointAxes(3), moment.JointUTGauss(), moment.JointMC(200)} {
			mean, variance := softmaxCase(rng.New(1), d, 1)
			t := moment.NewJointTile(fn.Softmax(), rule, d)
			m, v := make([]float64, d), make([]float64, d)
			b.Run(fmt.Sprintf("d=%d/%v/forward", d, rule), func(b *testing.B) {
				for b.Loop() {
					t.Push(mean, variance, m, v)
				}
			})
			b.Run(fmt.Sprintf("d=%d/%v/both", d, rule), func(b *testing.B) {
				for b.Loop() {
					t.Push(mean, variance, m, v)
					t.Pull(mean, variance, mean, variance, m, v)
				}
			})
		}
	}
}
