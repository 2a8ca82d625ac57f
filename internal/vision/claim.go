package vision

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"utvi/internal/claim"
)

// mark marks the folder of checkpoints with the images and settings whose fit it holds.
func mark(dir string, c Config, d Data, s *start) error {
	h := sha256.New()
	put := func(x any) { binary.Write(h, binary.LittleEndian, x) } // a hash takes everything
	shape := d.Images.Shape()
	put([]int64{int64(d.Images.Len()), int64(shape.H), int64(shape.W), int64(shape.C), int64(d.Classes), int64(d.Targets)})
	put(d.Y)
	s.digest(h)
	if d.Known.Count() > 0 {
		put([]int64{int64(d.Known.Before), int64(d.Known.Behind)})
		put(d.Known.X)
	}
	x := make([]float32, shape.Size())
	const looked = 1000 // images: those of a folder may have to be decoded
	step := max(1, d.Images.Len()/looked)
	for i := 0; i < d.Images.Len(); i += step {
		d.Images.Read(i, x)
		put(x)
		if d.Maps != nil {
			y := make([]float32, d.Targets)
			d.Maps.Read(i, y)
			put(y)
		}
	}
	return claim.Folder(dir, c, hex.EncodeToString(h.Sum(nil)))
}
