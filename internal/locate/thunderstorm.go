package locate

import (
	"io"
	"strconv"
)

// thunderstormHeader names the columns as ThunderSTORM does, then those that it does not have.
const thunderstormHeader = `"id","frame","x [nm]","y [nm]","sigma [nm]","intensity [photon]","offset [photon]","bkgstd [photon]","chi2","uncertainty_xy [nm]",` +
	`"uncertainty_x [nm]","uncertainty_y [nm]","cov_xy [nm^2]","crlb [nm]","neighbours","flag"` + "\n"

// A ThunderSTORM writes localisations as the CSV that ThunderSTORM, SMAP and others read: frames from
// 1, places in nm from the top left corner of the first pixel.
type ThunderSTORM struct {
	W     io.Writer
	Pixel float64 // nm
	Sigma float64 // pixels
	rows  int
	line  []byte
}

// Header writes the names of the columns.
func (t *ThunderSTORM) Header() error {
	_, err := io.WriteString(t.W, thunderstormHeader)
	return err
}

// Write writes rows.
func (t *ThunderSTORM) Write(all []Localisation) error {
	t.line = t.line[:0]
	for i := range all {
		t.rows++
		t.row(&all[i])
	}
	_, err := t.W.Write(t.line)
	return err
}

func (t *ThunderSTORM) row(l *Localisation) {
	number := func(x float64, digits int) {
		t.line = strconv.AppendFloat(append(t.line, ','), x, 'f', digits, 64)
	}
	p := t.Pixel
	t.line = strconv.AppendInt(t.line, int64(t.rows), 10)
	t.line = strconv.AppendInt(append(t.line, ','), int64(l.Frame+1), 10)
	number(l.X*p, 3)
	number(l.Y*p, 3)
	number(t.Sigma*p, 3)
	number(l.Photons, 2)
	number(l.Background, 3)
	number(l.BackStd, 3)
	number(l.Misfit, 4)
	number((l.SX+l.SY)/2*p, 3)
	number(l.SX*p, 3)
	number(l.SY*p, 3)
	number(l.Cov*p*p, 3)
	number(l.Bound*p, 3)
	t.line = strconv.AppendInt(append(t.line, ','), int64(l.Near), 10)
	t.line = append(t.line, ',')
	if l.Saturated {
		t.line = append(t.line, "saturated"...)
	}
	t.line = append(t.line, '\n')
}
