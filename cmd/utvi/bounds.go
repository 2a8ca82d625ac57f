package main

import (
	"github.com/spf13/pflag"
)

// givenAboveZero refuses flags that were given a number that is not above 0.
func givenAboveZero(f *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		v, err := f.GetFloat64(name)
		if err != nil {
			return err
		}
		if f.Changed(name) && !(v > 0) {
			return usagef("--%s is %g; it must be a number above 0", name, v)
		}
	}
	return nil
}

// givenAtLeast refuses flags that were given a whole number below the least.
func givenAtLeast(least int, f *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		v, err := f.GetInt(name)
		if err != nil {
			return err
		}
		if f.Changed(name) && v < least {
			return usagef("--%s is %d; it must be at least %d", name, v, least)
		}
	}
	return nil
}

// within refuses the value of a flag that is not lo to hi.
func within(name string, v, lo, hi int) error {
	if v < lo || v > hi {
		return usagef("--%s is %d; it must be %d to %d", name, v, lo, hi)
	}
	return nil
}
