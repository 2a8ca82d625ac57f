package list

import (
	"fmt"
	"math"

	"utvi/table"
)

// names of columns as ThunderSTORM, DECODE and our Parquet have them; the first one of a line that a
// table has is taken.
var readNames = struct{ frame, x, y, photons, background, backStd, misfit, s, sx, sy, cov, photon, ground, bound, jointX, jointY, doubt, prob, near, flag, sigma []string }{
	frame: []string{"frame"}, x: []string{"x [nm]", "x"}, y: []string{"y [nm]", "y"},
	photons: []string{"intensity [photon]", "photons"}, background: []string{"offset [photon]", "background"},
	backStd: []string{"bkgstd [photon]", "bkgstd"}, misfit: []string{"chi2"}, s: []string{"uncertainty_xy [nm]", "uncertainty [nm]"},
	sx: []string{"uncertainty_x [nm]", "uncertainty_x"}, sy: []string{"uncertainty_y [nm]", "uncertainty_y"},
	cov: []string{"cov_xy [nm^2]", "cov_xy"}, photon: []string{"uncertainty_intensity [photon]", "uncertainty_photons"},
	ground: []string{"uncertainty_offset [photon]", "uncertainty_background"},
	bound:  []string{"crlb [nm]", "crlb"}, jointX: []string{"joint_crlb_x [nm]", "joint_crlb_x"}, jointY: []string{"joint_crlb_y [nm]", "joint_crlb_y"},
	doubt: []string{"doubt [nm]", "doubt"}, prob: []string{"prob"}, near: []string{"neighbours"}, flag: []string{"flag"}, sigma: []string{"sigma [nm]", "sigma"},
}

// Read reads a table with the columns of ThunderSTORM's CSV or of our Parquet. A "pixel" of what it
// returns is one nm.
func Read(path string) ([]Localisation, Header, error) {
	h := Header{Pixel: 1}
	r, err := table.Open(path, table.Options{})
	if err != nil {
		return nil, h, err
	}
	var all []Localisation
	var c columns
	err = table.Each(r, func(chunk *table.Chunk) error {
		if c.of == nil {
			c.of = chunk.Header()
			if err := c.find(); err != nil {
				return err
			}
		}
		for row := range chunk.Rows() {
			l, err := c.read(chunk, row)
			if err != nil {
				return err
			}
			if len(all) == 0 && c.sigma >= 0 {
				_, h.Sigma = chunk.Cell(row, c.sigma)
			}
			all = append(all, l)
		}
		return nil
	})
	return all, h, err
}

// columns are the places of what is read; −1: the table has none.
type columns struct {
	of                                                      *table.Header
	frame, x, y, photons, background, backStd, misfit, s    int
	sx, sy, cov, photon, bound, jointX, jointY, doubt, prob int
	ground                                                  int
	near, flag, sigma                                       int
}

func (c *columns) find() error {
	for _, p := range []struct {
		to    *int
		names []string
	}{
		{&c.frame, readNames.frame}, {&c.x, readNames.x}, {&c.y, readNames.y}, {&c.photons, readNames.photons}, {&c.background, readNames.background},
		{&c.backStd, readNames.backStd}, {&c.misfit, readNames.misfit}, {&c.s, readNames.s}, {&c.sx, readNames.sx}, {&c.sy, readNames.sy},
		{&c.cov, readNames.cov}, {&c.photon, readNames.photon}, {&c.ground, readNames.ground}, {&c.bound, readNames.bound}, {&c.jointX, readNames.jointX}, {&c.jointY, readNames.jointY},
		{&c.doubt, readNames.doubt}, {&c.prob, readNames.prob}, {&c.near, readNames.near}, {&c.flag, readNames.flag}, {&c.sigma, readNames.sigma},
	} {
		*p.to = -1
		for _, name := range p.names {
			if k := c.of.Column(name); k >= 0 && *p.to < 0 {
				*p.to = k
			}
		}
	}
	switch {
	case c.frame < 0 || c.x < 0 || c.y < 0:
		return fmt.Errorf("%s: it has no columns frame, x [nm] and y [nm]; a table of molecules has them", c.of.File)
	case c.sx < 0 && c.s < 0:
		return fmt.Errorf("%s: it has no error bars; a table of molecules has a column uncertainty_xy [nm]", c.of.File)
	}
	return nil
}

func (c *columns) read(chunk *table.Chunk, row int) (l Localisation, err error) {
	number := func(col int, otherwise float64) float64 {
		if col < 0 {
			return otherwise
		}
		kind, x := chunk.Cell(row, col)
		if kind != table.Number {
			return otherwise
		}
		return x
	}
	nan := math.NaN()
	frame := number(c.frame, nan)
	l = Localisation{
		Frame: int(frame) - 1, X: number(c.x, nan), Y: number(c.y, nan), Photons: number(c.photons, 0), Background: number(c.background, 0),
		BackStd: number(c.backStd, 0), Misfit: number(c.misfit, 1), Photon: number(c.photon, 0), Ground: number(c.ground, 0), Cov: number(c.cov, 0),
		Probability: number(c.prob, 1), Doubt: number(c.doubt, 0), Near: int(number(c.near, 0)),
	}
	s := number(c.s, nan)
	l.SX = number(c.sx, s)
	l.SY = number(c.sy, s)
	l.Bound = number(c.bound, (l.SX+l.SY)/2)
	l.JointX = number(c.jointX, l.SX)
	l.JointY = number(c.jointY, l.SY)
	if !(frame >= 0 && frame < 1<<40) || math.IsNaN(l.X+l.Y) || math.IsInf(l.X+l.Y, 0) || !(l.SX > 0 && l.SY > 0) {
		return l, fmt.Errorf("%s: a molecule needs a frame, x and y, and an uncertainty above 0", chunk.Where(row))
	}
	flag := int(number(c.flag, 0))
	l.Outside = flag&flagOutside != 0
	l.Saturated = flag&flagSaturated != 0
	return l, nil
}
