package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/atomicfile"
	"utvi/internal/locate"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/list"
	"utvi/internal/locate/net"
	"utvi/internal/locate/page"
)

const locateHelp = `Find the molecules in a stack of camera frames (localisation microscopy) and write
a table that ThunderSTORM, SMAP and others read: a row for each molecule and frame, with
its place in nm from the top left corner of the first pixel, whose centre is at half a
pixel. The molecules of a frame are fitted together, and the error bars are Cramér–Rao
bounds with all neighbours unknown; crlb is what the bound for a molecule alone would be.

A stack is a TIFF, BigTIFF, ImageJ or OME-TIFF file of any size, a .raw with its .yaml,
a .npy, several of these in a row, or a folder of TIFF files. It is read frame by frame.
Give the camera's numbers, by flags or in a file (--camera): without them photons are
wrong, and error bars rest on the noise that is measured in the frames. The width of a
point's image is estimated unless --sigma gives it.

Same stack, same table, on any number of cores. After Ctrl-C the table holds the whole
frames so far.`

const locateExamples = `  utvi locate simulate --frames 500 -o frames.tif
  utvi locate frames.tif --offset 500 --read-noise 17.3 --pixel 100
  utvi locate cells.ome.tif --camera camera.yaml -o cells.csv
  utvi locate cells.tif --camera camera.yaml --frames 1-1000`

// A localising is what the flags of locate ask for.
type localising struct {
	locate.Config
	pixel  float64
	camera string // file
	frames string
	out    string
	net    string
	page   string
}

func locateCommand() *cobra.Command {
	l := &localising{Config: locate.Config{Camera: camera.Camera{Gain: 1, QE: 1}}}
	cmd := &cobra.Command{
		Use:     "locate STACK...",
		Short:   "Find molecules in camera frames, with error bars",
		Long:    locateHelp,
		Example: locateExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("utvi locate takes a stack of frames, or one of the commands simulate, train, check, filter, link, drift, merge, render")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(cmd.Flags()); err != nil {
				return err
			}
			return l.run(cmd, args)
		},
	}
	l.flags(cmd.Flags())
	cmd.AddCommand(locateSimulateCommand(), locateTrainCommand(), locateCheckCommand(), locateFilterCommand(), locateLinkCommand(), locateDriftCommand(), locateMergeCommand(), locateRenderCommand())
	return cmd
}

func (l *localising) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&l.out, "output", "o", "", "table to write: .csv, .hdf5, .parquet or .decode.csv (default the stack's name with .locs.csv)")
	f.StringVar(&l.page, "report", "", "page to write, .html: picture, error bars, light, what was rejected and why")
	f.StringVar(&l.camera, "camera", "", "YAML file with the camera's numbers: offset, gain, em-gain, qe, read-noise, pixel")
	cameraFlags(f, &l.Camera)
	f.Float64Var(&l.pixel, "pixel", 100, "size of a pixel in nm")
	f.Float64Var(&l.Sigma, "sigma", 0, "standard deviation of a point's image in pixels (default estimated)")
	f.Float64Var(&l.Threshold, "threshold", 4, "how bright a candidate must be, in standard deviations of the noise")
	f.StringVar(&l.net, "net", "", "network that locate train made, or none (default the one for usual optics)")
	f.Float64Var(&l.Least, "probability", 0.5, "keep what is a molecule with at least this probability")
	f.StringVar(&l.frames, "frames", "", "frames to read, such as 1-1000 (default all)")
}

// cameraFlags set a camera, by the names that microscopists use.
func cameraFlags(f *pflag.FlagSet, c *camera.Camera) {
	f.Float64Var(&c.Offset, "offset", c.Offset, "counts of a dark pixel (base level, baseline)")
	f.Float64Var(&c.Gain, "gain", c.Gain, "photoelectrons per count (e/ADU, sensitivity)")
	f.Float64Var(&c.EM, "em-gain", c.EM, "gain of the EM register; 0 for a camera without one")
	f.Float64Var(&c.QE, "qe", c.QE, "quantum efficiency, up to 1")
	f.Float64Var(&c.Read, "read-noise", c.Read, "standard deviation of the read-out in electrons, behind the EM register")
}

func (l *localising) check(f *pflag.FlagSet) error {
	if l.camera != "" {
		numbers, err := camera.ReadFile(l.camera)
		if err != nil {
			return err
		}
		for name, x := range numbers {
			if !f.Changed(name) { // a flag is stronger than the file
				if err := f.Lookup(name).Value.Set(strconv.FormatFloat(x, 'g', -1, 64)); err != nil {
					return err
				}
			}
		}
	}
	switch {
	case !(l.pixel > 0 && l.pixel < 1e6):
		return usagef("--pixel is %g; it must be the size of a pixel in nm, above 0", l.pixel)
	case l.Sigma != 0 && !(l.Sigma >= 0.5 && l.Sigma <= 3.3):
		return usagef("--sigma is %g; it must be 0.5 to 3.3 pixels", l.Sigma)
	case !(l.Threshold >= 2 && l.Threshold <= 100):
		return usagef("--threshold is %g; it must be 2 to 100 standard deviations", l.Threshold)
	}
	if !(l.Least >= 0 && l.Least <= 1) {
		return usagef("--probability is %g; it must be 0 to 1", l.Least)
	}
	if err := l.openNet(); err != nil {
		return err
	}
	return misuse(l.Camera.Check())
}

