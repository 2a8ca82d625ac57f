package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/internal/atomicfile"
	"utvi/internal/locate/list"
)

// A moleculesTable is a table of molecules that a command has read, and where it writes.
type moleculesTable struct {
	all    []list.Localisation
	header list.Header
	in     string
	out    string
	pixel  float64
}

// read reads the table; what the name of the output asks for is checked before.
func (t *moleculesTable) read(path, suffix string) error {
	t.in = path
	if t.out == "" {
		t.out = strings.TrimSuffix(strings.TrimSuffix(path, filepath.Ext(path)), ".locs") + suffix
	}
	if sameFile(path, t.out) {
		return usagef("%s is both the table to read and the one to write", path)
	}
	if !(t.pixel >= 0 && t.pixel < 1e6) {
		return usagef("--pixel is %g; it must be the size of a camera's pixel in nm", t.pixel)
	}
	if err := ready(t.out); err != nil {
		return err
	}
	var err error
	t.all, t.header, err = list.Read(path)
	return err
}

// write writes the table in the format that its name asks for. Picasso's needs the size of a pixel.
func (t *moleculesTable) write(cmd *cobra.Command, all []list.Localisation, what string) error {
	format, err := list.FormatOf(t.out)
	if err != nil {
		return usagef("--output: %v", err)
	}
	h := t.header
	if format == list.Picasso || format == list.DECODE {
		if t.pixel == 0 {
			return usagef("places in such a table are in pixels of the camera; give their size in nm with --pixel")
		}
		h.Pixel = t.pixel
		h.Sigma /= t.pixel
		all = inPixels(all, t.pixel, &h)
	}
	err = writeOut(cmd, t.out, func(w io.Writer) error {
		table, err := list.NewWriter(w, format, h)
		if err != nil {
			return err
		}
		if err := table.Write(all); err != nil {
			return err
		}
		return table.Close()
	})
	if err == nil && format == list.Picasso {
		err = atomicfile.Write(yamlOf(t.out), func(w io.Writer) error {
			_, err := io.WriteString(w, list.PicassoYAML(h))
			return err
		})
	}
	if err != nil || t.out == "-" {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s of %s: wrote %s to %s.\n", what, plural(len(t.all), "localisation", "localisations"), plural(len(all), "row", "rows"), t.out)
	return err
}

func inPixels(all []list.Localisation, pixel float64, h *list.Header) []list.Localisation {
	out := make([]list.Localisation, len(all))
	for i, l := range all {
		h.Frames = max(h.Frames, l.Frame+1)
		for _, x := range []*float64{&l.X, &l.Y, &l.SX, &l.SY, &l.Bound, &l.JointX, &l.JointY, &l.Doubt} {
			*x /= pixel
		}
		l.Cov /= pixel * pixel
		h.Width = max(h.Width, int(l.X)+1)
		h.Height = max(h.Height, int(l.Y)+1)
		out[i] = l
	}
	return out
}

func oneTable(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one table of molecules, such as cells.locs.csv", cmd.CommandPath())
	}
	return nil
}

func (t *moleculesTable) flags(cmd *cobra.Command, output string) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&t.out, "output", "o", "", output)
	f.Float64Var(&t.pixel, "pixel", 0, "size of a camera's pixel in nm, for tables in pixels (.hdf5, .decode.csv)")
}

func locateFilterCommand() *cobra.Command {
	t := &moleculesTable{}
	var keep string
	cmd := &cobra.Command{
		Use:   "filter TABLE",
		Short: "Keep the molecules of a table that meet conditions, or write it in another format",
		Long: `Keep the rows of a table that meet all conditions, such as "prob>0.9 & uncertainty<20".
Conditions are about frame, x, y, photons, background, chi2, uncertainty, uncertainty_x,
uncertainty_y, crlb, doubt, prob, neighbours, saturated and outside (0 or 1); lengths are
in nm. The name of the output says how it is written: .csv, .parquet, .hdf5, .decode.csv.`,
		Example: `  utvi locate filter cells.locs.csv --keep "prob>0.9 & uncertainty<20 & outside=0"
  utvi locate filter cells.locs.csv --pixel 100 -o cells.hdf5`,
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			var by []list.Condition
			if keep != "" {
				var err error
				by, err = list.ParseConditions(keep)
				if err != nil {
					return usagef("--keep: %v", err)
				}
			}
			if err := t.read(args[0], ".filtered.csv"); err != nil {
				return err
			}
			return t.write(cmd, list.Filter(t.all, by), "Filter")
		},
	}
	t.flags(cmd, "table to write (default with .filtered.csv)")
	cmd.Flags().StringVar(&keep, "keep", "", "conditions, joined by & (default everything)")
	return cmd
}

