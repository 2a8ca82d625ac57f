package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"utvi/suggest"
)

func (o *suggestOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.goal, "goal", "learn", "<learn>, <min>, <max> or target=40, say")
	f.StringVar(&o.config.Target, "target", "", "`column` that is measured (default the first target; learn: all)")
	f.IntVar(&o.config.Count, "count", 1, "number of rows to suggest")
	f.StringArrayVar(&o.ranges, "range", nil, "range of a column that candidates are drawn from, as `column=from:to`; may be given several times")
	f.StringArrayVar(&o.levels, "levels", nil, "levels that candidates are drawn from, as `column` for all or column=a,b; may be given several times")
	f.StringArrayVar(&o.limits, "limit", nil, "what a column of a candidate must lie between, as `column=from:to`; either end may be left out")
	f.StringArrayVar(&o.costs, "cost", nil, "what a row costs, as `column=price` of a unit, or a column that holds it; several add up (default 1)")
	f.StringArrayVar(&o.require, "require", nil, "what a target must be, as `'column>number'` or 'column<number'; may be given several times")
	f.Float64Var(&o.config.Sure, "sure", 0, "least probability that a row meets all requirements")
	f.Float64Var(&o.config.Best, "best", math.NaN(), "best value that is known (default the best that is predicted of the rows that the model remembers)")
	f.Lookup("best").DefValue = "0" // is not shown
	f.IntVar(&o.config.Draws, "draws", 256, "number of networks to draw")
	f.Uint64Var(&o.config.Seed, "seed", 1, "seed of the candidates that are drawn")
	f.StringVarP(&o.out, "output", "o", "", "file to write (default the standard output)")
	o.table.flags(f)
}

func (o *suggestOptions) check(args []string) error {
	o.config.Goal = suggest.Goal(o.goal)
	if at, ok := strings.CutPrefix(o.goal, "target="); ok {
		v, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return usagef("--goal target=%s: the target is not a number", at)
		}
		o.config.Goal, o.config.At = suggest.Near, v
	} else if !slices.Contains([]string{"learn", "min", "max"}, o.goal) {
		return usagef("--goal is %q; choose learn, min, max or target=NUMBER", o.goal)
	}
	if len(args) == 2 && len(o.ranges)+len(o.levels) > 0 {
		return usagef("--range and --levels draw candidates, and %s holds candidates; give only one of them (--limit leaves some out)", args[1])
	}
	o.prices = map[string]float64{}
	for _, text := range o.costs {
		name, price, given := strings.Cut(text, "=")
		v := 1.0
		if given {
			var err error
			v, err = strconv.ParseFloat(price, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 0) {
				return usagef("--cost %s: the price must be a number above 0", text)
			}
		}
		o.prices[name] = v
	}
	var err error
	o.bounds, err = boundsOf("limit", o.limits)
	if err != nil {
		return err
	}
	for _, text := range o.require {
		at := strings.IndexAny(text, "<>")
		if at < 1 {
			return usagef("--require %s: write 'column>number' or 'column<number'", text)
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(text[at+1:], "=")), 64)
		if err != nil {
			return usagef("--require %s: what stands behind %c is not a number", text, text[at])
		}
		o.config.Require = append(o.config.Require, suggest.Requirement{Target: strings.TrimSpace(text[:at]), Above: text[at] == '>', At: v})
	}
	if o.out != "" {
		return spare(o.out, args...)
	}
	return nil
}

// boundsOf reads flags such as column=1:2, of which either end may be left out.
func boundsOf(flag string, all []string) (map[string][2]float64, error) {
	out := map[string][2]float64{}
	for _, text := range all {
		name, ends, ok := strings.Cut(text, "=")
		from, to, both := strings.Cut(ends, ":")
		if !ok || !both {
			return nil, usagef("--%s %s: write column=from:to", flag, text)
		}
		b := [2]float64{math.Inf(-1), math.Inf(1)}
		for i, end := range []string{from, to} {
			if end == "" {
				continue
			}
			v, err := strconv.ParseFloat(end, 64)
			if err != nil {
				return nil, usagef("--%s %s: %q is not a number", flag, text, end)
			}
			b[i] = v
		}
		if !(b[0] <= b[1]) {
			return nil, usagef("--%s %s: %g is larger than %g", flag, text, b[0], b[1])
		}
		out[name] = b
	}
	return out, nil
}
