package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot/vg"

	"utvi/internal/pagestyle"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// A pageView is what the template reads.
type pageView struct {
	Page
	CSS      template.CSS
	Contents bool
	Claims   []claimGroup
	Sections []sectionView
	figures  int
}

type sectionView struct {
	ID    int
	Title string
	Parts []partView
}

// A partView has one of its kinds filled.
type partView struct {
	Prose, Warning, Source string
	Facts                  Facts
	Table                  *tableView
	Picture                *pictureView
	Sheet                  *sheetView
}

type tableView struct {
	Caption string
	Told    bool // names, values and what they mean: on a phone the last stands below
	Head    []cellView
	Rows    [][]cellView
}

type cellView struct {
	Text    string
	Numeric bool
}

type pictureView struct {
	Picture
	Label        string
	Wide, Narrow template.HTML
	Width        int // CSS pixels that the wide drawing may take at most
}

func (p Page) view() (*pageView, error) {
	v := &pageView{Page: p, CSS: template.CSS(pagestyle.CSS), Contents: len(p.Sections) > 2, Claims: groupClaims(p.Claims)}
	for i, s := range p.Sections {
		section := sectionView{ID: i + 1, Title: s.Title}
		for _, part := range s.Parts {
			pv, err := part.part(v)
			if err != nil {
				return nil, fmt.Errorf("section %q: %w", s.Title, err)
			}
			section.Parts = append(section.Parts, pv)
		}
		v.Sections = append(v.Sections, section)
	}
	return v, nil
}

// counted says of one claim, and of several, how they stand.
var counted = map[Verdict][2]string{
	Holds: {"holds", "hold"}, Exceeds: {"holds by more", "hold by more"},
	Fails: {"does not hold", "do not hold"}, Undecided: {"undecided", "undecided"},
}

// A claimGroup is the claims of one side, with how many of them hold.
type claimGroup struct {
	ID, Title, Tally string
	Claims           []claimView
}

// groupClaims parts what the paper claims from what only we found.
func groupClaims(claims []Claim) (groups []claimGroup) {
	for _, side := range []struct {
		id, title string
		own       bool
	}{{"claims", "The paper's claims", false}, {"findings", "Findings of our own", true}} {
		g := claimGroup{ID: side.id, Title: side.title}
		n := map[Verdict]int{}
		for _, c := range claims {
			if c.Own == side.own {
				g.Claims = append(g.Claims, viewClaim(c))
				n[c.Verdict]++
			}
		}
		if len(g.Claims) > 0 {
			g.Tally = tally(n)
			groups = append(groups, g)
		}
	}
	return groups
}

// tally tells the numbers of verdicts in a sentence.
func tally(n map[Verdict]int) string {
	var s []string
	for _, v := range []Verdict{Holds, Exceeds, Fails, Undecided} {
		if n[v] > 0 {
			s = append(s, fmt.Sprintf("%d %s", n[v], counted[v][min(n[v], 2)-1]))
		}
	}
	return strings.Join(s, " · ")
}

// A claimView adds the verdict's name in the style sheet and its sign.
type claimView struct {
	Claim
	Class, Mark string
}

func viewClaim(c Claim) claimView {
	class := map[Verdict]string{Undecided: "undecided", Holds: "holds", Fails: "fails", Exceeds: "holds"}[c.Verdict]
	mark := map[Verdict]string{Undecided: "?", Holds: "✓", Fails: "✗", Exceeds: "✓"}[c.Verdict]
	for _, text := range []*string{&c.Value, &c.Paper, &c.Ours, &c.Why} {
		*text = typeset(*text)
	}
	return claimView{c, class, mark}
}

// negative is a hyphen that stands for a minus: before a number, after nothing that it could join.
var negative = regexp.MustCompile(`(^|[\s(±])-(\.?\d)`)

// typeset gives negative numbers a minus, and keeps a number and its per cent in one line.
func typeset(s string) string {
	s = negative.ReplaceAllString(s, "$1−$2")
	return strings.ReplaceAll(s, " %", "\u00a0%")
}

func (s Prose) part(*pageView) (partView, error)   { return partView{Prose: typeset(string(s))}, nil }
func (s Warning) part(*pageView) (partView, error) { return partView{Warning: typeset(string(s))}, nil }
func (s Source) part(*pageView) (partView, error)  { return partView{Source: string(s)}, nil }
func (f Facts) part(*pageView) (partView, error)   { return partView{Facts: f}, nil }

func (t Table) part(*pageView) (partView, error) {
	v := &tableView{Caption: typeset(t.Caption)}
	numeric := make([]bool, len(t.Head))
	for j := range numeric {
		numeric[j] = t.numeric(j)
		v.Head = append(v.Head, cellView{typeset(t.Head[j]), numeric[j]})
	}
	for _, row := range t.Rows {
		cells := make([]cellView, max(len(row), len(t.Head)))
		for j, s := range row {
			cells[j] = cellView{typeset(s), j < len(numeric) && numeric[j]}
		}
		v.Rows = append(v.Rows, cells)
	}
	v.Told = len(v.Head) == 3 && !v.Head[0].Numeric && v.Head[1].Numeric && !v.Head[2].Numeric
	return partView{Table: v}, nil
}

