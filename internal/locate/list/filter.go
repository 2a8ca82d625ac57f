package list

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// quantities are what conditions can be about.
var quantities = map[string]func(*Localisation) float64{
	"frame":         func(l *Localisation) float64 { return float64(l.Frame + 1) },
	"x":             func(l *Localisation) float64 { return l.X },
	"y":             func(l *Localisation) float64 { return l.Y },
	"photons":       func(l *Localisation) float64 { return l.Photons },
	"background":    func(l *Localisation) float64 { return l.Background },
	"chi2":          func(l *Localisation) float64 { return l.Misfit },
	"uncertainty":   func(l *Localisation) float64 { return (l.SX + l.SY) / 2 },
	"uncertainty_x": func(l *Localisation) float64 { return l.SX },
	"uncertainty_y": func(l *Localisation) float64 { return l.SY },
	"crlb":          func(l *Localisation) float64 { return l.Bound },
	"doubt":         func(l *Localisation) float64 { return l.Doubt },
	"prob":          func(l *Localisation) float64 { return l.Probability },
	"neighbours":    func(l *Localisation) float64 { return float64(l.Near) },
	"flag":          func(l *Localisation) float64 { return float64(l.Flag()) },
	"saturated":     func(l *Localisation) float64 { return number(l.Saturated) },
	"outside":       func(l *Localisation) float64 { return number(l.Outside) },
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// A Condition is one that localisations are kept by.
type Condition func(*Localisation) bool

// ParseConditions reads conditions such as "prob>0.9 & uncertainty<20 & outside=0".
func ParseConditions(text string) (all []Condition, err error) {
	for part := range strings.SplitSeq(text, "&") {
		c, err := parseCondition(strings.TrimSpace(strings.TrimPrefix(part, "&")))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func parseCondition(text string) (Condition, error) {
	at := strings.IndexAny(text, "<>=!")
	if at <= 0 {
		return nil, fmt.Errorf("the condition %q is none; write one such as prob>0.9", text)
	}
	name := strings.TrimSpace(text[:at])
	get, ok := quantities[name]
	if !ok {
		return nil, fmt.Errorf("the condition %q: there is no %q; there are %s", text, name, strings.Join(slices.Sorted(maps.Keys(quantities)), ", "))
	}
	rest := strings.TrimLeft(text[at:], "<>=!")
	sign := text[at : len(text)-len(rest)]
	x, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
	if err != nil {
		return nil, fmt.Errorf("the condition %q: %q is no number", text, strings.TrimSpace(rest))
	}
	switch sign {
	case "<":
		return func(l *Localisation) bool { return get(l) < x }, nil
	case "<=":
		return func(l *Localisation) bool { return get(l) <= x }, nil
	case ">":
		return func(l *Localisation) bool { return get(l) > x }, nil
	case ">=":
		return func(l *Localisation) bool { return get(l) >= x }, nil
	case "=", "==":
		return func(l *Localisation) bool { return get(l) == x }, nil
	case "!=":
		return func(l *Localisation) bool { return get(l) != x }, nil
	}
	return nil, fmt.Errorf("the condition %q: %q is not one of < <= > >= = !=", text, sign)
}

// Filter returns the localisations that meet all conditions.
func Filter(all []Localisation, by []Condition) (kept []Localisation) {
	for i := range all {
		ok := true
		for _, c := range by {
			ok = ok && c(&all[i])
		}
		if ok {
			kept = append(kept, all[i])
		}
	}
	return kept
}
