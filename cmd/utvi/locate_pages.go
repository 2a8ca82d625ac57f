package main

import (
	"fmt"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"utvi/internal/atomicfile"
	"utvi/internal/locate/frames"
	"utvi/internal/locate/list"
	"utvi/internal/locate/page"
)

func locateRenderCommand() *cobra.Command {
	t := &moleculesTable{}
	var fine, width, height float64
	cmd := &cobra.Command{
		Use:   "render TABLE",
		Short: "Draw the molecules of a table, each as wide as its error bar",
		Long: `Draw a picture: each molecule is a Gaussian of its own standard deviations, with the same
light. A .png is for eyes, with a scale bar; a .tif has 16 bits, linear, for programs.`,
		Example: `  utvi locate render cells.locs.csv --nm 10 -o cells.png`,
		Args:    oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(fine >= 0.1 && fine <= 1e4) || !(width >= 0 && height >= 0) {
				return usagef("--nm must be 0.1 to 10000, --width and --height above 0")
			}
			if err := t.read(args[0], ".png"); err != nil {
				return err
			}
			p, err := list.Render(t.all, fine, width, height)
			if err != nil {
				return err
			}
			if err := savePicture(t.out, p); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Wrote %d × %d pixels of %g nm to %s; the bar is %g nm.\n", p.Width, p.Height, fine, t.out, p.Bar())
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&t.out, "output", "o", "", "picture to write, .png or .tif (default the table's name with .png)")
	f.Float64Var(&fine, "nm", 10, "size of the picture's pixels in nm")
	f.Float64Var(&width, "width", 0, "width of the field in nm (default what the molecules need)")
	f.Float64Var(&height, "height", 0, "height of the field in nm")
	return cmd
}

func savePicture(out string, p *list.Picture) error {
	var write func(w io.Writer) error
	switch strings.ToLower(filepath.Ext(out)) {
	case ".png":
		write = func(w io.Writer) error { return png.Encode(w, p.Image()) }
	case ".tif", ".tiff":
		write = func(w io.Writer) error { return frames.NewWriter(w, p.Width, p.Height, 1).Write(p.Gray()) }
	default:
		return usagef("--output is %s; a picture is a .png or a .tif", out)
	}
	return saveTo(out, func(path string) error { return atomicfile.Write(path, write) })
}

func locateCheckCommand() *cobra.Command {
	t := &moleculesTable{}
	var seed uint64
	cmd := &cobra.Command{
		Use:   "check TABLE",
		Short: "Judge the error bars of a table by molecules that are on in several frames",
		Long: `Judge error bars on your own data, without a truth: a molecule that is on in two
successive frames is found twice, and both error bars promise how far apart. The page
shows these differences in terms of what was promised, observed against promised variance,
the precision by nearest neighbours (NeNA) and the Fourier ring correlation at 1/7.

Errors that stay the same while a molecule is on do not show: a neighbour that is on as
long, a lopsided image. Correct the drift first, and do not link before.`,
		Example: `  utvi locate check cells.locs.csv -o check.html`,
		Args:    oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.read(args[0], ".check.html"); err != nil {
				return err
			}
			if !strings.EqualFold(filepath.Ext(t.out), ".html") {
				return usagef("--output is %s; the page is an .html file", t.out)
			}
			c, err := list.RunCheck(t.all, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if err := saveTo(t.out, page.Check(args[0], c).Save); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintln(out, page.Verdict(c))
			fmt.Fprintf(out, "pairs             %d, %.0f %% of them of two molecules\n", c.Pairs, 100*c.Foreign)
			fmt.Fprintf(out, "spread of z       %.3f (1 is right)\n", c.Spread)
			fmt.Fprintf(out, "90 %% intervals    hold %.1f %%\n", 100*c.Holds)
			fmt.Fprintf(out, "observed variance (%.1f ± %.1f) nm² + (%.3f ± %.3f) × promised\n", c.A, c.SA, c.B, c.SB)
			fmt.Fprintf(out, "NeNA              %.1f nm\n", c.NeNA)
			if c.FRC > 0 {
				fmt.Fprintf(out, "FRC at 1/7        %.0f nm\n", c.FRC)
			}
			_, err = fmt.Fprintf(out, "Wrote %s.\n", t.out)
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&t.out, "output", "o", "", "page to write, .html (default the table's name with .check.html)")
	f.Uint64Var(&seed, "seed", 1, "seed by which molecules are parted into halves")
	return cmd
}