// numeric reports whether all of a column's cells are numbers, blanks aside.
func (t Table) numeric(j int) bool {
	some := false
	for _, row := range t.Rows {
		if j >= len(row) || blank(row[j]) {
			continue
		}
		if !looksNumeric(row[j]) {
			return false
		}
		some = true
	}
	return some
}

func blank(s string) bool {
	switch strings.TrimSpace(s) {
	case "", "–", "—", "-", "none", "NaN":
		return true
	}
	return false
}

// looksNumeric: a number first, then at most a few more characters of a unit, a
// ± or an interval.
func looksNumeric(s string) bool {
	s = strings.TrimLeft(strings.TrimSpace(s), "+-−±≤≥<>≈~×([ ")
	if s == "" || !unicode.IsDigit([]rune(s)[0]) && !strings.HasPrefix(s, "Inf") && !strings.HasPrefix(s, "∞") {
		return false
	}
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters <= 6
}

func (p Picture) part(v *pageView) (partView, error) {
	for _, text := range []*string{&p.Caption, &p.Paper, &p.Ours} {
		*text = typeset(*text)
	}
	pv := &pictureView{Picture: p, Label: p.Label}
	if pv.Label == "" {
		v.figures++
		pv.Label = "Figure " + strconv.Itoa(v.figures)
	}
	if p.Figure == nil {
		return partView{}, fmt.Errorf("%s has nothing to draw", pv.Label)
	}
	w, _ := p.Figure.Size()
	pv.Width = int(math.Round(1.5 * w.Points()))
	var err error
	name := strings.TrimSpace(pv.Label + ". " + p.Title)
	pv.Wide, err = inline(p.Figure, name)
	if err != nil {
		return partView{}, fmt.Errorf("%s: %w", pv.Label, err)
	}
	if n, ok := p.Figure.(Narrower); ok {
		pv.Narrow, err = inline(n.Narrow(), name)
		if err != nil {
			return partView{}, fmt.Errorf("%s: %w", pv.Label, err)
		}
	}
	return partView{Picture: pv}, nil
}

// A Narrower is a figure that can be drawn for a phone's width.
type Narrower interface{ Narrow() Figure }

var (
	svgOpen  = regexp.MustCompile(`(?s)^.*?<svg[^>]*?(viewBox="[^"]*")[^>]*>`)
	svgFont  = regexp.MustCompile(`font-family:[^;"]*;font-variant:normal;font-weight:normal;font-style:normal;`)
	svgSpace = strings.NewReplacer("\n\t", " ")
	svgText  = regexp.MustCompile(`<text [^>]*font-size:([0-9.]+)px[^>]*>([^<]*)</text>`)
	// Pages have colours of their own, which stand out in the light and in the dark. Of a translucent
	// colour the encoder may lose the last bit.
	svgDark = []struct {
		colour *regexp.Regexp
		name   string
	}{
		{regexp.MustCompile(":#(2[12]){3}"), ":var(--ink)"},
		{regexp.MustCompile(":#(F[EF]){3}"), ":var(--paper)"}, // on blue, say
		{regexp.MustCompile(":#007[12]B[12]"), ":var(--blue)"},
		{regexp.MustCompile(":#(8[78]){3}"), ":var(--mid)"},
		{regexp.MustCompile(":#E[56]9[EF]00"), ":var(--orange)"},
		{regexp.MustCompile(":#009[DE]7[23]"), ":var(--green)"},
		{regexp.MustCompile(":#C[BC]7[89]A[67]"), ":var(--purple)"},
		{regexp.MustCompile(":#5[56]B[34]E[89]"), ":var(--sky)"},
		{regexp.MustCompile(":#D[45]5[DE]00"), ":var(--vermilion)"},
	}
)

// fitted gives a text of a figure the length that it was laid out with: the font of a reader's
// system may be wider.
func fitted(element string) string {
	m := svgText.FindStringSubmatch(element)
	size, err := strconv.ParseFloat(m[1], 64)
	text := strings.Join(strings.Fields(html.UnescapeString(m[2])), " ") // as browsers write it
	fnt := handler.Cache().Lookup(face(tickSize), tickSize)
	if err != nil || text == "" || strings.ContainsFunc(text, func(c rune) bool { return missing(fnt, c) }) {
		return element
	}
	length := textStyle(vg.Length(size), ink).Width(text).Points()
	return fmt.Sprintf(`<text textLength="%.4g" lengthAdjust="spacingAndGlyphs"%s`, length, strings.TrimPrefix(element, "<text"))
}

// inline is a figure as SVG to stand in a page. It takes the page's ink, so that
// it can be read in the dark, and the page's font, and leaves out what only a
// file needs.
func inline(f Figure, name string) (template.HTML, error) {
	var b bytes.Buffer
	if err := encode(&b, f, ".svg"); err != nil {
		return "", err
	}
	s := svgOpen.ReplaceAllString(b.String(), `<svg $1 role="img" aria-label="`+strings.ReplaceAll(html.EscapeString(name), "$", "$$")+`">`)
	s = svgSpace.Replace(svgFont.ReplaceAllString(s, ""))
	s = svgText.ReplaceAllStringFunc(s, fitted)
	for _, d := range svgDark {
		s = d.colour.ReplaceAllString(s, d.name)
	}
	return template.HTML(s), nil // all text in it was escaped when it was drawn
}
