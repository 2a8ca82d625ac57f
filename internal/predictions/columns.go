package predictions

import (
	"fmt"
	"strconv"
)

// A column is a column of the output.
type column struct {
	name string
	text bool
}

// names are the columns of the output. Every name occurs once: a further prediction gets
// a number, and a column that is kept from the table gets "table_" in front. renamed
// says which.
func (p *printer) names() (all []column, renamed []string) {
	seen := map[string]bool{}
	unique := func(name string) string {
		free := name
		for i := 2; seen[free]; i++ {
			free = name + "_" + strconv.Itoa(i)
		}
		seen[free] = true
		return free
	}
	var made []column
	for _, c := range p.made() {
		was := c.name
		c.name = unique(was)
		if c.name != was {
			renamed = append(renamed, fmt.Sprintf("%s (predicted) is written as %s", was, c.name))
		}
		made = append(made, c)
	}
	for _, name := range p.Keep {
		as := name
		if seen[as] {
			as = "table_" + name
		}
		as = unique(as)
		if as != name {
			renamed = append(renamed, fmt.Sprintf("%s of the table is written as %s", name, as))
		}
		all = append(all, column{as, true})
	}
	return append(all, made...), renamed
}

// made are the columns of the predictions, in order.
func (p *printer) made() (all []column) {
	add := func(names ...string) {
		for _, n := range names {
			all = append(all, column{n, false})
		}
	}
	text := func(name string) { all = append(all, column{name, true}) }
	o := p.p.Options()
	var why []column
	for _, t := range p.m.Targets() {
		if classes := p.m.Classes(); classes != nil {
			text(t)
			for _, class := range classes {
				add("p_" + class)
			}
			add("entropy")
			if p.doubts() {
				add(t+"_var_weights", t+"_doubt")
			}
			for i := range p.Samples {
				text(t + "_sample" + strconv.Itoa(i+1))
			}
			if p.sets() {
				text(t + "_set")
			}
			why = append(why, p.whys(t, "_prob", "_entropy")...)
			continue
		}
		add(t+"_mean", t+"_std", t+"_lo", t+"_hi")
		if p.Parts {
			add(t+"_var_weights", t+"_var_inputs", t+"_var_noise")
		}
		if p.Median {
			add(t + "_median")
		}
		for _, q := range o.Quantiles {
			add(t + "_q" + strconv.FormatFloat(q, 'g', -1, 64))
		}
		for _, x := range o.Above {
			add(t + "_above_" + strconv.FormatFloat(x, 'g', -1, 64))
		}
		for i := range p.Samples {
			add(t + "_sample" + strconv.Itoa(i+1))
		}
		why = append(why, p.whys(t, "_mean", "_std")...)
	}
	all = append(all, why...)
	add("ood")
	if p.marks {
		add("abstain")
	}
	return all
}

// whys are the columns of the explanations of a target.
func (p *printer) whys(target, mean, std string) (all []column) {
	for i := range p.Explain {
		n := target + "_why" + strconv.Itoa(i+1)
		all = append(all, column{n, true}, column{n + mean, false}, column{n + std, false})
	}
	for i := range p.Explain {
		n := target + "_unsure" + strconv.Itoa(i+1)
		all = append(all, column{n, true}, column{n + std, false})
	}
	return all
}

// doubts reports whether the variance of classes over the weights is written.
func (p *printer) doubts() bool { return p.Parts && p.m.Schema != nil && p.m.Schema.Pictures() }

// sets reports whether the model gives conformal sets of classes.
func (p *printer) sets() bool {
	c := p.m.Calibration
	return p.m.Classes() != nil && len(c) > 0 && c[0].Sets != nil
}
