// Package tablebench scores the default fit on real tables, several splits each, beside peers that
// learn from the same rows and are scored on the same others.
package tablebench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"utvi/fit"
	"utvi/table"
)

// A Table is a file with what a user would say about it.
type Table struct {
	Name        string   `json:"name"`
	File        string   `json:"file"` // in a folder that is searched
	Target      string   `json:"target"`
	Task        string   `json:"task"` // regression or classification
	Ignore      []string `json:"ignore,omitempty"`
	Categorical []string `json:"categorical,omitempty"`
	Impute      bool     `json:"impute,omitempty"`
	Train       int      `json:"train,omitempty"` // rows to learn from; 0: four fifths
}

const regression, classification = "regression", "classification"

// known are the tables that the benchmark looks for, the smallest first. Files that begin with
// sklearn_ and statsmodels_ are those of these packages (peers.py export).
var known = []Table{
	{Name: "statecrime", File: "statsmodels_statecrime.csv", Target: "murder", Task: regression},
	{Name: "strikes", File: "statsmodels_strikes.csv", Target: "duration", Task: regression},
	{Name: "ccard", File: "statsmodels_ccard.csv", Target: "AVGEXP", Task: regression},
	{Name: "cars93", Target: "Price", Task: regression, Ignore: []string{"rownames", "Min.Price", "Max.Price", "Make", "Model"}, Categorical: []string{"Cylinders"}, Impute: true},
	{Name: "prostate", Target: "lpsa", Task: regression},
	{Name: "airquality", Target: "Ozone", Task: regression, Ignore: []string{"rownames"}, Impute: true},
	{Name: "quine", Target: "Days", Task: regression, Ignore: []string{"rownames"}},
	{Name: "diabetes50", File: "sklearn_diabetes.csv", Target: "target", Task: regression, Train: 50},
	{Name: "diabetes100", File: "sklearn_diabetes.csv", Target: "target", Task: regression, Train: 100},
	{Name: "diabetes200", File: "sklearn_diabetes.csv", Target: "target", Task: regression, Train: 200},
	{Name: "grunfeld", File: "statsmodels_grunfeld.csv", Target: "invest", Task: regression},
	{Name: "engel", File: "statsmodels_engel.csv", Target: "foodexp", Task: regression},
	{Name: "cancer", File: "statsmodels_cancer.csv", Target: "cancer", Task: regression},
	{Name: "star98", File: "statsmodels_star98.csv", Target: "share", Task: regression, Ignore: []string{"NABOVE", "NBELOW"}},
	{Name: "hitters", Target: "Salary", Task: regression, Ignore: []string{"rownames"}},
	{Name: "mpg", Target: "mpg", Task: regression, Ignore: []string{"name"}, Impute: true},
	{Name: "diabetes", File: "sklearn_diabetes.csv", Target: "target", Task: regression},
	{Name: "bikes", Target: "rides", Task: regression, Ignore: []string{"rownames"}},
	{Name: "wage", Target: "wage", Task: regression, Ignore: []string{"rownames"}},
	{Name: "nmes", Target: "visits", Task: regression, Ignore: []string{"rownames"}},
	{Name: "lecturers", Target: "y", Task: regression, Ignore: []string{"rownames"}, Categorical: []string{"s", "d", "dept"}},

	{Name: "spector", File: "statsmodels_spector.csv", Target: "GRADE", Task: classification},
	{Name: "iris", File: "sklearn_iris.csv", Target: "target", Task: classification},
	{Name: "winecultivars", File: "sklearn_wine.csv", Target: "target", Task: classification},
	{Name: "tissue", Target: "y", Task: classification, Ignore: []string{"rownames"}},
	{Name: "glass", Target: "type", Task: classification},
	{Name: "penguins", Target: "species", Task: classification, Impute: true},
	{Name: "breastcancer", File: "sklearn_breast_cancer.csv", Target: "target", Task: classification},
	{Name: "titanic", Target: "Survived", Task: classification, Ignore: []string{"PassengerId", "Name", "Ticket", "Cabin"}, Impute: true},
	{Name: "anes96", File: "statsmodels_anes96.csv", Target: "vote", Task: classification},
	{Name: "german", Target: "credit", Task: classification},
	{Name: "digits", File: "sklearn_digits.csv", Target: "target", Task: classification},
	{Name: "churn10k", Target: "Exited", Task: classification, Ignore: []string{"RowNumber", "CustomerId"}},
}

// Find returns the known tables whose files are in one of the folders, or those named.
func Find(folders, names []string) ([]Table, error) {
	var found []Table
	for _, t := range known {
		if names != nil && !slices.Contains(names, t.Name) {
			continue
		}
		if t.File == "" {
			t.File = t.Name + ".csv"
		}
		for _, dir := range folders {
			path := filepath.Join(dir, t.File)
			if _, err := os.Stat(path); err == nil {
				t.File = path
				found = append(found, t)
				break
			}
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(found, func(t Table) bool { return t.Name == name }) {
			return nil, fmt.Errorf("there is no table %q in %s; the benchmark knows %s", name, strings.Join(folders, ", "), strings.Join(Names(), ", "))
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s: no table of the benchmark is there; its files are called %s", strings.Join(folders, ", "), strings.Join(Files(), ", "))
	}
	return found, nil
}

// Names are those of all known tables.
func Names() (all []string) {
	for _, t := range known {
		all = append(all, t.Name)
	}
	return all
}

// Files are the names of the files of all known tables.
func Files() (all []string) {
	for _, t := range known {
		file := t.File
		if file == "" {
			file = t.Name + ".csv"
		}
		if !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	return all
}

// Check reports a table that says too little.
func (t Table) Check() error {
	if t.File == "" || t.Target == "" || t.Task != regression && t.Task != classification {
		return errors.New("a table needs a file, a target and a task: regression or classification")
	}
	return nil
}

// config is what a user would give.
func (t Table) config(seed uint64) fit.Config {
	return fit.Config{Targets: []string{t.Target}, Task: t.Task, Ignore: t.Ignore, Categorical: t.Categorical, Impute: t.Impute, Seed: seed}
}

// split divides the rows that have a target; split k of a table is the same for everyone.
func (t Table) split(f *table.Frame, k int) (train, test []int, err error) {
	col := f.Header().Column(t.Target)
	if col < 0 {
		return nil, nil, fmt.Errorf("%s has no column %s", t.File, t.Target)
	}
	var rows []int
	for i := range f.Len() {
		c, at := f.At(i)
		if kind, _ := c.Cell(at, col); kind != table.Missing {
			rows = append(rows, i)
		}
	}
	s := table.Split{Seed: uint64(k) + 1, Fraction: 0.2}
	if t.Train > 0 {
		if t.Train >= len(rows) {
			return nil, nil, fmt.Errorf("%s has %d rows with a target; %d are to be learned from, and some to be left", t.File, len(rows), t.Train)
		}
		s.Fraction = float64(len(rows)-t.Train) / float64(len(rows))
	}
	if t.Task == classification {
		s.Class = t.Target
	}
	return f.Split(rows, s)
}