// openNet opens the network that corrects what is fitted.
func (l *localising) openNet() (err error) {
	switch l.net {
	case "none":
		l.Net = nil
	case "":
		l.Net, err = net.Default()
	default:
		l.Net, err = net.Open(l.net)
	}
	return err
}

// choose takes the frames that the flag names.
func (l *localising) choose(s *frames.Stack) error {
	l.First = 0
	l.Frames = s.Frames
	if l.frames == "" {
		return s.Damage
	}
	from, to, ranged := strings.Cut(l.frames, "-")
	if !ranged {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || first < 1 || last < first {
		return usagef("--frames is %q; it must be a range such as 1-1000", l.frames)
	}
	if last > s.Frames {
		return usagef("--frames is %q, but there are only %s", l.frames, plural(s.Frames, "frame", "frames"))
	}
	l.First = first - 1
	l.Frames = last - first + 1
	return nil
}

func (l *localising) run(cmd *cobra.Command, paths []string) error {
	stack, err := frames.Open(paths...)
	if err != nil {
		return err
	}
	if err := l.choose(stack); err != nil {
		return err
	}
	out := l.out
	if out == "" {
		base := filepath.Base(filepath.Clean(paths[0]))
		out = strings.TrimSuffix(strings.TrimSuffix(base, filepath.Ext(base)), ".ome") + ".locs.csv"
	}
	if err := ready(out); err != nil {
		return err
	}
	for _, path := range paths {
		if sameFile(path, out) {
			return usagef("%s is both the stack and the table to write", out)
		}
	}
	locator, err := locate.Prepare(cmd.Context(), stack, l.Config)
	if err != nil {
		return err
	}
	l.warn(cmd, locator.Facts)
	return l.fit(cmd, locator, stack, out)
}

// fit writes the table, and the page. What Ctrl-C leaves is written, too.
func (l *localising) fit(cmd *cobra.Command, locator *locate.Locator, stack *frames.Stack, out string) error {
	format, err := list.FormatOf(out)
	if err != nil {
		return usagef("--output: %v", err)
	}
	h := list.Header{Pixel: l.pixel, Sigma: locator.Facts.Sigma, Width: stack.Width, Height: stack.Height, Frames: l.First + l.Frames}
	var summary *page.Summary
	if l.page != "" {
		summary = page.New(h, l.First, l.Frames)
	}
	p := newCountProgress(cmd.ErrOrStderr(), l.Frames, "frame", "frames")
	var stopped error
	err = writeOut(cmd, out, func(w io.Writer) error {
		table, err := list.NewWriter(w, format, h)
		if err != nil {
			return err
		}
		sink := table.Write
		if summary != nil {
			sink = func(all []locate.Localisation) error {
				summary.Add(all)
				return table.Write(all)
			}
		}
		err = locator.Run(cmd.Context(), sink, p.Done)
		if errors.Is(err, context.Canceled) && locator.Facts.Frames > 0 {
			stopped = err
			err = nil
		}
		return cmp.Or(err, table.Close())
	})
	p.close()
	if err == nil && format == list.Picasso {
		err = saveTo(yamlOf(out), func(path string) error {
			return atomicfile.Write(path, func(w io.Writer) error {
				_, err := io.WriteString(w, list.PicassoYAML(h))
				return err
			})
		})
	}
	if err == nil && summary != nil {
		err = saveTo(l.page, summary.Page(locator.Facts).Save)
	}
	if err != nil {
		return err
	}
	return l.tell(cmd, locator.Facts, out, stopped != nil)
}

// tell says what was written, or how to go on after Ctrl-C.
func (l *localising) tell(cmd *cobra.Command, f locate.Facts, out string, stopped bool) error {
	if stopped {
		next := l.First + f.Frames
		return fmt.Errorf("interrupted; %s holds frames %d to %d, and --frames %d-%d with another --output takes the rest", out, l.First+1, next, next+1, l.First+l.Frames)
	}
	if out == "-" {
		return nil
	}
	where := fmt.Sprintf("%s in %s", plural(f.Found, "localisation", "localisations"), plural(f.Frames, "frame", "frames"))
	if f.Blank > 0 {
		where += fmt.Sprintf(" (%d of them blank)", f.Blank)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s to %s.\n", where, out)
	return err
}

// yamlOf is the name of the file that Picasso wants beside a table.
func yamlOf(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".yaml" }

// warn says what was learnt of the stack, and where the camera's numbers contradict it.
func (l *localising) warn(cmd *cobra.Command, f locate.Facts) {
	if l.Sigma == 0 {
		tell(cmd, "the image of a point has a standard deviation of %.3f pixels (%.0f nm)", f.Sigma, f.Sigma*l.pixel)
	}
	const much = 1.15
	if f.Noise < much && f.Noise > 1/much {
		return
	}
	by := math.Round(100*f.Noise) / 100
	tell(cmd, "warning: the noise in the frames is %g times what the camera's numbers promise; error bars follow the frames, but check --gain (about %.3g would agree), --em-gain and --offset, on which photons depend", by, l.Camera.Gain/(f.Noise*f.Noise))
}
