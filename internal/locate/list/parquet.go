package list

import (
	"io"

	"utvi/table/parquet"
)

// parquetColumns are those of ThunderSTORM's CSV, without units in their names, so that programs can
// name them: lengths are in nm, light is in photons.
var parquetColumns = []string{"frame", "x", "y", "sigma", "photons", "background", "bkgstd", "chi2",
	"uncertainty_x", "uncertainty_y", "cov_xy", "uncertainty_photons", "uncertainty_background", "crlb", "joint_crlb_x", "joint_crlb_y", "doubt", "prob", "neighbours", "flag"}

type parquetWriter struct {
	w *parquet.Writer
	h Header
}

func newParquet(w io.Writer, h Header) (Writer, error) {
	p, err := parquet.NewWriter(w, parquetColumns, nil)
	return &parquetWriter{p, h}, err
}

func (p *parquetWriter) Write(all []Localisation) error {
	n := p.h.Pixel
	for i := range all {
		l := &all[i]
		for _, x := range []float64{float64(l.Frame + 1), l.X * n, l.Y * n, p.h.Sigma * n, l.Photons, l.Background, l.BackStd, l.Misfit,
			l.SX * n, l.SY * n, l.Cov * n * n, l.Photon, l.Ground, l.Bound * n, l.JointX * n, l.JointY * n, l.Doubt * n, l.Probability, float64(l.Near), float64(l.Flag())} {
			p.w.Float(x)
		}
		p.w.End()
	}
	return nil
}

func (p *parquetWriter) Close() error { return p.w.Close() }
