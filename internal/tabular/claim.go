package tabular

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"utvi/internal/claim"
)

// ErrOtherFit is wrapped by the error of a fit whose folder of checkpoints holds another one.
var ErrOtherFit = claim.ErrOther

// mark makes the folder and marks it with the rows and settings whose fit it
// holds, so that no other continues from there.
func mark(dir string, c Config, d Data) error {
	if dir == "" {
		return nil // without the cost of a digest
	}
	return claim.Folder(dir, c, d.digest())
}

// digest is different for different data.
func (d Data) digest() string {
	h := sha256.New()
	put := func(x any) { binary.Write(h, binary.LittleEndian, x) } // a hash takes everything
	put([]int64{int64(d.X.Rows), int64(d.X.Width), int64(d.Outputs()), int64(d.Classes), int64(len(d.X.Var)), int64(len(d.Weights)), int64(len(d.Groups))})
	put(d.Ordered)
	for _, x := range [][]float32{d.X.Mean, d.X.Var, d.Y, d.Weights} {
		for part := range slices.Chunk(x, 1<<12) { // binary.Write makes a copy
			put(part)
		}
	}
	put(d.Groups)
	put(d.Zero)
	put(d.Step)
	for _, n := range d.Levels {
		put(int64(n))
	}
	return hex.EncodeToString(h.Sum(nil))
}
