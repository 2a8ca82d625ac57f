package dist

import (
	"math"

	"utvi/gauss"
)

// FromBatch returns the Normals of a batch, row-major. A variance of 0 is replaced by
// the smallest positive float32, because a Normal needs a variance > 0.
func FromBatch[T gauss.Float](b gauss.Batch[T]) []Normal {
	all := make([]Normal, b.Rows*b.Width)
	for i := range all {
		var v float64
		if b.Var != nil {
			v = float64(b.Var[i])
		}
		all[i] = Normal{float64(b.Mean[i]), math.Sqrt(max(v, math.SmallestNonzeroFloat32))}
	}
	return all
}
