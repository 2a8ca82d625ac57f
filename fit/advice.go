package fit

import (
	"utvi/model"
	"utvi/nn"
)

// advise says what a person who fits tables can do if the variance of the weights is
// propagated badly. What model.SigmaRatio says is for those who build networks.
func (m *Model) advise(r *model.SigmaRatio) {
	if r.Advice == "" {
		return
	}
	c := m.Net.Report.Config
	carried := nn.Any(m.Net.Members.Members[0].Config.Layers, func(l nn.Layer) bool { _, is := l.(nn.Correlated); return is })
	r.Advice = "calibrate the model with held-out rows: the propagated variance is exact to first order only"
	switch {
	case c.Independent:
		r.Advice = "fit without the setting independent: units are correlated"
	case c.Rule != "":
		r.Advice = "fit without the rule " + c.Rule + ": the default carries the variance better"
	case !carried && m.Net.Classes > 0:
		r.Advice = "calibrate the model with held-out rows: with so many classes, units are taken as independent"
	case !carried:
		r.Advice = "fit with fixed parameters in the formula of the activation: units behind learned ones are taken as independent"
	}
}
