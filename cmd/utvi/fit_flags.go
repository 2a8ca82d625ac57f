package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"utvi/fit"
	"utvi/internal/folder"
	"utvi/internal/notation"
	"utvi/internal/schema"
)

// fitFlags are the settings that flags give. Other settings of a file stay.
type fitFlags struct {
	file     string
	task     string
	refit    string
	inputStd []string
	images   imageFlags
	folder   bool          // the images of a folder are fitted
	array    *arrayTargets // the images of an array are fitted, with these targets
	flag     fit.Config
}

func (s *fitFlags) flags(f *pflag.FlagSet) {
	c, n := &s.flag, &s.flag.Network
	f.StringSliceVar(&c.Targets, "target", nil, "`column` to predict; may be given several times")
	f.StringVar(&s.task, "task", "auto", "<auto>, <regression> or <classification> (auto: decided by the target)")
	f.StringSliceVar(&c.Inputs, "input", nil, "`column` to predict from; may be given several times (default all other columns)")
	f.StringSliceVar(&c.Ignore, "ignore", nil, "`column` to leave out; may be given several times")
	f.StringSliceVar(&c.Categorical, "categorical", nil, "`column` to treat as categories: numbers such as codes, or names that hardly repeat")
	f.StringVar(&c.TargetRange, "target-range", "", "values that the target can have, such as 0: or 0:100; intervals end there (default found in the table; : for none)")
	f.StringVar(&c.Weight, "weight", "", "`column` with the weight of each row")
	f.StringVar(&c.Group, "group", "", "`column` with the group of each row; a group is held out as a whole or not at all")
	f.StringVar(&c.Time, "time", "", "`column` with the time of each row, which is no longer an input; the latest rows are held out")
	f.BoolVar(&c.Impute, "impute", false, "accept missing values of inputs; they are replaced by the training mean, in skewed columns by the median")
	f.StringArrayVar(&s.inputStd, "input-std", nil, "standard deviation of a column's values, as `column=number` (such as length=0.1; a column length_std gives it for each row)")
	f.IntVar(&c.MaxLevels, "max-levels", 0, "most levels of a category that get an input each; a column with more levels is embedded (default 50)")
	f.Float64Var(&c.Holdout, "holdout", 0, "share of rows to hold out for the evaluation (default 0.1); -1 trains on all rows and writes no report")
	f.StringVar(&s.refit, "refit", "auto", "train the networks again with all rows, once those held out are scored: <auto>, <always> or <never> (auto: tables of fewer than 2,000 rows)")
	f.IntVar(&c.Memory, "memory", 0, "most made-up rows that the model keeps for utvi update (default 2000); -1 keeps none")
	f.Uint64Var(&c.Seed, "seed", 0, "seed of all random numbers (default 1)")
	f.IntVar(&n.Ensemble, "ensemble", 0, "number of networks in the ensemble (default 5, or up to 10 that stop early)")
	f.StringVar(&n.Noise, "noise", "", "model of the noise: <embedded>, <learned> or <heteroscedastic>; of counts <poisson> or <negative-binomial> (default chosen on held-out rows)")
	f.Float64Var(&n.KL, "kl", 0, "weight of the KL penalty (default chosen on held-out rows)")
	f.StringVar(&n.Activation, "activation", "", "nonlinearity: the name of a `function`, or a formula such as 'a*tanh(b*x); a = 1; b = learned 0.5' (default chosen on held-out rows)")
	f.StringVar(&n.Rule, "rule", "", "rule that carries mean and variance through a nonlinearity: <exact>, <gh(9)>, <ut(2)>, <learned-ut(2)>, <genut(0,3)>, <mc(10)> or <linear>, with numbers of your own (default the closed form or gh(9))")
	f.IntVar(&n.Width, "width", 0, "units of a hidden layer (default by the number of rows)")
	f.IntVar(&n.Depth, "depth", 0, "number of hidden layers (default chosen on held-out rows)")
	f.IntVar(&n.Steps, "steps", 0, "number of training steps (default by the number of rows)")
	f.IntVar(&n.Batch, "batch", 0, "rows in a training step (default by the number of rows)")
	f.Float64Var(&n.Rate, "rate", 0, "largest learning rate (default 0.005)")
	f.Float64Var(&n.Validation, "validation", 0, "share of training rows to choose the networks by (default by the number of rows)")
	s.images.flags(f)
	f.StringVar(&s.file, "config", "", "file with settings, YAML or JSON; flags override it")
}

