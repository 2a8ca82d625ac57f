package experiment

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"utvi/internal/report"
)

// page is the report.
func (s *Study) page() report.Page {
	p := report.Page{
		Title:    "Few-sample variational inference, reproduced",
		Subtitle: "The experiments of arXiv 2405.02063, and a verdict on each of its claims",
		Provenance: []report.Fact{
			{Name: "Program", Value: s.Machine.Version}, {Name: "Machine", Value: strings.Join(s.Machines, "; ")},
			{Name: "Preset", Value: fmt.Sprintf("%s, seed %d", s.Size.Preset, s.Size.Seed)},
			{Name: "Trials", Value: s.trialsText()},
			{Name: "Wall time", Value: seconds(s.WallSeconds).String() + " (last run)"},
		},
		ClaimsNote: s.scaledText(),
	}
	for _, c := range s.Claims() {
		p.Claims = append(p.Claims, report.Claim{Title: c.Title, Paper: c.Paper, Ours: c.Ours, Why: c.Why, Value: c.Shown, Verdict: c.Verdict, Own: c.Own})
	}
	for i, e := range s.Experiments {
		f := s.Findings[i]
		sec := report.Section{Title: e.Title}
		for _, n := range f.Notes {
			sec.Parts = append(sec.Parts, report.Prose(n))
		}
		for _, x := range f.Pictures {
			x.Picture.Note = "figures/" + x.Name
			sec.Parts = append(sec.Parts, x.Picture)
		}
		for _, t := range f.Tables {
			sec.Parts = append(sec.Parts, t)
		}
		p.Sections = append(p.Sections, sec)
	}
	return p
}

// trialsText is the number of trials and their time. It names the programs that ran
// them, unless this program ran all.
func (s *Study) trialsText() string {
	text := fmt.Sprintf("%d, %v in total", s.Trials, seconds(s.Seconds))
	if slices.Equal(s.Revisions, []string{s.Machine.Version}) {
		return text
	}
	return text + ", run by " + strings.Join(s.Revisions, ", ")
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

// WriteMarkdown writes the claims, tables and figures as Markdown.
func (s *Study) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The paper's claims\n\nPreset %s, seed %d. Trials: %s, on %s. Evaluated by utvi %s.\n\n",
		s.Size.Preset, s.Size.Seed, s.trialsText(), strings.Join(s.Machines, "; "), s.Machine.Version)
	if x := s.scaledText(); x != "" {
		fmt.Fprintf(&b, "%s\n\n", x)
	}
	s.writeClaims(&b)
	for i, e := range s.Experiments {
		f := s.Findings[i]
		fmt.Fprintf(&b, "\n## %s\n", e.Title)
		for _, n := range f.Notes {
			fmt.Fprintf(&b, "\n%s\n", n)
		}
		for _, p := range f.Pictures {
			fmt.Fprintf(&b, "\n![%s](figures/%s.png)\n\n**%s. %s** %s\n", p.Title, p.Name, p.Label, p.Title, p.Caption)
		}
		for _, t := range f.Tables {
			fmt.Fprintf(&b, "\n%s\n\n| %s |\n|%s\n", t.Caption, strings.Join(t.Head, " | "), strings.Repeat("---|", len(t.Head)))
			for _, r := range t.Rows {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(cells(r), " | "))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeClaims writes a table that can be scanned, the findings of our own apart, and then how
// each was judged.
func (s *Study) writeClaims(b *strings.Builder) {
	heads := []struct {
		own   bool
		title string
	}{{false, "| the paper says | found | verdict |\n|---|---|---|\n"}, {true, "\n| we find besides | found | verdict |\n|---|---|---|\n"}}
	for _, h := range heads {
		title := h.title
		for _, c := range s.Claims() {
			if c.Own == h.own {
				fmt.Fprintf(b, "%s| %s | %s | %s |\n", title, cell(c.Title), cell(c.Shown), c.Verdict)
				title = ""
			}
		}
	}
	fmt.Fprint(b, "\n## How each was judged\n")
	for _, c := range s.Claims() {
		fmt.Fprintf(b, "\n**%s** (%s). *Paper:* %s *Here:* %s\n", c.Title, c.Verdict, c.Paper, c.found())
	}
}

// cell escapes a sentence for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func cells(row []string) []string {
	out := make([]string, len(row))
	for i, s := range row {
		out[i] = cell(s)
	}
	return out
}

// writeTable prints a table with its caption.
func writeTable(w io.Writer, t report.Table) {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "  "+strings.Join(t.Head, "\t"))
	for _, r := range t.Rows {
		fmt.Fprintln(tw, "  "+strings.Join(r, "\t"))
	}
	tw.Flush()
	fmt.Fprintf(w, "\n%s\n\n", wrap(t.Caption, 100, "  "))
}

// wrap breaks text into indented lines of at most width letters.
func wrap(s string, width int, indent string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(s) {
		k := utf8.RuneCountInString(word)
		switch {
		case i == 0:
			b.WriteString(indent)
			n = len(indent)
		case n+1+k > width:
			b.WriteString("\n" + indent)
			n = len(indent)
		default:
			b.WriteString(" ")
			n++
		}
		b.WriteString(word)
		n += k
	}
	return b.String()
}
