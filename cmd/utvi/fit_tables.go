package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/internal/atomicfile"
	"utvi/internal/compute"
	"utvi/internal/folder"
	"utvi/internal/pixels"
	"utvi/internal/schema"
	"utvi/table"
	_ "utvi/table/images"  // images are read
	_ "utvi/table/parquet" // table.Open reads Parquet files
)

// tableFlags say what a table looks like, for commands that read one.
type tableFlags struct {
	header, delimiter, decimal, encoding string

	names folder.Names // of the columns of a folder of images

	array    folder.Array // of images, as far as flags describe it
	pictures bool         // the model takes images: an array holds such
}

func (t *tableFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&t.header, "header", "auto", "whether the first row of a text file names the columns: <auto>, <yes> or <no>")
	f.StringVar(&t.delimiter, "delimiter", "auto", "character between the fields of a text file: one character, <tab>, <space> or <auto>")
	f.StringVar(&t.decimal, "decimal", "auto", "what stands before fractions in columns of a text file that leave it open, such as 1,234: <point>, <comma> or <auto>")
	f.StringVar(&t.encoding, "encoding", "auto", "how a text file writes characters: <utf-8>, <utf-16>, <utf-16be>, <latin1> or <auto>")
}

func (t *tableFlags) options(pool *compute.Pool) (table.Options, error) {
	o := table.Options{Pool: pool}
	switch t.header {
	case "auto":
	case "yes":
		o.Header = table.WithHeader
	case "no":
		o.Header = table.NoHeader
	default:
		return o, usagef("--header takes auto, yes or no, not %q", t.header)
	}
	switch d := t.delimiter; {
	case d == "auto":
	case d == "tab":
		o.Delimiter = '\t'
	case d == "space":
		o.Delimiter = ' '
	case len(d) == 1 && d[0] > ' ' && d[0] < 0x7f && d != `"`:
		o.Delimiter = d[0]
	default:
		return o, usagef("--delimiter takes one character, tab, space or auto, not %q", d)
	}
	switch t.decimal {
	case "auto":
	case "point", ".":
		o.Decimal = '.'
	case "comma", ",":
		o.Decimal = ','
	default:
		return o, usagef("--decimal takes point, comma or auto, not %q", t.decimal)
	}
	var err error
	o.Encoding, err = table.ParseEncoding(t.encoding)
	return o, misuse(err)
}

// arrayFlags are those of arrays of images, for commands that need no target, or compare with one.
func (t *tableFlags) arrayFlags(f *pflag.FlagSet, targets bool) {
	f.StringVar(&t.array.Layout, "layout", "", "where an array of images has its channels: <nhwc>, behind height and width, or <nchw> (default by the shape)")
	if targets {
		f.StringVar(&t.array.Targets, "targets", "", "`file` .npy with the classes or numbers of an array")
	}
}

// checkArray refuses a layout that there is not.
func (t *tableFlags) checkArray() error {
	if l := t.array.Layout; l != "" && !slices.Contains(pixels.Layouts, l) {
		return usagef("--layout takes nhwc or nchw, not %q", l)
	}
	return nil
}

// rows are those of a table that is open.
type rows interface {
	table.Source
	io.Closer
}

// open opens a table that streams, or the images of a folder, or one image.
func (t *tableFlags) open(path string, pool *compute.Pool) (rows, error) {
	if folder.Is(path) {
		return folder.Open(path, t.names)
	}
	if pixels.IsImage(path) {
		return folder.One(path, t.names), nil
	}
	if t.pictures && strings.EqualFold(filepath.Ext(path), ".npy") {
		a := t.array
		a.Path = path
		return a.Open(t.names)
	}
	o, err := t.options(pool)
	if err != nil {
		return nil, err
	}
	r, err := table.Open(path, o)
	if err != nil || t.array.Targets == "" {
		return r, err
	}
	defer r.Close()
	y, err := table.Open(t.array.Targets, o)
	if err != nil {
		return nil, err
	}
	defer y.Close()
	return folder.Beside(r, y, t.names)
}

// stream opens a table and lets use read its rows. How far it is shows on progress.
func (t *tableFlags) stream(path string, progress io.Writer, use func(rows table.Source, pool *compute.Pool) error) error {
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	rows, err := t.open(path, pool)
	if err != nil {
		return err
	}
	defer rows.Close()
	all := 0
	if s, ok := rows.(interface{ Rows() int }); ok {
		all = s.Rows()
	} else {
		all = estimateRows(path)
	}
	bar := newRowProgress(progress, rows, all)
	defer bar.close()
	return use(bar, pool)
}

// tellCalibration says that predictions are corrected, if they are.
func tellCalibration(cmd *cobra.Command, m *fit.Model) {
	if s := m.CalibrationText(); s != "" {
		tell(cmd, "predictions are calibrated: %s", s)
	}
}

// loadTableModel loads a model that fit made.
func loadTableModel(path string) (*fit.Model, error) {
	m, err := fit.Load(path, paperMaps())
	if errors.Is(err, fit.ErrNotTabular) {
		return nil, fmt.Errorf("%s: %w, which utvi fit and utvi bayes create, but a network; utvi export writes it as a graph that predicts, utvi serve answers with it", path, err)
	}
	return m, err
}

// call makes the images of a folder be called as the model calls its columns.
func (t *tableFlags) call(m *fit.Model) {
	s := m.Schema
	t.names = folder.Names{}
	for _, c := range s.Targets() {
		t.names.Targets = append(t.names.Targets, c.Name)
	}
	if s.Pictures() {
		t.pictures = true
		t.names.File = s.Columns[s.Picture()].Name
		t.names.Class = t.names.Targets[0]
		return
	}
	for _, c := range s.Columns {
		if c.Role == schema.Input {
			t.names.Inputs = append(t.names.Inputs, c.Name)
		}
	}
}

// modelAndTable takes exactly two arguments: a model file and a table.
func modelAndTable(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usagef("%s takes a model file and a table, not %s", cmd.CommandPath(), plural(len(args), "argument", "arguments"))
	}
	return nil
}

// tell writes a note for people.
func tell(cmd *cobra.Command, format string, args ...any) {
	fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...)
}

// writeOut writes to a file, whole or not at all, or to standard output. What goes
// wrong in producing the text is reported as it is, not as a fault of the file.
func writeOut(cmd *cobra.Command, path string, produce func(w io.Writer) error) error {
	if path == "" || path == "-" {
		w := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<20)
		if err := produce(w); err != nil {
			w.Flush() // the rows before it are sound
			return err
		}
		return w.Flush()
	}
	var failed error
	err := saveTo(path, func(path string) error {
		return atomicfile.Write(path, func(w io.Writer) error {
			watched := &watchedWriter{w: w}
			err := produce(watched)
			if watched.err == nil {
				failed = err
			}
			return err
		})
	})
	if failed != nil {
		return failed
	}
	return err
}

// A watchedWriter remembers whether writing failed.
type watchedWriter struct {
	w   io.Writer
	err error
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// printScores writes the scores of every target.
func printScores(w io.Writer, all []fit.Scores) error {
	for _, s := range all {
		if len(all) > 1 {
			fmt.Fprintf(w, "%s:\n", tame(s.Target))
		}
		if err := s.WriteTable(w); err != nil {
			return err
		}
	}
	return nil
}
