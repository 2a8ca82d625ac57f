package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Uses reports whether a column of this name is asked for, or not left out: see Options.Used.
func (s *Spec) Uses(column string) bool {
	if slices.Contains(s.Targets, column) || column == s.Weight && column != "" || slices.Contains(s.Inputs, column) {
		return true
	}
	return len(s.Inputs) == 0 && !slices.Contains(s.Ignore, column) && column != s.Group && column != s.Time
}

// assign gives every column its role.
func (in *inference) assign() error {
	for i := range in.roles {
		in.roles[i] = Input
		if in.Inputs != nil {
			in.roles[i] = Dropped
		}
	}
	set := func(role Role, what string, names ...string) error {
		for j, name := range names {
			if name == "" {
				continue
			}
			i, err := in.head.find(names, j, what)
			if err != nil {
				return err
			}
			if was := in.roles[i]; was != Input && was != Dropped && was != role {
				return fmt.Errorf("column %s cannot be %s and %s", name, was, role)
			}
			in.roles[i] = role
		}
		return nil
	}
	if len(in.Targets) == 0 {
		return errors.New("no target is given; name the column to predict")
	}
	if err := errors.Join(
		set(Dropped, "ignored", in.Ignore...), set(Input, "input", in.Inputs...), set(Target, "target", in.Targets...),
		set(Weight, "weight", in.Weight), set(Group, "group", in.Group), set(Time, "time", in.Time)); err != nil {
		return firstError(err)
	}
	for i := range in.Categorical {
		if _, err := in.head.find(in.Categorical, i, "categorical"); err != nil {
			return err
		}
	}
	for i, name := range in.head.Columns {
		if x, ok := strings.CutSuffix(name, "_std"); ok && in.head.Named && in.roles[i] == Input {
			if j := in.head.Column(x); j >= 0 && in.roles[j] == Input {
				in.roles[i] = Std
			}
		}
	}
	for name, v := range in.InputStd {
		i, err := in.head.find([]string{name}, 0, "having a standard deviation")
		switch {
		case err != nil:
			return err
		case in.roles[i] != Input:
			return fmt.Errorf("column %s is not an input and cannot have an input standard deviation of %g", name, v)
		case !(v >= 0) || math.IsInf(v, 0):
			return fmt.Errorf("the standard deviation of column %s is %g; it must be finite and ≥ 0", name, v)
		case in.head.Column(name+"_std") >= 0 && in.roles[in.head.Column(name+"_std")] == Std:
			return fmt.Errorf("column %s has a standard deviation given and a column %s_std; ignore one", name, name)
		}
	}
	return nil
}

// firstError is the first of joined errors: one sentence.
func firstError(err error) error {
	return err.(interface{ Unwrap() []error }).Unwrap()[0]
}
