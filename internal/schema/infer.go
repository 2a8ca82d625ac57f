package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"utvi/internal/notation"
	"utvi/table"
)

// Infer reads rows once and finds out what their columns are. Means, deviations
// and levels come from these rows: give it training rows.
func Infer(rows table.Source, spec Spec) (*Schema, error) { return inferFrom(rows, spec, nil) }

// inferFrom is Infer, or InferAs with a settled schema.
func inferFrom(rows table.Source, spec Spec, settled *Schema) (*Schema, error) {
	h := rows.Header()
	in := &inference{Spec: spec, head: h, settled: settled, roles: make([]Role, len(h.Columns))}
	if in.MaxLevels == 0 {
		in.MaxLevels = 50
	}
	if err := in.assignRoles(); err != nil {
		return nil, err
	}
	in.begin(rows)
	n := 0
	err := table.Each(rows, func(c *table.Chunk) error {
		n += c.Rows()
		return in.add(c)
	})
	if err != nil {
		return nil, err
	}
	s := &Schema{Named: h.Named, Impute: spec.Impute, Rows: n, Columns: make([]Column, len(h.Columns))}
	if err := in.decide(s); err != nil {
		return nil, err
	}
	return s, nil
}

// An inference is on its way from rows to a schema.
type inference struct {
	Spec
	head     *table.Header
	settled  *Schema // nil: these rows settle what the columns are
	roles    []Role
	profiles []*profile
}

// begin makes a profile for each column.
func (in *inference) begin(rows table.Source) {
	frame, known := rows.(interface{ Padded(col int) bool })
	for i, name := range in.head.Columns {
		p := newProfile(in.head, i)
		if known && frame.Padded(i) || slices.Contains(in.Categorical, name) {
			p.mostNumbers = maxTexts // they are counted as texts are, from the first row on
		}
		if in.settled != nil && (in.roles[i] == Input || in.roles[i] == Target) {
			p.as = &in.settled.Columns[i]
			if p.as.Type == Categorical {
				p.mostNumbers = maxTexts
			}
		}
		if in.roles[i] == Input { // 32 MiB in all
			p.sample.room = max(512, min(8192, 1<<22/len(in.head.Columns)))
		}
		in.profiles = append(in.profiles, p)
	}
}

// add takes in the rows of a chunk. Missing inputs and targets are counted to the end:
// a column may hold nothing else.
func (in *inference) add(c *table.Chunk) error {
	for col, role := range in.roles {
		if role == Dropped || role == Group || role == Time {
			continue
		}
		p := in.profiles[col]
		for row := range c.Rows() {
			was := p.missing
			p.add(c, row, col)
			if p.missing > was && role != Target && role != Input {
				return missingError(c, row, col, role)
			}
		}
	}
	return nil
}

// decide makes the columns of the schema.
func (in *inference) decide(s *Schema) error {
	for i, p := range in.profiles {
		codes := in.mayBeCodes(i)
		if p.as != nil {
			codes = p.as.Codes
		}
		if codes {
			p.asCodes()
		}
		if p.as != nil {
			p.settleAs(p.as)
		} else {
			p.settle()
		}
	}
	if err := in.missingTargets(s.Rows); err != nil {
		return err
	}
	s.Task = in.decideTask()
	if err := in.severalTargets(s.Task); err != nil {
		return err
	}
	for i, name := range in.head.Columns {
		c := &s.Columns[i]
		c.Name = name
		c.Role = in.roles[i]
		c.Missing = in.profiles[i].missing
		if err := in.column(c, in.profiles[i], s.Task); err != nil {
			return err
		}
		if as := in.profiles[i].as; as != nil {
			c.readAs(as)
		}
	}
	in.linkStd(s)
	in.noteRowNumbers(s)
	if err := in.noInputs(s); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("%s: %w", in.head.File, err)
	}
	return nil
}

// column decides about one column, by its role.
func (in *inference) column(c *Column, p *profile, task Task) error {
	switch c.Role {
	case Input:
		return in.input(c, p)
	case Target:
		return in.target(c, p, task)
	case Weight, Std:
		return in.plain(c, p)
	case Dropped:
		c.Note = "ignored"
	}
	return nil
}

// decideTask is what the user says, else classification of names, and of yes or no.
func (in *inference) decideTask() Task {
	if in.settled != nil {
		return in.settled.Task
	}
	if in.Task != "" {
		return in.Task
	}
	const fewest = 10 // numbers that show that there are only two
	for _, name := range in.Targets {
		p := in.profiles[in.head.Column(name)]
		yesOrNo := len(in.Targets) == 1 && p.texts == 0 && p.style == nil && len(p.numberCount) == 2 && p.numbers >= fewest
		if yesOrNo || in.holdsNames(name) {
			return Classification
		}
	}
	return Regression
}

// linkStd makes each column of deviations go where its column goes.
func (in *inference) linkStd(s *Schema) {
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Role != Std {
			continue
		}
		x := &s.Columns[in.head.Column(strings.TrimSuffix(c.Name, "_std"))]
		if x.Role == Input && x.Type == Numeric {
			x.StdFrom = c.Name
			c.Note = "standard deviation of " + x.Name
		} else {
			c.drop("the standard deviation of " + x.Name + ", which is not a number")
		}
	}
}

// drop leaves a column out.
func (c *Column) drop(why string) {
	c.Role = Dropped
	c.Note = why
}

// noteRowNumbers remarks on inputs that may only number the rows, unless the user
// chose the inputs or the table has only one.
func (in *inference) noteRowNumbers(s *Schema) {
	if in.Inputs != nil || len(s.Inputs()) < 2 {
		return
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == Input && c.Type == Numeric && in.profiles[i].mayNumberRows() {
			c.Note = "looks like a row number; ignore the column if it is one"
		}
	}
}

// noInputs is the error about a table in which nothing is left to predict from: why each
// column is not an input. Nil if some column is one.
func (in *inference) noInputs(s *Schema) error {
	const most = 5 // columns that are named
	var why []string
	for _, c := range s.Columns {
		switch c.Role {
		case Input:
			return nil
		case Weight, Group, Time:
			why = append(why, fmt.Sprintf("%s is the %s", c.Name, c.Role))
		case Dropped:
			verb := "is"
			if strings.HasPrefix(c.Note, "only ") {
				verb = "has"
			}
			why = append(why, c.Name+" "+verb+" "+c.Note)
		}
	}
	switch more := len(why) - most; {
	case len(why) == 0:
		why = []string{"the table has no other columns"}
	case more == 1:
		why = append(why[:most], "and 1 other")
	case more > 1:
		why = append(why[:most], fmt.Sprintf("and %d others", more))
	}
	return fmt.Errorf("%s: no column is left to predict from: %s", in.head.File, notation.Printable(strings.Join(why, "; ")))
}

// plain is a column whose numbers are used as they are: weights and deviations.
func (in *inference) plain(c *Column, p *profile) error {
	what := roleName[c.Role]
	switch {
	case p.texts > 0 || p.style != nil: // times are texts
		return fmt.Errorf("%s; a %s must be a number", p.firstText, what)
	case p.missing > 0:
		return errors.New(p.firstMissing.sentence(what))
	case p.infinite != "":
		return errors.New(p.infinite)
	case p.negative != "":
		return fmt.Errorf("%s; a %s must be a number ≥ 0", p.negative, what)
	case c.Role == Weight && p.max == 0:
		return fmt.Errorf("%s: every weight in column %s is 0", in.head.File, c.Name)
	}
	c.Type = Numeric
	c.Stats = p.stats()
	in.keepDecimal(c, p)
	return nil
}
