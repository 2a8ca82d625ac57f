package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/table"
)

// A parted table says which rows are learned from and which are held out.
type parted struct {
	frame   *table.Frame
	train   []int
	heldOut []int
	missing int // rows set aside without a target

	columns *schema.Schema // what all rows together say of the columns; nil: those to train with say it

	older *older // rows of the frame that a model remembers; nil: none
}

// part holds out rows of a table, if there are enough, of each class in proportion.
func part(f *table.Frame, c Config) (parted, error) {
	p, err := whole(f, c)
	if err != nil {
		return p, err
	}
	p.columns, err = schema.Infer(f.Rows(p.train), c.columns())
	if err != nil {
		return p, err
	}
	return p.hold(c, classColumn(p.columns))
}

// whole has all rows with a target to train with, if there are enough.
func whole(f *table.Frame, c Config) (parted, error) {
	rows, missing := schema.WithTargets(f, nil, c.Targets)
	split := table.Split{Fraction: c.Holdout, Group: c.Group, Time: c.Time}
	return parted{frame: f, train: rows, missing: missing}, enough(f, len(rows), missing, c.Targets, split)
}

// hold holds out rows, if the configuration asks for it; class is the column of the classes, "" if
// there are none.
func (p parted) hold(c Config, class string) (parted, error) {
	if c.Holdout <= 0 {
		return p, nil
	}
	var err error
	p.train, p.heldOut, err = p.frame.Split(p.train, table.Split{Seed: c.Seed, Fraction: c.Holdout, Group: c.Group, Time: c.Time, Class: class})
	return p, err
}

// classColumn is the column of the classes, "" if the target is a number.
func classColumn(s *schema.Schema) string {
	if s.Task != schema.Classification {
		return ""
	}
	return s.Targets()[0].Name
}

// enough refuses a table with too few rows, and says how many are needed in all. A target that
// is no column is the greater mistake, which schema.Infer reports.
func enough(f *table.Frame, n, missing int, targets []string, s table.Split) error {
	unknown := slices.ContainsFunc(targets, func(name string) bool { return f.Header().Column(name) < 0 })
	need, how := tabular.LeastRows, " to learn from"
	if s.Fraction > 0 {
		need = sort.Search(math.MaxInt32, func(n int) bool { return n-s.Held(n) >= tabular.LeastRows })
		how = fmt.Sprintf(", %d to learn from and %d to hold out", need-s.Held(need), s.Held(need))
	}
	if n >= need || unknown && n >= 2 {
		return nil
	}
	return fmt.Errorf("%s has too few rows: %s; at least %d are needed%s", f.Header().File, withTargets(n, missing), need, how)
}

func withTargets(n, missing int) string {
	if missing > 0 {
		return fmt.Sprintf("%d with a target, %d without", n, missing)
	}
	return fmt.Sprint(n)
}

// learnColumns learns what the columns are, and their statistics from the training rows. A class,
// or a value of the target, that only held-out rows have is moved to the training rows.
func (p parted) learnColumns(c schema.Spec) (parted, *schema.Schema, error) {
	single := c.Group == "" && c.Time == "" // rows may change sides
	s, err := p.infer(c)
	if _, same := errors.AsType[*schema.ConstantTarget](err); same && single && p.moveDiffering(c.Targets) {
		s, err = p.infer(c)
	}
	if err != nil {
		return p, nil, err
	}
	if s.Task == schema.Classification && single && p.moveUnknown(s) {
		s, err = p.infer(c)
	}
	return p, s, err
}

// infer learns the statistics of the training rows.
func (p parted) infer(c schema.Spec) (*schema.Schema, error) {
	if p.columns == nil {
		return schema.Infer(p.frame.Rows(p.train), c)
	}
	return schema.InferAs(p.columns, p.frame.Rows(p.train), c)
}

// moveDiffering moves a held-out row to the training rows if a target is the same in all of these;
// it reports whether a held-out row differs.
func (p *parted) moveDiffering(targets []string) bool {
	for _, name := range targets {
		col := p.frame.Header().Column(name)
		differs := func(row int) bool { return p.level(row, col) != p.level(p.train[0], col) }
		if slices.ContainsFunc(p.train, differs) {
			continue
		}
		if at := slices.IndexFunc(p.heldOut, differs); at >= 0 && len(p.heldOut) > 1 {
			p.move([]int{p.heldOut[at]}, slices.Delete(slices.Clone(p.heldOut), at, at+1))
			return true
		}
	}
	return false
}

// moveUnknown moves the rows of classes that occur only among those held out to the rows to train
// with; it reports whether there are such rows, and others.
func (p *parted) moveUnknown(s *schema.Schema) bool {
	target := s.Targets()[0]
	col := p.frame.Header().Column(target.Name)
	known := map[string]bool{}
	for _, l := range s.Classes() {
		known[l] = true
	}
	var kept, moved []int
	for _, row := range p.heldOut {
		c, at := p.frame.At(row)
		if kind, _ := c.Cell(at, col); kind == table.Missing || known[target.Level(c, at, col)] {
			kept = append(kept, row)
		} else {
			moved = append(moved, row)
		}
	}
	if len(moved) == 0 || len(kept) == 0 {
		return false
	}
	p.move(moved, kept)
	return true
}

// move adds rows to those to train with, and leaves the others held out.
func (p *parted) move(rows, others []int) {
	p.train = ascending(slices.Concat(p.train, rows))
	p.heldOut = others
}

func (p *parted) level(row, col int) string {
	c, at := p.frame.At(row)
	return level(c, at, col)
}

func ascending(rows []int) []int {
	slices.Sort(rows)
	return rows
}
