package sweep

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// State describes the progress of the plan in one or two sentences.
func (s *Summary) State() string {
	if !s.Partial() {
		return fmt.Sprintf("All %d trials are done.", s.Trials)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "PARTIAL: %d of %d trials are done", s.Done, s.Trials)
	for _, x := range []struct{ what, which string }{{"running", s.Running}, {"failed", s.Failed}, {"missing", s.Missing}} {
		if x.which != "" {
			fmt.Fprintf(&b, "; %s: %s", x.what, x.which)
		}
	}
	b.WriteByte('.')
	return b.String()
}

// WriteMarkdown writes the state and a table, mean ± standard error with the
// standard deviation beside.
func (s *Summary) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", cell(s.Plan), s.State())
	for _, x := range s.All {
		if x.Why != "" && x.State != Running {
			fmt.Fprintf(&b, "Trial %d, %s, is %s: %s.\n\n", x.Trial.Index, x.Trial.Name, x.State, cell(x.Why))
		}
	}
	b.WriteString("| group | trials | metric | mean ± se | sd |\n|---|---:|---|---:|---:|\n")
	for _, g := range s.Groups {
		n := strconv.Itoa(g.Done)
		if g.Done < g.Trials {
			n = fmt.Sprintf("%d of %d", g.Done, g.Trials)
		}
		name := cell(g.Name)
		if len(g.Metrics) == 0 {
			fmt.Fprintf(&b, "| %s | %s | | | |\n", name, n)
		}
		for _, m := range g.Metrics {
			mean, sd := strconv.FormatFloat(m.Mean, 'g', 5, 64), ""
			if m.SD != nil {
				mean += " ± " + strconv.FormatFloat(*m.SE, 'g', 2, 64)
				sd = strconv.FormatFloat(*m.SD, 'g', 2, 64)
			}
			if m.N < g.Done {
				mean += fmt.Sprintf(" (of %d)", m.N)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, n, cell(m.Name), mean, sd)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell makes text safe for a cell of a Markdown table and for a terminal.
func cell(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return strings.ReplaceAll(s, "|", `\|`)
}

// WriteCSV writes a row for every group and metric, in full precision.
func (s *Summary) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"group", "trials", "done", "metric", "n", "mean", "sd", "se"})
	for _, g := range s.Groups {
		for _, m := range g.Metrics {
			row := []string{g.Name, strconv.Itoa(g.Trials), strconv.Itoa(g.Done), m.Name, strconv.Itoa(m.N), number(m.Mean), "", ""}
			if m.SD != nil {
				row[6], row[7] = number(*m.SD), number(*m.SE)
			}
			c.Write(row)
		}
	}
	c.Flush()
	return c.Error()
}

// WriteTrials writes a row for every trial of the plan, with its metrics.
func (s *Summary) WriteTrials(w io.Writer) error {
	names := map[string]bool{}
	for _, x := range s.All {
		if x.Result != nil {
			for m := range x.Result.Metrics {
				names[m] = true
			}
		}
	}
	metrics := slices.Sorted(maps.Keys(names))
	c := csv.NewWriter(w)
	c.Write(append([]string{"index", "trial", "group", "state"}, metrics...))
	for _, x := range s.All {
		row := []string{strconv.Itoa(x.Trial.Index), x.Trial.Name, groupOf(x.Trial), string(x.State)}
		for _, m := range metrics {
			v := ""
			if x.Result != nil {
				if f, ok := x.Result.Metrics[m]; ok {
					v = number(f)
				}
			}
			row = append(row, v)
		}
		c.Write(row)
	}
	c.Flush()
	return c.Error()
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
