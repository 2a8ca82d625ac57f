package locate

import (
	"encoding/json"

	"utvi/internal/compute"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/fit"
)

// Range is the first frame, from 0, and the number of frames.
func (l *Locator) Range() (first, frames int) { return l.config.First, l.config.Frames }

// Mark tells runs apart: what is found depends on nothing else. What was learnt of some frames stands for
// what is in them.
func (l *Locator) Mark() []byte {
	net := ""
	if l.config.Net != nil {
		net = l.config.Net.Sum
	}
	b, err := json.Marshal(struct {
		Width, Height, Frames int
		Bytes                 int64
		First, Range          int
		Camera                camera.Camera
		Sensor                string
		Learnt                fit.Settings
		Net                   string
		Least                 float64
		Kernels               string
	}{l.stack.Width, l.stack.Height, l.stack.Frames, l.stack.Bytes, l.config.First, l.config.Frames, l.config.Camera, l.sensor.Sum(), l.settings,
		net, l.config.Least, compute.Family()})
	if err != nil {
		panic("locate: settings that are no numbers")
	}
	return b
}
