package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"utvi/internal/atomicfile"
)

// A Page is one self-contained HTML file: what was claimed and what was measured
// first, then sections of prose, figures and tables. It asks nothing of the
// network, runs no script, and reads well on a phone, in the dark and on paper.
type Page struct {
	Title, Subtitle string
	Provenance      []Fact // commit, machine, date, wall time …
	Claims          []Claim
	ClaimsNote      string // a sentence above the claims, such as what was scaled down
	Sections        []Section
}

// A Claim is a statement that is tested.
type Claim struct {
	Title   string // the claim in a few words
	Paper   string // what was claimed
	Ours    string // what was found
	Why     string // a sentence on the verdict, if one is needed
	Value   string // the number that decides, with its unit
	Verdict Verdict
	Own     bool // nobody else claims it: shown and counted apart
}

// A Verdict on a claim. The zero value is Undecided.
type Verdict int

const (
	Undecided Verdict = iota // the run is too small, or its numbers do not settle the claim
	Holds
	Fails
	Exceeds // more is true than is claimed
)

var verdicts = [...]string{"undecided", "holds", "does not hold", "holds, by more"}

// String is the verdict in words, which always stand beside its colour.
func (v Verdict) String() string { return verdicts[v] }

// MarshalText writes the verdict in words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the words of a verdict.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdicts[:], string(text))
	if i < 0 {
		return fmt.Errorf("the verdict is %q; it must be one of %q", text, verdicts)
	}
	*v = Verdict(i)
	return nil
}

// A Section is a heading with what stands below it.
type Section struct {
	Title string
	Parts []Part
}

// A Part is a [Prose], [Warning], [Source], [Table], [Facts], [Picture] or [Sheet].
type Part interface {
	part(*pageView) (partView, error)
}

// Prose is a paragraph.
type Prose string

// A Warning is a paragraph that must not be overlooked.
type Warning string

// Source is text shown as it is, such as a configuration.
type Source string

// Facts are names with their values, such as settings.
type Facts []Fact

// A Fact is a name with its value.
type Fact struct{ Name, Value string }

// A Table has columns that align right where all of their cells are numbers.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// A Picture is a figure with its caption, what the paper says of it and what was
// found here.
type Picture struct {
	Figure      Figure
	Label       string // such as "Figure S1"; numbered in order if empty
	Title       string // the caption's first words, set in bold
	Caption     string
	Paper, Ours string
	Note        string // such as the name of the file
}

// Write writes the page as HTML. A figure that cannot be drawn is an error.
func (p Page) Write(w io.Writer) error {
	v, err := p.view()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return err
	}
	_, err = w.Write(clean(b.Bytes()))
	return err
}

// Save writes the page to a file, whole or not at all.
func (p Page) Save(path string) error {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}
