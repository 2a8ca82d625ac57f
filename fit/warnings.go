package fit

import (
	"fmt"
	"strings"

	"utvi/internal/advice"
	"utvi/internal/schema"
	"utvi/internal/tabular"
)

// A Warning says what is odd about a table, in a sentence without a full stop. Its String spells
// settings as the library does; In spells them for another reader, see package advice.
type Warning = advice.Sentence

// A survey is what warnings are found in: the columns, the training rows as numbers, and what became
// of the other rows.
type survey struct {
	schema   *schema.Schema
	data     *tabular.Data
	file     string
	held     int
	repeated int    // of the rows held out, those that are also training rows
	missing  int    // rows set aside without a target
	mark     string // a cell that stands for a missing target; "": none is known
}

// surveys find warnings, in the order in which they are told.
var surveys = []func(survey) []Warning{
	survey.setAside, survey.emptyColumns, survey.oddColumns, survey.outlyingTargets, survey.inOrder,
	survey.errorsAsInputs, survey.copies, survey.twins, survey.repeatedRows, survey.tooFewRows,
}

func (s survey) warnings() (all []Warning) {
	for _, find := range surveys {
		all = append(all, find(s)...)
	}
	return all
}

// warning is a list of one warning.
func warning(format string, args ...any) []Warning { return []Warning{advice.New(format, args...)} }

// few are some of the warnings about columns, and how many more there are.
func few(all []Warning, more string) []Warning {
	const most = 5
	if len(all) <= most {
		return all
	}
	return append(all[:most:most], advice.New(more, len(all)-most))
}

func (s survey) setAside() []Warning {
	if s.missing == 0 {
		return nil
	}
	mark := ""
	if s.mark != "" {
		mark = "; " + s.mark + " stands for a missing target"
	}
	return warning("%s: %s no target and %s set aside%s", s.file, have(s.missing), isAre(s.missing), mark)
}

func (s survey) emptyColumns() []Warning {
	var names []string
	for _, c := range s.schema.Columns {
		if c.Role == schema.Dropped && c.Missing > 0 && c.Missing == s.schema.Rows {
			names = append(names, c.Name)
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return warning("column %s has no values and is left out", names[0])
	}
	return warning("%d columns have no values and are left out: %s", len(names), some(names))
}

func (s survey) oddColumns() (all []Warning) {
	for _, c := range s.schema.Columns {
		if c.Warning != "" {
			all = append(all, advice.New("column %s: %v", c.Name, c.Advice()))
		}
	}
	return few(all, "%d more columns hold odd values")
}

func (s survey) outlyingTargets() (all []Warning) {
	for t, c := range s.schema.Targets() {
		if c.Type != schema.Numeric {
			continue
		}
		n, worst := outliers(s.data, t, c)
		switch {
		case n == 1:
			all = append(all, advice.New("target %s: the value %s is far from all others; check it", c.Name, c.Digits(worst)))
		case n > 1:
			all = append(all, advice.New("target %s: %d of %d values are far from all others, such as %s; check them", c.Name, n, s.data.X.Rows, c.Digits(worst)))
		}
	}
	return all
}

// errorsAsInputs finds inputs that are named as the error bars of a target.
func (s survey) errorsAsInputs() (all []Warning) {
	for _, c := range s.schema.Columns {
		for _, t := range s.schema.Targets() {
			if c.Role == schema.Input && c.Name == t.Name+"_std" {
				all = append(all, advice.New("column %s looks like the error of the target %s, but is used as an input; %v if it is not known when predictions are made",
					c.Name, t.Name, advice.Set("Ignore", c.Name)))
			}
		}
	}
	return all
}

// repeatedRows warns if more rows are held out that the networks also learn than chance explains.
func (s survey) repeatedRows() []Warning {
	const fewest, share = 3, 0.01
	if s.repeated < fewest || float64(s.repeated) <= share*float64(s.held) || coarse(s.data) {
		return nil
	}
	return warning("%d of %d held-out rows also occur among the training rows, with the same target; the scores may be too good (remove repeated rows, or %v to keep them together)",
		s.repeated, s.held, advice.Set("Group", ""))
}

// tooFewRows warns of rough scores and error bars.
func (s survey) tooFewRows() (all []Warning) {
	const fewRows, fewHeld = 50, 30
	if n := s.data.X.Rows + s.held; n < fewRows {
		all = append(all, advice.New("%d rows are few: intervals may cover far more or less than they say", n))
	}
	if s.held > 0 && s.held < fewHeld {
		all = append(all, advice.New("only %s held out: the scores are rough", rows(s.held)))
	}
	return all
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func rows(n int) string {
	if n == 1 {
		return "1 row is"
	}
	return fmt.Sprintf("%d rows are", n)
}

// some joins the first names.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
