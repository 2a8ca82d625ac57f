package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A usageError is about an invalid command line: exit status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// An exitError carries its exit status.
type exitError struct {
	error
	code int
}

// misuse marks the errors of a function that checks what the user asked for.
func misuse(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// flagError says in one line what was wrong with a flag and what would be right.
func flagError(cmd *cobra.Command, err error) error {
	if !cmd.HasParent() && cmd.Flags().NArg() > 0 {
		return unknownCommand(cmd, cmd.Flags().Arg(0)) // the unknown command matters more than the flag
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		dashes := "--"
		if e.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return usagef("unknown flag %s%s; %s takes %s", dashes, e.GetSpecifiedName(), cmd.CommandPath(), flagNames(cmd))
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s needs %s", e.GetFlag().Name, kindOf(e.GetFlag()))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usagef("--%s takes %s, not %q", e.GetFlag().Name, kindOf(e.GetFlag()), e.GetValue())
	}
	return usageError{err}
}

func flagNames(cmd *cobra.Command) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return strings.Join(names, " ")
}

func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "float64":
		return "a number"
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number ≥ 0"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 30s"
	case "intSlice":
		return "whole numbers separated by commas"
	case "float64Slice":
		return "numbers separated by commas"
	case "stringArray":
		return "an option"
	case "stringSlice":
		return "names separated by commas"
	}
	return "a value"
}

// noArgs refuses arguments of a command that takes only flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q; %s takes only flags: %s", args[0], cmd.CommandPath(), flagNames(cmd))
	}
	return nil
}
