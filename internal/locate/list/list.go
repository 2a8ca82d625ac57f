// Package list holds tables of localised molecules: it writes them as ThunderSTORM, Picasso and DECODE do
// and as Parquet, reads them, and has what is done with them afterwards.
package list

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// A Localisation is one molecule in one frame. Places are in pixels from the corner of the first
// pixel, whose centre is at one half; light is in photons.
type Localisation struct {
	Frame      int // from 0
	X, Y       float64
	Photons    float64
	Background float64 // photons of a pixel
	BackStd    float64 // standard deviation of the background's noise in a pixel, photons
	Misfit     float64 // mean squared residual around it, in terms of its variance; 1 is right
	SX, SY     float64 // standard deviations of the place
	Cov        float64 // covariance of X and Y
	Photon     float64 // standard deviation of the photons
	Ground     float64 // standard deviation of the background; 0: not known
	Bound      float64 // standard deviation of the place by the bound for one molecule alone
	Near       int     // other molecules within five pixels
	// What the network says; without one the probability is 1, and the joint bound is SX, SY.
	Probability    float64 // of being one molecule
	JointX, JointY float64 // standard deviations of the place by the bound with all neighbours unknown
	Doubt          float64 // the part of SX and SY that the network's doubt in itself adds, in quadrature
	Outside        bool    // unlike anything that the network was trained on
	Saturated      bool    // a pixel nearby is at the highest count that 16 bits can store
}

// A Header is what a table says of all its rows.
type Header struct {
	Pixel         float64 // nm
	Sigma         float64 // width of a point's image, pixels
	Width, Height int     // of the frames; 0: not known
	Frames        int
}

// A Writer writes localisations.
type Writer interface {
	Write(all []Localisation) error
	Close() error
}

// A Format is how a table is written.
type Format string

// Formats, by the names that flags know.
const (
	ThunderSTORM Format = "thunderstorm"
	Picasso      Format = "picasso"
	DECODE       Format = "decode"
	Parquet      Format = "parquet"
)

// FormatOf is the format that the end of a file's name asks for.
func FormatOf(path string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case strings.HasSuffix(strings.ToLower(path), ".decode.csv"):
		return DECODE, nil
	case ext == ".csv" || path == "-":
		return ThunderSTORM, nil
	case ext == ".hdf5" || ext == ".h5":
		return Picasso, nil
	case ext == ".parquet":
		return Parquet, nil
	}
	return "", fmt.Errorf("%s: it is not known how to write such a table; the name must end with .csv (ThunderSTORM), .hdf5 (Picasso), .decode.csv (DECODE) or .parquet", path)
}

// NewWriter begins a table.
func NewWriter(w io.Writer, f Format, h Header) (Writer, error) {
	switch f {
	case Picasso:
		return newPicasso(w, h)
	case DECODE:
		return newDECODE(w)
	case Parquet:
		return newParquet(w, h)
	}
	return newThunderSTORM(w, h)
}
