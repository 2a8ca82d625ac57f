package list

import (
	"io"
	"strconv"
)

// thunderstormHeader names the columns as ThunderSTORM does, then those that it does not have.
const thunderstormHeader = `"id","frame","x [nm]","y [nm]","sigma [nm]","intensity [photon]","offset [photon]","bkgstd [photon]","chi2","uncertainty_xy [nm]",` +
	`"uncertainty_x [nm]","uncertainty_y [nm]","cov_xy [nm^2]","uncertainty_intensity [photon]","uncertainty_offset [photon]","crlb [nm]","joint_crlb_x [nm]","joint_crlb_y [nm]","doubt [nm]","prob","neighbours","flag"` + "\n"

// A thunderstorm writes the CSV that ThunderSTORM, SMAP and others read: frames from 1, places in nm
// from the top left corner of the first pixel.
type thunderstorm struct {
	w    io.Writer
	h    Header
	rows int
	line []byte
}

func newThunderSTORM(w io.Writer, h Header) (Writer, error) {
	_, err := io.WriteString(w, thunderstormHeader)
	return &thunderstorm{w: w, h: h}, err
}

func (t *thunderstorm) Write(all []Localisation) error {
	t.line = t.line[:0]
	for i := range all {
		t.rows++
		t.row(&all[i])
	}
	_, err := t.w.Write(t.line)
	return err
}

func (t *thunderstorm) Close() error { return nil }

func (t *thunderstorm) row(l *Localisation) {
	number := func(x float64, digits int) {
		t.line = strconv.AppendFloat(append(t.line, ','), x, 'f', digits, 64)
	}
	p := t.h.Pixel
	t.line = strconv.AppendInt(t.line, int64(t.rows), 10)
	t.line = strconv.AppendInt(append(t.line, ','), int64(l.Frame+1), 10)
	number(l.X*p, 3)
	number(l.Y*p, 3)
	number(t.h.Sigma*p, 3)
	number(l.Photons, 2)
	number(l.Background, 3)
	number(l.BackStd, 3)
	number(l.Misfit, 4)
	number((l.SX+l.SY)/2*p, 3)
	number(l.SX*p, 3)
	number(l.SY*p, 3)
	number(l.Cov*p*p, 3)
	number(l.Photon, 2)
	number(l.Ground, 3)
	number(l.Bound*p, 3)
	number(l.JointX*p, 3)
	number(l.JointY*p, 3)
	number(l.Doubt*p, 3)
	number(l.Probability, 4)
	t.line = strconv.AppendInt(append(t.line, ','), int64(l.Near), 10)
	t.line = strconv.AppendInt(append(t.line, ','), int64(l.Flag()), 10)
	t.line = append(t.line, '\n')
}

// Flags of a localisation, as numbers: what reads tables of other programs wants nothing else.
const (
	flagOutside   = 1 // unlike anything that the network was trained on
	flagSaturated = 2
)

// Flag is what speaks against a localisation; 0: nothing.
func (l *Localisation) Flag() int {
	f := 0
	if l.Outside {
		f |= flagOutside
	}
	if l.Saturated {
		f |= flagSaturated
	}
	return f
}
