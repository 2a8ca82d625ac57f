package export

import (
	"fmt"

	"utvi/internal/onnx"
	"utvi/internal/schema"
)

// pictureInput declares a column of images, with their channels in front, as graphs have them.
func (t *tableWriter) pictureInput(c *schema.Column) {
	f := c.Image
	t.Input(c.Name, onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: int64(f.Channels)}, onnx.Dim{Size: int64(f.Height)}, onnx.Dim{Size: int64(f.Width)})
	t.Graph.Inputs[len(t.Graph.Inputs)-1].Doc = fmt.Sprintf("images of %d × %d pixels, as numbers from 0 to 1", f.Height, f.Width)
}

// picture scales the images of a column, and lays the numbers of each in a row; see pixels.Format.
func (t *tableWriter) picture(c *schema.Column) value {
	f := c.Image
	inverse := make([]float64, f.Channels)
	for i, sd := range f.SD {
		inverse[i] = 1 / sd
	}
	v := t.transpose(c.Name, 0, 2, 3, 1)
	v = t.mul(t.sub(v, t.floats("mean", f.Mean, f.Channels)), t.floats("inverse", inverse, f.Channels))
	return t.reshape(v, -1, f.Size())
}
