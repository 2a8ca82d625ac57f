package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/atomicfile"
	"utvi/internal/compute"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/scene"
)

const simulateHelp = `Draw what a camera sees of blinking molecules: a 16-bit TIFF stack, and beside it the
truth as a table (frames.tif and frames.truth.csv). The defaults are the scene with which
localisation methods are compared. Coordinates are nm from the top left corner of the
first pixel; its centre is at half a pixel. Same seed, same files.`

const simulateExamples = `  utvi locate simulate --frames 500 -o frames.tif
  utvi locate simulate --pattern filaments --width 128 --height 128 --density 0.3 \
      --lifetime 3 --frames 3000 -o cells.tif
  utvi locate simulate --offset 100 --gain 45 --em-gain 300 --qe 0.9 --read-noise 74.4 -o em.tif
  utvi locate simulate --psf lopsided --aside 1 --share 0.1 -o dipoles.tif`

// A simulation is what the flags of simulate ask for.
type simulation struct {
	scene.Scene
	frames       int
	pattern, psf string
	sigma        float64
	share, aside float64
	maps         camera.Maps
	mapAt        string
	out          string
}

func locateSimulateCommand() *cobra.Command {
	s := &simulation{Scene: scene.Standard()}
	cmd := &cobra.Command{
		Use:     "simulate",
		Short:   "Draw frames of blinking molecules, with the truth",
		Long:    simulateHelp,
		Example: simulateExamples,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return s.run(cmd)
		},
	}
	s.flags(cmd.Flags())
	return cmd
}

func (s *simulation) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&s.out, "output", "o", "frames.tif", "stack to write; the truth goes to the same name with .truth.csv")
	f.IntVar(&s.frames, "frames", 500, "number of frames")
	f.IntVar(&s.Width, "width", s.Width, "pixels of a row")
	f.IntVar(&s.Height, "height", s.Height, "rows")
	f.Float64Var(&s.Pixel, "pixel", s.Pixel, "size of a pixel in nm")
	f.StringVar(&s.pattern, "pattern", string(s.Pattern), "where molecules are: uniform, isolated (no two near each other) or filaments")
	f.Float64Var(&s.Density, "density", s.Density, "molecules per µm² that are on in a frame")
	f.Float64Var(&s.Photons, "photons", s.Photons, "photons of a molecule in a frame")
	f.Float64Var(&s.Spread, "spread", 0, "standard deviation of the logarithm of the photons")
	f.Float64Var(&s.Background, "background", s.Background, "photons of a pixel without molecules")
	f.Float64Var(&s.Tilt, "tilt", 0, "change of the background from left to right, as a part of it")
	f.Float64Var(&s.Lifetime, "lifetime", 1, "mean number of frames for which a molecule is on")
	f.Float64Var(&s.Drift, "drift", 0, "drift in x and in y, nm over 1000 frames")
	f.StringVar(&s.psf, "psf", "gauss", "image of a point: gauss, airy or lopsided (each molecule in a direction of its own)")
	f.Float64Var(&s.sigma, "sigma", 1.088, "standard deviation of the point's image in pixels")
	f.Float64Var(&s.share, "share", 0.1, "part of the light of a lopsided image that lies aside")
	f.Float64Var(&s.aside, "aside", 1, "how far aside, in pixels")
	cameraFlags(f, &s.Camera, &s.maps, &s.mapAt)
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of the random numbers")
}

func (s *simulation) check() error {
	s.Pattern = scene.Pattern(s.pattern)
	if s.frames < 1 || s.frames > 10_000_000 {
		return usagef("--frames is %d; it must be 1 to 10000000", s.frames)
	}
	if !(s.sigma >= 0.3 && s.sigma <= 10) {
		return usagef("--sigma is %g; it must be 0.3 to 10 pixels", s.sigma)
	}
	if !(s.share >= 0 && s.share < 1 && s.aside >= 0 && s.aside <= 10) {
		return usagef("--share must be 0 to 1, --aside 0 to 10 pixels")
	}
	switch s.psf {
	case "gauss":
		s.PSF = scene.Gaussian(s.sigma)
	case "airy":
		s.PSF = scene.Airy(s.sigma)
	case "lopsided":
		s.PSF = scene.Lopsided(s.sigma, s.share, s.aside, true)
	default:
		return usagef("there is no --psf %s; choose from gauss, airy, lopsided", s.psf)
	}
	if err := misuse(s.Scene.Check()); err != nil {
		return err
	}
	if err := checkMaps(&s.maps, s.mapAt); err != nil || !s.maps.Any() {
		return err
	}
	var err error
	s.Sensor, err = s.maps.Sensor(s.Camera, s.Width, s.Height)
	return err
}

func (s *simulation) run(cmd *cobra.Command) error {
	truth := strings.TrimSuffix(s.out, filepath.Ext(s.out)) + ".truth.csv"
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	p := newCountProgress(cmd.ErrOrStderr(), s.frames, "frame", "frames")
	err := saveTo(s.out, func(string) error {
		return atomicfile.Write(s.out, func(stack io.Writer) error {
			return atomicfile.Write(truth, func(table io.Writer) error {
				return s.Write(cmd.Context(), s.frames, stack, table, pool, p.Done)
			})
		})
	})
	p.close()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s to %s and the truth to %s.\n", plural(s.frames, "frame", "frames"), s.out, truth)
	return err
}
