package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/provenance"
	"utvi/internal/report"
	"utvi/internal/sweep"
)

// A Study is the findings of several experiments, ready to be written.
type Study struct {
	Size        Size
	Experiments []Experiment
	Findings    []*Findings // of each experiment
	WallSeconds float64     // of the last run
	Seconds     float64     // of all trials
	Trials      int
	Machine     provenance.Record // of the program that evaluates
	Machines    []string          // that ran the trials
	Revisions   []string          // of the programs that ran the trials
}

// NewStudy evaluates the results of a plan's trials. Every trial needs a result.
func NewStudy(size Size, experiments []Experiment, p *sweep.Plan, found []*sweep.Result) (*Study, error) {
	s := &Study{Size: size, Experiments: experiments, Trials: len(p.Trials), Machine: provenance.Here()}
	seen := map[string]bool{}
	for _, r := range found {
		if r == nil {
			continue
		}
		s.Seconds += r.Run.Seconds
		if m := r.Run.Machine(); !slices.Contains(s.Machines, m) {
			s.Machines = append(s.Machines, m)
		}
		if v := provenance.Short(r.Run.Version); !seen[v] {
			seen[v] = true
			s.Revisions = append(s.Revisions, v)
		}
	}
	results := NewResults(p, found)
	for _, e := range experiments {
		f, err := e.Find(size, results)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		s.Findings = append(s.Findings, f)
	}
	return s, nil
}

// Claims are those of all experiments.
func (s *Study) Claims() (claims []Claim) {
	for _, f := range s.Findings {
		claims = append(claims, f.Claims...)
	}
	return claims
}

// Save writes results.json, the figures, report.html and summary.md under dir, the
// numbers first. It returns the paths of the report, the numbers and the summary.
func (s *Study) Save(dir string) (files []string, err error) {
	figures := filepath.Join(dir, "figures")
	if err := os.MkdirAll(figures, 0o777); err != nil {
		return nil, err
	}
	html := filepath.Join(dir, "report.html")
	js := filepath.Join(dir, "results.json")
	md := filepath.Join(dir, "summary.md")
	if err := s.saveJSON(js); err != nil {
		return nil, err
	}
	for _, f := range s.Findings {
		for _, p := range f.Pictures {
			for _, ext := range []string{".svg", ".png"} {
				if err := report.Save(filepath.Join(figures, p.Name+ext), p.Figure); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := s.page().Save(html); err != nil {
		return nil, err
	}
	return []string{html, js, md}, atomicfile.Write(md, s.WriteMarkdown)
}

// saveJSON writes every number.
func (s *Study) saveJSON(path string) error {
	numbers := map[string]any{}
	scaled := map[string][]string{}
	for i, e := range s.Experiments {
		numbers[e.Name] = s.Findings[i].Numbers
		if x := s.Findings[i].Scaled; len(x) > 0 {
			scaled[e.Name] = x
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{
		"claims": s.Claims(), "preset": s.Size.Preset, "seed": s.Size.Seed, "scaled_down": scaled,
		"machine": s.Machine, "trial_machines": s.Machines, "trial_revisions": s.Revisions, "wall_seconds": s.WallSeconds, "trial_seconds": s.Seconds,
		"trials": s.Trials, "experiments": numbers,
	})
	if err != nil {
		return fmt.Errorf("cannot write the results to %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

// scaledText says what is smaller than in the paper, "" if nothing is.
func (s *Study) scaledText() string {
	var parts []string
	for i, e := range s.Experiments {
		if x := s.Findings[i].Scaled; len(x) > 0 {
			parts = append(parts, e.Name+": "+strings.Join(x, ", "))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	more := ""
	if s.Size.Preset != "paper" {
		more = " (--preset paper runs the full size)"
	}
	return "Scaled down" + more + ": " + strings.Join(parts, "; ") + "."
}

// WriteText prints the tables and the claims.
func (s *Study) WriteText(w io.Writer) error {
	var b strings.Builder
	for i, e := range s.Experiments {
		fmt.Fprintf(&b, "%s\n\n", e.Title)
		for _, t := range s.Findings[i].Tables {
			writeTable(&b, t)
		}
		for _, n := range s.Findings[i].Notes {
			fmt.Fprintf(&b, "%s\n\n", wrap(n, 100, "  "))
		}
	}
	for _, c := range s.Claims() {
		fmt.Fprintf(&b, "%-14v %s: %s\n%s\n", c.Verdict, c.Title, c.Shown, wrap(c.found(), 100, strings.Repeat(" ", 15)))
	}
	if x := s.scaledText(); x != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(x, 100, ""))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
