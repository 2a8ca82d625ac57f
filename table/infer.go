package table

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Spec holds the user's settings for the columns of a table.
type Spec struct {
	Targets     []string           `json:"targets"`
	Task        Task               `json:"task"`   // "": classification if the target is text
	Inputs      []string           `json:"inputs"` // nil: all columns that have no other role
	Ignore      []string           `json:"ignore"`
	Categorical []string           `json:"categorical"` // columns to treat as categories: numbers, or names that hardly repeat
	Weight      string             `json:"weight"`
	Group       string             `json:"group"`
	Time        string             `json:"time"`
	Impute      bool               `json:"impute"`     // accept missing inputs
	InputStd    map[string]float64 `json:"input_std"`  // per column; a column x_std beside x is found automatically
	MaxLevels   int                `json:"max_levels"` // that have an input each; a column with more is embedded; 0: 50
}

// Infer reads rows once and finds out what their columns are. Means, deviations
// and levels come from these rows: give it training rows.
func Infer(rows Source, spec Spec) (*Schema, error) {
	h := rows.Header()
	in := &inference{Spec: spec, head: h, roles: make([]Role, len(h.Columns))}
	if in.MaxLevels == 0 {
		in.MaxLevels = 50
	}
	if err := in.assign(); err != nil {
		return nil, err
	}
	in.profiles = make([]*profile, len(h.Columns))
	for i := range in.profiles {
		in.profiles[i] = newProfile()
		s, ok := rows.(interface{ padded(col int) bool })
		if ok && s.padded(i) || slices.Contains(in.Categorical, h.Columns[i]) {
			in.profiles[i].mostNumbers = maxTexts
		}
		if in.roles[i] == Input { // 32 MiB in all
			in.profiles[i].sample.room = max(512, min(8192, 1<<22/len(h.Columns)))
		}
	}
	n := 0
	err := each(rows, func(c *Chunk) error {
		n += c.Rows()
		return in.look(c)
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

type inference struct {
	Spec
	head     *Header
	roles    []Role
	profiles []*profile
}

// look takes in the rows of a chunk. Missing inputs and targets are counted to the end:
// a column may hold nothing else.
func (in *inference) look(c *Chunk) error {
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

func missingError(c *Chunk, row, col int, role Role) error {
	gone := isGone(c.written(row, col), roleName[role])
	if role == Target {
		gone += "; remove the row"
	}
	return c.errorf(row, col, "%s", gone)
}

var roleName = map[Role]string{Target: "target", Weight: "weight", Std: "standard deviation"}

// decide makes the columns of the schema.
func (in *inference) decide(s *Schema) error {
	for i, p := range in.profiles {
		if in.mayBeCodes(i) {
			p.asCodes()
		}
		p.settle(in.head.point(i))
	}
	if err := in.missingTargets(s.Rows); err != nil {
		return err
	}
	s.Task = in.task()
	if err := in.severalTargets(s.Task); err != nil {
		return err
	}
	for i, name := range in.head.Columns {
		c := &s.Columns[i]
		*c = Column{Name: name, Role: in.roles[i], Missing: in.profiles[i].missing}
		var err error
		switch c.Role {
		case Input:
			err = in.input(c, in.profiles[i])
			if err == nil && c.Role == Input && c.Missing > 0 && !in.Impute {
				err = &MissingValue{in.profiles[i].firstLack.missing("value"), name}
			}
		case Target:
			err = in.target(c, in.profiles[i], s.Task)
		case Weight, Std:
			err = in.plain(c, in.profiles[i])
		case Dropped:
			c.Note = "ignored"
		}
		if err != nil {
			return err
		}
	}
	for i := range s.Columns { // a deviation goes where its column goes
		c := &s.Columns[i]
		if c.Role != Std {
			continue
		}
		x := &s.Columns[in.head.Column(strings.TrimSuffix(c.Name, "_std"))]
		if x.Role == Input && x.Type == Numeric {
			x.StdFrom, c.Note = c.Name, "standard deviation of "+x.Name
		} else {
			c.Role, c.Note = Dropped, "the standard deviation of "+x.Name+", which is not a number"
		}
	}
	in.noteRowNumbers(s)
	if err := in.inputless(s); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("%s: %w", in.head.File, err)
	}
	return nil
}

func (in *inference) task() Task {
	if in.Task != "" {
		return in.Task
	}
	for _, name := range in.Targets {
		i := in.head.Column(name)
		p := in.profiles[i]
		switch {
		case in.isNames(name):
			return Classification
		case len(in.Targets) == 1 && p.texts == 0 && p.style == nil && len(p.numberCount) == 2 && p.numbers >= 10: // yes or no
			return Classification
		}
	}
	return Regression
}

// ticked recognises a column that holds one number or nothing: the cells that are missing
// are what it says.
func (p *profile) ticked() bool {
	return p.missing > 0 && p.numbers > 0 && p.min == p.max && p.style == nil && p.marks == nil
}

func (in *inference) input(c *Column, p *profile) error {
	std, hasStd := in.InputStd[c.Name]
	forced := slices.Contains(in.Categorical, c.Name)
	switch {
	case p.numbers+p.texts == 0 && p.infinite == "":
		c.Role, c.Note = Dropped, "only missing values"
		return nil
	case !forced && p.texts == 0 && p.style == nil && p.compact() && !hasStd:
		p.time, p.times = p.dates, []*timed{p.dates}
		if in.times(c, p); c.Role == Input {
			c.Note = "read as dates, the year first; name the column as categorical if they are not"
		}
		return nil
	case !forced && p.time != nil:
		if hasStd {
			return fmt.Errorf("column %s holds times and cannot have the input standard deviation %g", c.Name, std)
		}
		in.times(c, p)
		return nil
	case !forced && in.mixedMoney(c, p) != nil:
		return in.mixedMoney(c, p)
	case !forced && p.mixed(in.MaxLevels):
		return p.stray(c)
	case forced || p.texts > 0 || p.ticked():
		if hasStd {
			return fmt.Errorf("column %s is categorical and cannot have the input standard deviation %g", c.Name, std)
		}
		return in.categorical(c, p, forced)
	}
	c.Std = std
	err := in.numeric(c, p)
	if err == nil && c.Role == Input {
		c.Apart = in.Impute
		in.scale(c, p)
	}
	return err
}

// scale decides how an input is scaled, and notes numbers that look like marks.
func (in *inference) scale(c *Column, p *profile) {
	scale, odd := newScale(p.sample.numbers)
	c.Scale = scale
	for _, o := range odd {
		if o.common {
			continue
		}
		note := fmt.Sprintf("%.2g %% of the values are %s, far from all others; leave such cells empty if they mark missing values", 100*o.share, digits(o.value))
		c.Note, c.Odd = also(c.Note, note), also(c.Odd, note)
	}
}

// also joins two notes.
func also(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

func (in *inference) numeric(c *Column, p *profile) error {
	if p.infinite != "" {
		return errors.New(p.infinite)
	}
	c.Type = Numeric
	c.Mean = p.mean
	c.SD = p.sd()
	c.Min = p.min
	c.Max = p.max
	if !(c.SD > 0) || c.Min == c.Max {
		*c = Column{Name: c.Name, Role: Dropped, Missing: c.Missing, Note: "constant: " + label(c.Min)}
	}
	c.Marks = p.markList()
	if p.style != nil {
		c.Style, c.Unit = p.style.style, p.style.unit
		c.Note = fmt.Sprintf("%s is read as %s", short(p.style.example), digits(p.style.exampleValue))
	} else if in.point(c) == ',' && !p.whole && c.Role != Dropped {
		c.Note = in.commaNote(c, p)
	}
	in.written(c, p)
	if math.IsInf(c.SD, 0) || math.IsInf(c.Mean, 0) {
		return fmt.Errorf("column %s spans %g to %g, too wide a range for its mean and deviation", c.Name, c.Min, c.Max)
	}
	return nil
}

// times makes a column of dates or times: a trend, and the place within the year, the
// week and the day.
func (in *inference) times(c *Column, p *profile) {
	t := p.time
	c.SD = math.Sqrt(t.m2 / float64(t.n))
	if !(c.SD > 0) {
		c.Role, c.Note = Dropped, "the same time in every row"
		return
	}
	c.Type = Times
	c.Layout = t.layout
	c.Parts = t.parts()
	c.Marks = p.markList()
	c.Mean = t.mean
	c.Min = t.min
	c.Max = t.max
	c.Apart = in.Impute
	for _, other := range p.times[1:] {
		if other.min != t.min || other.max != t.max || other.mean != t.mean { // the day or the month first
			c.Note = fmt.Sprintf("read as %s; the cells also fit %s", named(t.layout), named(other.layout))
			break
		}
	}
}

// categorical makes a column of names. Names that hardly repeat tell nothing about other rows
// and are dropped, unless the user chose the column.
func (in *inference) categorical(c *Column, p *profile, chosen bool) error {
	levels, counted := p.levels()
	n := p.numbers + p.texts
	drop := ""
	switch {
	case len(levels) == 1 && counted && p.missing == 0:
		c.Role, c.Note = Dropped, "constant: "+levels[0]
		return nil
	case chosen && !counted:
		return fmt.Errorf("%s: column %s cannot be categorical: it has more than %d different values; ignore the column", in.head.File, c.Name, maxTexts)
	case len(levels) == n && n > 10 && chosen:
		return fmt.Errorf("%s: column %s cannot be categorical: its %d values all differ in the rows to learn from; ignore the column", in.head.File, c.Name, n)
	case len(levels) == n && n > 10:
		drop = "text that differs in every row"
	case len(levels) > in.MaxLevels && (!counted || 2*len(levels) > n) && !chosen:
		drop = "text of more than " + strconv.Itoa(in.MaxLevels) + " different values, mostly unique"
	}
	mixture := p.unitNote(in.point(c))
	if !chosen {
		became := "they are read as names"
		if drop != "" {
			became = "the column is left out"
		}
		c.Odd = in.oddNames(c, p, became)
	}
	if drop != "" {
		c.Role, c.Note = Dropped, drop
		if why := cmp.Or(p.undated(in.head), mixture, p.codesNote()); why != "" {
			c.Note += ": " + why
		}
		return nil
	}
	c.Type = Categorical
	c.Levels = levels
	c.NA = p.isName
	c.None = p.isNone
	c.Codes = p.codes
	c.Note = p.codesNote()
	in.written(c, p)
	switch {
	case p.isName:
		c.Note = "NA is read as a name"
	case p.isNone:
		c.Note = "None is read as a name"
	case mixture != "":
		c.Note = mixture + ", so they are read as names"
	}
	c.Odd = also(c.Odd, oddCase(levels, "names"))
	c.Embedded = len(levels) > in.MaxLevels
	c.Apart = !c.Embedded && p.missing > 0
	return nil
}

// plain is a column whose numbers are used as they are: weights and deviations.
func (in *inference) plain(c *Column, p *profile) error {
	switch {
	case p.texts > 0 || p.style != nil || p.time != nil:
		return fmt.Errorf("%s; a %s must be a number", p.firstText, roleName[c.Role])
	case p.missing > 0:
		return errors.New(p.firstLack.missing(roleName[c.Role]))
	case p.infinite != "":
		return errors.New(p.infinite)
	case p.negative != "":
		return fmt.Errorf("%s; a %s must be a number ≥ 0", p.negative, roleName[c.Role])
	case c.Role == Weight && p.max == 0:
		return fmt.Errorf("%s: every weight in column %s is 0", in.head.File, c.Name)
	}
	c.Type = Numeric
	c.Mean = p.mean
	c.SD = p.sd()
	c.Min = p.min
	c.Max = p.max
	in.written(c, p)
	return nil
}
