package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/internal/atomicfile"
	"utvi/internal/inputfile"
	"utvi/internal/modelfile"
	"utvi/internal/modelpage"
	"utvi/predict"
)

// checkPage completes the folder's name and refuses what belongs to graphs.
func (o *exportOptions) checkPage(f *pflag.FlagSet, file string) error {
	for _, name := range []string{"variance", "quantiles", "interval"} {
		if f.Changed(name) {
			return usagef("--%s belongs to a graph; the page asks for what it shows", name)
		}
	}
	if o.out == "" {
		o.out = strings.TrimSuffix(file, filepath.Ext(file)) + "-page"
	}
	return modelfile.Check(file)
}

// writePage writes the folder.
func (o *exportOptions) writePage(cmd *cobra.Command, file string) error {
	text, err := inputfile.Read(file, 2)
	if err != nil {
		return err
	}
	// What the page cannot open, it should not get: functions of this program alone, for one.
	_, err = predict.Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return fmt.Errorf("cannot export %s: %w", file, err)
	}
	base := filepath.Base(file)
	all, err := modelpage.Folder(strings.TrimSuffix(base, filepath.Ext(base)), text)
	if err != nil {
		return err
	}
	return writeFolder(cmd.OutOrStdout(), o.out, all)
}

// writeFolder writes the files of a page and says so; index.html comes last, when all that it needs
// is there.
func writeFolder(w io.Writer, folder string, all map[string][]byte) error {
	names := slices.Sorted(maps.Keys(all))
	slices.SortStableFunc(names, func(a, b string) int { return indexLast(a) - indexLast(b) })
	size := 0
	for _, name := range names {
		err := saveTo(filepath.Join(folder, name), func(path string) error {
			return atomicfile.Write(path, func(w io.Writer) error {
				_, err := w.Write(all[name])
				return err
			})
		})
		if err != nil {
			return err
		}
		size += len(all[name])
	}
	_, err := fmt.Fprintf(w, "Wrote %s (%d files, %.1f MB); open its index.html in a browser.\n", folder, len(names), float64(size)/1e6)
	return err
}

func indexLast(name string) int {
	if name == "index.html" {
		return 1
	}
	return 0
}
