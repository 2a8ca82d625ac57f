package main

import (
	"strings"

	"github.com/spf13/pflag"

	"utvi/fn"
	"utvi/internal/call"
	"utvi/moment"
)

// A functionFlags chooses a nonlinearity.
type functionFlags struct {
	name         string
	slope, alpha float64
}

func (f *functionFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "fn", "tanh", "formula of x, such as 'x/(1+x^2)', or a `function`: "+strings.Join(fn.Names(), ", "))
	flags.Float64Var(&f.slope, "slope", 0.01, "leaky-relu: slope below zero")
	flags.Float64Var(&f.alpha, "alpha", 1, "elu: size of the negative limit")
}

func (f *functionFlags) function(flags *pflag.FlagSet) (*moment.Func, error) {
	name := f.name
	for _, p := range []struct {
		flag, owner string
		value       float64
	}{{"slope", "leaky-relu", f.slope}, {"alpha", "elu", f.alpha}} {
		if !flags.Changed(p.flag) {
			continue
		}
		if name != p.owner {
			return nil, usagef("--%s works with --fn %s only, not with %s", p.flag, p.owner, f.name)
		}
		name = call.Format(name, p.value)
	}
	g, err := fn.Named(name)
	return g, misuse(err)
}

// mostSamples take about a second, and the error of a mean is then below 1/3000 of
// a standard deviation.
const mostSamples = 10_000_000

// A ruleFlags chooses a rule. Every flag but --rule belongs to one rule only.
type ruleFlags struct {
	name           string
	kappa          float64
	order          int
	skew, kurtosis float64
	samples        int
	seed           uint64
}

func (r *ruleFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&r.name, "rule", "ut", "rule: <ut>, <gh>, <genut>, <mc>, <linear>, <exact>")
	flags.Float64Var(&r.kappa, "kappa", 2, "ut: spread κ, ≥ 0")
	flags.IntVar(&r.order, "order", 5, "gh: number of points, 2 to 32")
	flags.Float64Var(&r.skew, "skew", 0, "genut: skewness to match")
	flags.Float64Var(&r.kurtosis, "kurtosis", 3, "genut: kurtosis to match")
	flags.IntVar(&r.samples, "samples", 10, "mc: number of samples, 2 to 10000000")
	flags.Uint64Var(&r.seed, "seed", 1, "mc: seed")
}

func (r *ruleFlags) rule(flags *pflag.FlagSet) (moment.Rule, error) {
	rules := []struct {
		name  string
		make  func() moment.Rule
		flags []string
	}{
		{"ut", func() moment.Rule { return moment.UT(r.kappa) }, []string{"kappa"}},
		{"gh", func() moment.Rule { return moment.GaussHermite(r.order) }, []string{"order"}},
		{"genut", func() moment.Rule { return moment.GenUT(r.skew, r.kurtosis) }, []string{"skew", "kurtosis"}},
		{"mc", func() moment.Rule { return moment.MonteCarlo(r.samples) }, []string{"samples", "seed"}},
		{"linear", moment.Linear, nil},
		{"exact", moment.Exact, nil},
	}
	var chosen moment.Rule
	var names []string
	for _, x := range rules {
		names = append(names, x.name)
		if x.name == r.name {
			chosen = x.make()
			continue
		}
		for _, f := range x.flags {
			if flags.Changed(f) {
				return nil, usagef("--%s works with --rule %s only, not with %s", f, x.name, r.name)
			}
		}
	}
	if r.name == "mc" && r.samples > mostSamples {
		return nil, usagef("--samples is %d; it must be at most %d", r.samples, mostSamples)
	}
	if chosen == nil {
		return nil, usagef("unknown rule %q; choose from %s", r.name, strings.Join(names, ", "))
	}
	return chosen, nil
}
