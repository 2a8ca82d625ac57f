package schema

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// assignRoles gives every column its role.
func (in *inference) assignRoles() error {
	if len(in.Targets) == 0 {
		return errors.New("no target is given; name the column to predict")
	}
	rest := Input
	if in.Inputs != nil {
		rest = Dropped
	}
	for i := range in.roles {
		in.roles[i] = rest
	}
	for _, a := range []struct {
		role  Role
		as    string
		names []string
	}{
		{Dropped, "ignored", in.Ignore},
		{Input, "input", in.Inputs},
		{Target, "target", in.Targets},
		{Weight, "weight", []string{in.Weight}},
		{Group, "group", []string{in.Group}},
		{Time, "time", []string{in.Time}},
	} {
		if err := in.assign(a.role, a.as, a.names); err != nil {
			return err
		}
	}
	for i := range in.Categorical {
		if _, err := in.head.Find(in.Categorical, i, "categorical"); err != nil {
			return err
		}
	}
	in.findStdColumns()
	return in.checkInputStd()
}

// assign gives columns a role that the user names them for.
func (in *inference) assign(role Role, as string, names []string) error {
	for j, name := range names {
		if name == "" {
			continue
		}
		i, err := in.head.Find(names, j, as)
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

// findStdColumns takes a column x_std beside an input x for its standard deviations.
func (in *inference) findStdColumns() {
	if !in.head.Named {
		return
	}
	for i, name := range in.head.Columns {
		x, ok := strings.CutSuffix(name, "_std")
		if !ok || in.roles[i] != Input {
			continue
		}
		if j := in.head.Column(x); j >= 0 && in.roles[j] == Input {
			in.roles[i] = Std
		}
	}
}

// checkInputStd checks the standard deviations that the user gives.
func (in *inference) checkInputStd() error {
	for name, v := range in.InputStd {
		i, err := in.head.Find([]string{name}, 0, "having a standard deviation")
		if err != nil {
			return err
		}
		std := in.head.Column(name + "_std")
		switch {
		case in.roles[i] != Input:
			return fmt.Errorf("column %s is not an input and cannot have an input standard deviation of %g", name, v)
		case !(v >= 0) || math.IsInf(v, 0):
			return fmt.Errorf("the standard deviation of column %s is %g; it must be finite and ≥ 0", name, v)
		case std >= 0 && in.roles[std] == Std:
			return fmt.Errorf("column %s has a standard deviation given and a column %s_std; ignore one", name, name)
		}
	}
	return nil
}
