package fit

import (
	"cmp"
	"errors"
	"fmt"

	"utvi/internal/advice"
	"utvi/internal/schema"
	"utvi/internal/tabular"
)

// Network holds the settings of the networks and of their training.
type Network = tabular.Config

// Progress tells how far a training is.
type Progress = tabular.Progress

// A Config says what a table's columns are and how its network is trained. Only Targets
// must be set: zero values are found in the table or are defaults.
type Config struct {
	Targets     []string           `json:"targets"`
	Task        string             `json:"task"`   // regression, or classification; "": classification if the target is text
	Inputs      []string           `json:"inputs"` // nil: all columns that have no other role
	Ignore      []string           `json:"ignore"`
	Categorical []string           `json:"categorical"`            // columns to treat as categories: numbers, or names that hardly repeat
	TargetRange string             `json:"target_range,omitempty"` // bounds of the targets, such as 0: or 0:100; "": found; ":": none
	Weight      string             `json:"weight"`
	Group       string             `json:"group"`
	Time        string             `json:"time"`
	Impute      bool               `json:"impute"`     // accept missing inputs
	InputStd    map[string]float64 `json:"input_std"`  // per column; a column x_std beside x is found automatically
	MaxLevels   int                `json:"max_levels"` // that have an input each; a column with more is embedded; 0: 50

	Holdout float64     `json:"holdout"` // share of rows to evaluate on; 0: 0.1; below 0: none, and no evaluation
	Refit   string      `json:"refit"`   // whether to train again with all rows, once those held out are scored: always, never; "": if there are fewer than 2,000
	Memory  int         `json:"memory"`  // most made-up rows that the model keeps for later updates; 0: 2,000; below 0: none
	Seed    uint64      `json:"seed"`    // of the split and the training; 0: 1
	Network Network     `json:"network"`
	Images  ImageConfig `json:"images,omitzero"`
}

// columns are the settings of the table's columns.
func (c Config) columns() schema.Spec {
	return schema.Spec{
		Targets: c.Targets, Task: schema.Task(c.Task), Inputs: c.Inputs, Ignore: c.Ignore, Categorical: c.Categorical,
		TargetRange: c.TargetRange, Weight: c.Weight, Group: c.Group, Time: c.Time, Impute: c.Impute,
		InputStd: c.InputStd, MaxLevels: c.MaxLevels,
	}
}

// Uses reports whether a column of this name is asked for, or not left out: see table.Options.Used.
func (c Config) Uses(column string) bool {
	columns := c.columns()
	return columns.Uses(column)
}

// complete fills in defaults, so that a report says what was done.
func (c Config) complete() Config {
	c.Holdout = cmp.Or(c.Holdout, 0.1)
	c.Seed = cmp.Or(c.Seed, 1)
	c.MaxLevels = cmp.Or(c.MaxLevels, 50)
	for _, list := range []*[]string{&c.Inputs, &c.Ignore, &c.Categorical} {
		if len(*list) == 0 { // an empty list means that none was given
			*list = nil
		}
	}
	if len(c.InputStd) == 0 {
		c.InputStd = nil
	}
	return c
}

// Check reports invalid settings before a table is read.
func (c Config) Check() error {
	c = c.complete()
	switch {
	case len(c.Targets) == 0:
		return errors.New("no target is given; name the column to predict")
	case c.Task != "" && c.Task != string(schema.Regression) && c.Task != string(schema.Classification):
		return fmt.Errorf("the task is %q; choose auto, %s or %s", c.Task, schema.Regression, schema.Classification)
	case !(c.Holdout < 1):
		return fmt.Errorf("the share of rows to hold out is %g; it must lie between 0 and 1, or be −1 to hold out none", c.Holdout)
	case c.Group != "" && c.Time != "":
		return advice.Errorf("rows are held out by groups or by time, not by both; %v or %v", advice.Set("Group", c.Group), advice.Set("Time", c.Time))
	case c.MaxLevels < 1:
		return fmt.Errorf("the largest number of levels is %d; it must be at least 1", c.MaxLevels)
	}
	if err := checkRefit(c.Refit); err != nil {
		return err
	}
	columns := c.columns()
	if err := columns.CheckTargetRange(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, t := range c.Targets {
		if seen[t] {
			return fmt.Errorf("the target %s is named twice", t)
		}
		seen[t] = true
	}
	if err := c.Images.check(); err != nil {
		return err
	}
	if c.Network.Seed != 0 {
		return errors.New("the settings of the network have a seed; set the seed of the fit instead")
	}
	return c.Network.Check(c.Task == string(schema.Classification))
}
