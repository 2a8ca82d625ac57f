package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/locate"
	"utvi/internal/locate/camera"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/net"
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
frames so far; after that or a kill, --resume continues, to the same bytes. --plan makes
several stacks, or those in folders, trials for utvi sweep: on this machine, by Slurm or
by Kubernetes.`

const locateExamples = `  utvi locate simulate --frames 500 -o frames.tif
  utvi locate frames.tif --offset 500 --read-noise 17.3 --pixel 100
  utvi locate cells.ome.tif --camera camera.yaml -o cells.csv
  utvi locate cells.tif --camera camera.yaml --frames 1-1000
  utvi locate cells.tif --camera camera.yaml --resume --live
  utvi locate monday/ tuesday/ --camera camera.yaml --plan plan.json`

// A localising is what the flags of locate ask for.
type localising struct {
	locate.Config
	pixel  float64
	camera string // file
	frames string
	out    string
	net    string
	page   string
	mapAt  string
	live   liveFlag
	again  stoppable

	plan   string
	most   int // frames of a trial
	format string
}

func locateCommand() *cobra.Command {
	l := &localising{Config: locate.Config{Camera: camera.Camera{Gain: 1, QE: 1}}, again: stoppable{what: "run", output: "--output"}}
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
			if l.plan != "" {
				return l.writePlan(cmd, args)
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
	cameraFlags(f, &l.Camera, &l.Maps, &l.mapAt)
	f.Float64Var(&l.pixel, "pixel", 100, "size of a pixel in nm")
	f.Float64Var(&l.Sigma, "sigma", 0, "standard deviation of a point's image in pixels (default estimated)")
	f.Float64Var(&l.Threshold, "threshold", 4, "how bright a candidate must be, in standard deviations of the noise")
	f.StringVar(&l.net, "net", "", "network that locate train made, or none (default the one for usual optics)")
	f.Float64Var(&l.Least, "probability", 0.5, "keep what is a molecule with at least this probability")
	f.StringVar(&l.frames, "frames", "", "frames to read, such as 1-1000 (default all)")
	l.live.flag(f)
	f.BoolVar(&l.again.resume, "resume", false, "continue a run that was stopped")
	f.BoolVar(&l.again.fresh, "fresh", false, "forget a run that was stopped, and start again")
	f.StringVar(&l.plan, "plan", "", "write a plan of trials for utvi sweep, and run nothing: each stack, and each in a folder, by itself")
	f.IntVar(&l.most, "frames-per-trial", 10_000, "frames of each trial of a plan")
	f.StringVar(&l.format, "format", "csv", "tables of a plan: <csv>, <hdf5>, <parquet> or <decode>")
}

// cameraFlags set a camera, by the names that microscopists use.
func cameraFlags(f *pflag.FlagSet, c *camera.Camera, m *camera.Maps, at *string) {
	f.Float64Var(&c.Offset, "offset", c.Offset, "counts of a dark pixel (base level, baseline)")
	f.Float64Var(&c.Gain, "gain", c.Gain, "photoelectrons per count (e/ADU, sensitivity)")
	f.Float64Var(&c.EM, "em-gain", c.EM, "gain of the EM register; 0 for a camera without one")
	f.Float64Var(&c.QE, "qe", c.QE, "quantum efficiency, up to 1")
	f.Float64Var(&c.Read, "read-noise", c.Read, "standard deviation of the read-out in electrons, behind the EM register")
	f.StringVar(&m.Offset, "offset-map", "", "image of each pixel's offset, as the mean of dark frames (.npy, .tif)")
	f.StringVar(&m.Gain, "gain-map", "", "image of each pixel's gain, photoelectrons per count")
	f.StringVar(&m.Variance, "variance-map", "", "image of each pixel's variance in counts², as of dark frames")
	f.StringVar(at, "map-at", "", "where the frames' top left pixel lies on maps of the whole chip: column,row from 0")
}

// checkMaps reads where maps are cut.
func checkMaps(m *camera.Maps, at string) error {
	if at == "" {
		return nil
	}
	x, y, both := strings.Cut(at, ",")
	column, err := strconv.Atoi(x)
	row, err2 := strconv.Atoi(y)
	if !both || err != nil || err2 != nil || column < 0 || row < 0 {
		return usagef("--map-at is %q; it must be a column and a row from 0, such as 512,256", at)
	}
	if !m.Any() {
		return usagef("--map-at applies to maps; give --offset-map, --gain-map or --variance-map as well")
	}
	m.Cut = true
	m.X = column
	m.Y = row
	return nil
}

func (l *localising) check(f *pflag.FlagSet) error {
	if l.camera != "" {
		numbers, err := camera.ReadFile(l.camera)
		if err != nil {
			return err
		}
		for name, x := range numbers {
			if !f.Changed(name) { // a flag is stronger than the file
				if err := f.Lookup(name).Value.Set(x); err != nil {
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
	if err := checkMaps(&l.Maps, l.mapAt); err != nil {
		return err
	}
	if err := l.checkPlan(f); err != nil {
		return err
	}
	if err := l.live.check(); err != nil {
		return err
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
