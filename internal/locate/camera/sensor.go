package camera

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"utvi/internal/locate/frames"
)

// A Sensor is a camera with what each of its pixels has of its own, as those of sCMOS chips do.
type Sensor struct {
	Camera
	// Counts of a dark pixel, quanta for a count, and the variance of the read-out in quanta²: one for
	// all pixels, or one each.
	offset, scale []float32
	variance      []float64
}

// Maps name images with a number for each pixel; "": all pixels are alike.
type Maps struct {
	Offset   string `json:"offset,omitempty"`   // counts of a dark pixel
	Gain     string `json:"gain,omitempty"`     // photoelectrons per count
	Variance string `json:"variance,omitempty"` // of a dark pixel, counts²
	// Where the top left pixel of the frames lies on the maps, if these are of more than the frames.
	Cut bool `json:"cut,omitempty"`
	X   int  `json:"x,omitempty"`
	Y   int  `json:"y,omitempty"`
}

// Any reports whether there are maps.
func (m *Maps) Any() bool { return m.Offset != "" || m.Gain != "" || m.Variance != "" }

// Alike is a sensor without maps.
func (c Camera) Alike() *Sensor {
	return &Sensor{Camera: c, offset: []float32{float32(c.Offset)}, scale: []float32{float32(c.Scale())}, variance: []float64{c.ReadVariance()}}
}

// Sensor reads the maps for frames of a size.
func (m *Maps) Sensor(c Camera, width, height int) (*Sensor, error) {
	if !m.Any() {
		return c.Alike(), nil
	}
	n := width * height
	s := &Sensor{Camera: c, offset: filled(n, float32(c.Offset)), scale: filled(n, float32(c.Scale())), variance: make([]float64, n)}
	if err := m.read(m.Offset, "offset", width, height, s.offset, func(float32) string { return "" }); err != nil {
		return nil, err
	}
	gain := filled(n, float32(c.Gain))
	err := m.read(m.Gain, "gain", width, height, gain, func(x float32) string {
		if x > 0 {
			return ""
		}
		return "above 0: photoelectrons for a count"
	})
	if err != nil {
		return nil, err
	}
	variance := filled(n, float32(c.Read/c.Gain*c.Read/c.Gain))
	err = m.read(m.Variance, "variance", width, height, variance, func(x float32) string {
		if x >= 0 {
			return ""
		}
		return "0 or more: the variance of a dark pixel in counts²"
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		s.scale[i] = float32(float64(gain[i]) / c.register() / c.excess())
		s.variance[i] = float64(variance[i]) * float64(s.scale[i]) * float64(s.scale[i])
	}
	return s, nil
}

func filled(n int, x float32) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = x
	}
	return all
}

// read reads what of a map lies under the frames. wrong says what a number should be that cannot be.
func (m *Maps) read(path, what string, width, height int, to []float32, wrong func(float32) string) error {
	if path == "" {
		return nil
	}
	stack, err := frames.Open(path)
	if err != nil {
		return fmt.Errorf("the %s map: %w", what, err)
	}
	w, h := stack.Width, stack.Height
	switch {
	case stack.Frames != 1:
		return fmt.Errorf("%s: it has %d frames; the %s map is one image, such as the mean or the variance of dark frames", path, stack.Frames, what)
	case m.Cut && (m.X < 0 || m.Y < 0 || m.X > w-width || m.Y > h-height):
		return fmt.Errorf("%s: the %s map has %d×%d pixels; frames of %d×%d pixels that begin at column %d, row %d (--map-at) reach beyond it", path, what, w, h, width, height, m.X, m.Y)
	case !m.Cut && (w != width || h != height):
		return fmt.Errorf("%s: the %s map has %d×%d pixels, the frames have %d×%d; cut it to the region that was recorded, or say where that begins with --map-at", path, what, w, h, width, height)
	}
	r := stack.NewReader()
	defer r.Close()
	all := make([]float32, w*h)
	if err := r.Read(0, all); err != nil {
		return err
	}
	for y := range height {
		copy(to[y*width:][:width], all[(m.Y+y)*w+m.X:])
	}
	for i, x := range to {
		if should := wrong(x); should != "" {
			return fmt.Errorf("%s: the %s of pixel %d, %d is %g; it must be %s", path, what, m.X+i%width, m.Y+i/width, x, should)
		}
	}
	return nil
}

// Quanta turns counts into quanta, in place.
func (s *Sensor) Quanta(frame []float32) {
	if len(s.scale) == 1 {
		scale, offset := s.scale[0], s.offset[0]
		for i, x := range frame {
			frame[i] = (x - offset) * scale
		}
		return
	}
	scale, offset := s.scale[:len(frame)], s.offset[:len(frame)]
	for i, x := range frame {
		frame[i] = (x - offset[i]) * scale[i]
	}
}

// Variance is that of the read-out in quanta²: one number for all pixels, or one each.
func (s *Sensor) Variance() []float64 { return s.variance }

// VarianceOf cuts a part out of the frames.
func (s *Sensor) VarianceOf(x, y, w, h, width int) []float64 {
	if len(s.variance) == 1 {
		return s.variance
	}
	all := make([]float64, 0, w*h)
	for i := range h {
		all = append(all, s.variance[(y+i)*width+x:][:w]...)
	}
	return all
}

// Below counts the pixels of a frame of counts that are darker than dark.
func (s *Sensor) Below(frame []float32) (n int) {
	for i, x := range frame {
		if x < s.offset[min(i, len(s.offset)-1)] {
			n++
		}
	}
	return n
}

// Full reports whether pixel i has the highest count that 16 bits store.
func (s *Sensor) Full(i int, quanta float32) bool {
	k := min(i, len(s.scale)-1)
	const half = 0.5 // count
	return float64(quanta) >= (math.MaxUint16-half-float64(s.offset[k]))*float64(s.scale[k])
}

// Sum tells sensors apart.
func (s *Sensor) Sum() string {
	h := sha256.New()
	var b []byte
	for i := range s.scale {
		b = binary.LittleEndian.AppendUint32(b[:0], math.Float32bits(s.offset[i]))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s.scale[i]))
		h.Write(binary.LittleEndian.AppendUint64(b, math.Float64bits(s.variance[i])))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Counts turns n photoelectrons, or what an EM register makes of them, into the counts of pixel i, with a
// standard Normal number for the read-out.
func (s *Sensor) Counts(i int, electrons, normal float64) float64 {
	if len(s.scale) == 1 {
		return s.Offset + (electrons+s.Read*normal)/s.Gain
	}
	gain := float64(s.scale[i]) * s.register() * s.excess()
	read := math.Sqrt(s.variance[i]) * s.register() * s.excess()
	return float64(s.offset[i]) + (electrons+read*normal)/gain
}
