package list

import (
	"io"
	"math"
	"strconv"
)

// decodeHeader is three comments and the names of DECODE's columns. Places are in pixels; the centre of
// the first one is 0.
const decodeHeader = `# This is an export from utvi locate in the columns of DECODE.
# Frames count from 0.
# {"xy_unit": "px"}
x,y,z,phot,frame_ix,id,prob,bg,x_cr,y_cr,z_cr,phot_cr,bg_cr,x_sig,y_sig,z_sig,phot_sig,bg_sig
`

// A decode writes the CSV of DECODE.
type decode struct {
	w    io.Writer
	rows int
	line []byte
}

func newDECODE(w io.Writer) (Writer, error) {
	_, err := io.WriteString(w, decodeHeader)
	return &decode{w: w}, err
}

func (d *decode) Write(all []Localisation) error {
	d.line = d.line[:0]
	for i := range all {
		l := &all[i]
		nan := math.NaN()
		for k, x := range []float64{l.X - 0.5, l.Y - 0.5, 0, l.Photons, float64(l.Frame), float64(d.rows), l.Probability, l.Background,
			l.JointX, l.JointY, nan, nan, nan, l.SX, l.SY, nan, l.Photon, l.Ground} {
			if k > 0 {
				d.line = append(d.line, ',')
			}
			if x == x {
				d.line = strconv.AppendFloat(d.line, x, 'g', 9, 64)
			} else {
				d.line = append(d.line, "nan"...)
			}
		}
		d.line = append(d.line, '\n')
		d.rows++
	}
	_, err := d.w.Write(d.line)
	return err
}

func (d *decode) Close() error { return nil }