// config joins the file's settings and the flags that were given.
func (s *fitFlags) config(f *pflag.FlagSet) (fit.Config, error) {
	var c fit.Config
	if err := refuseZeros(f); err != nil {
		return c, err
	}
	if s.file != "" {
		file, err := fit.LoadConfig(s.file)
		if err != nil {
			return c, err
		}
		c = file
	}
	if err := s.override(&c, f); err != nil {
		return c, err
	}
	if err := s.images.override(&c.Images, f); err != nil {
		return c, err
	}
	if s.folder {
		c.Targets = []string{folder.Class}
		c.Images.Column = folder.File
		c.Task = string(schema.Classification) // also of folders that are called 0, 1 …
	}
	if a := s.array; a != nil {
		c.Targets = a.names
		c.Images.Column = folder.File
		if a.classes && c.Task == "" {
			c.Task = string(schema.Classification) // numbers without fractions number classes
		}
	}
	if len(c.Targets) == 0 {
		return c, errNoTarget
	}
	return c, misuse(c.Check())
}

var errNoTarget = usagef("no target is given; name the column to predict with --target")

// naming adds the columns of the table to the refusal of a fit without a target.
func naming(err error, cmd *cobra.Command, args []string) error {
	found := columns(cmd, args)
	if len(found) == 0 || !errors.Is(err, errNoTarget) {
		return err
	}
	return usagef("%w; the table has %s", err, notation.List(found))
}

// zeros are flags whose 0 would be read as "not given", and what 0 would mean.
var zeros = []struct{ name, means string }{
	{"holdout", "would leave no rows to evaluate the model; give a share above 0, or -1 to do without an evaluation"},
	{"kl", "would disable the KL penalty; give a small number, such as 0.01"},
	{"validation", "would leave no rows to choose the networks by; give a share above 0"},
	{"memory", "stands for the default, 2000; give -1 to keep none"},
	{"seed", "stands for the default, 1; give another number"},
	{"max-levels", "would leave no level; use --ignore to leave a column out"},
	{"ensemble", "would train no network; give at least 1"},
	{"width", "would leave layers without units; give at least 1"},
	{"depth", "would be a linear model; give at least 1"},
	{"steps", "would not train the networks; give at least 1"},
	{"batch", "would train on no rows; give at least 1"},
	{"rate", "would not train the networks; give a number above 0, such as 0.005"},
}

// refuseZeros reports such a flag, so that a default never replaces what the user asked
// for.
func refuseZeros(f *pflag.FlagSet) error {
	for _, z := range zeros {
		if f.Changed(z.name) && f.Lookup(z.name).Value.String() == "0" {
			return usagef("--%s 0 %s, or leave the flag out for the default", z.name, z.means)
		}
	}
	return nil
}

func (s *fitFlags) override(c *fit.Config, f *pflag.FlagSet) error {
	given := &s.flag
	net := &c.Network
	givenNet := &s.flag.Network
	for name, take := range map[string]func(){
		"target":       func() { c.Targets = given.Targets },
		"input":        func() { c.Inputs = given.Inputs },
		"ignore":       func() { c.Ignore = given.Ignore },
		"categorical":  func() { c.Categorical = given.Categorical },
		"target-range": func() { c.TargetRange = given.TargetRange },
		"weight":       func() { c.Weight = given.Weight },
		"group":        func() { c.Group = given.Group },
		"time":         func() { c.Time = given.Time },
		"impute":       func() { c.Impute = given.Impute },
		"max-levels":   func() { c.MaxLevels = given.MaxLevels },
		"holdout":      func() { c.Holdout = given.Holdout },
		"memory":       func() { c.Memory = given.Memory },
		"seed":         func() { c.Seed = given.Seed },
		"refit": func() {
			c.Refit = s.refit
			if s.refit == "auto" {
				c.Refit = ""
			}
		},
		"ensemble":   func() { net.Ensemble = givenNet.Ensemble },
		"noise":      func() { net.Noise = givenNet.Noise },
		"kl":         func() { net.KL = givenNet.KL },
		"activation": func() { net.Activation = givenNet.Activation },
		"rule":       func() { net.Rule = givenNet.Rule },
		"width":      func() { net.Width = givenNet.Width },
		"depth":      func() { net.Depth = givenNet.Depth },
		"steps":      func() { net.Steps = givenNet.Steps },
		"batch":      func() { net.Batch = givenNet.Batch },
		"rate":       func() { net.Rate = givenNet.Rate },
		"validation": func() { net.Validation = givenNet.Validation },
		"task": func() {
			c.Task = s.task
			if s.task == "auto" {
				c.Task = ""
			}
		},
	} {
		if f.Changed(name) {
			take()
		}
	}
	if f.Changed("input-std") {
		c.InputStd = map[string]float64{}
	}
	for _, x := range s.inputStd {
		at := strings.LastIndexByte(x, '=')
		v, err := strconv.ParseFloat(x[at+1:], 64)
		if at < 1 || err != nil {
			return usagef("--input-std takes a column and a number, such as length=0.1, not %q", x)
		}
		c.InputStd[x[:at]] = v
	}
	return nil
}