func locateLinkCommand() *cobra.Command {
	t := &moleculesTable{}
	var radius float64
	var dark int
	cmd := &cobra.Command{
		Use:   "link TABLE",
		Short: "Make one row of each molecule that is on in successive frames",
		Long: `Make one row of the rows of one molecule in successive frames: places are means with
weights 1/σ², photons are added. Errors that stay the same while it is on, such as those
of a neighbour that is on as long, do not average out: the error bars know nothing of it.`,
		Example: `  utvi locate link cells.locs.csv --radius 50 --dark 1`,
		Args:    oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(radius > 0 && radius < 1e5) || dark < 0 || dark > 1000 {
				return usagef("--radius must be above 0 nm, --dark 0 to 1000 frames")
			}
			if err := t.read(args[0], ".linked.csv"); err != nil {
				return err
			}
			return t.write(cmd, list.Link(t.all, radius, dark), "Link")
		},
	}
	t.flags(cmd, "table to write (default with .linked.csv)")
	cmd.Flags().Float64Var(&radius, "radius", 50, "how far a molecule may seem to move between frames, nm")
	cmd.Flags().IntVar(&dark, "dark", 0, "frames for which it may be dark in between")
	return cmd
}

func locateDriftCommand() *cobra.Command {
	t := &moleculesTable{}
	var segments int
	var reach float64
	var file string
	cmd := &cobra.Command{
		Use:   "drift TABLE",
		Short: "Find how the sample moved, and move the molecules back",
		Long: `Find by how much the sample moved, and move the molecules back. The frames are cut into
segments, each two are compared by all differences between their molecules, and the
drift is what fits all pairs best (redundant cross-correlation). Frames in which few
molecules are on, and structures that stay, make it sure.`,
		Example: `  utvi locate drift cells.locs.csv --segments 12 --file drift.csv`,
		Args:    oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			if segments < 2 || segments > 200 || !(reach >= 10 && reach <= 1e4) {
				return usagef("--segments must be 2 to 200, --reach 10 to 10000 nm")
			}
			if err := t.read(args[0], ".drift.csv"); err != nil {
				return err
			}
			d, err := list.FindDrift(t.all, segments, reach)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			frames := 0
			for i := range t.all {
				frames = max(frames, t.all[i].Frame+1)
			}
			if file != "" {
				err := saveTo(file, func(path string) error {
					return atomicfile.Write(path, func(w io.Writer) error { return d.Write(w, frames) })
				})
				if err != nil {
					return err
				}
			}
			d.Undo(t.all)
			x0, y0 := d.At(0)
			x1, y1 := d.At(float64(frames - 1))
			return t.write(cmd, t.all, fmt.Sprintf("Drift of %.1f nm in x and %.1f nm in y taken out", x1-x0, y1-y0))
		},
	}
	t.flags(cmd, "table to write (default with .drift.csv)")
	cmd.Flags().IntVar(&segments, "segments", 10, "parts of the frames that are compared")
	cmd.Flags().Float64Var(&reach, "reach", 300, "farthest drift between two segments, nm")
	cmd.Flags().StringVar(&file, "file", "", "CSV file for the drift of each frame")
	return cmd
}

func locateMergeCommand() *cobra.Command {
	t := &moleculesTable{}
	var follow bool
	cmd := &cobra.Command{
		Use:     "merge TABLE...",
		Short:   "Make one table of several",
		Long:    `Make one table of several. With --follow, frames of each table come after those of the one before.`,
		Example: `  utvi locate merge a.locs.csv b.locs.csv --follow -o both.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("utvi locate merge takes at least two tables of molecules")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var tables [][]list.Localisation
			for _, path := range args {
				if err := t.read(path, ".merged.csv"); err != nil {
					return err
				}
				tables = append(tables, t.all)
			}
			t.all = list.Merge(tables, follow)
			return t.write(cmd, t.all, "Merge")
		},
	}
	t.flags(cmd, "table to write (default with .merged.csv)")
	cmd.Flags().BoolVar(&follow, "follow", false, "the tables were recorded one after the other")
	return cmd
}
