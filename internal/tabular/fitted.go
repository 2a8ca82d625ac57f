package tabular

import (
	"slices"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/widths"
	"utvi/model"
)

// Fitted adds to networks what turns their outputs into distributions of targets, in the units of
// the encoded table, and how unlike the training rows a row is. It does not change: goroutines may
// share it.
type Fitted struct {
	Inputs, Targets, Classes int // Targets counts numbers; Classes is 0 for regression

	Report     Report
	Residuals  []ResidualMixture // per target; nil for classes
	Warps      []*dist.Warp      // transforms of the targets, nil where there is none; nil: there are none
	InputStats InputStats        // of the training rows
	Members    *model.Ensemble

	made *making // nil: by another process, or not to the end
}

// A Report says which networks were chosen, and why.
type Report struct {
	Config  Config   `json:"config"`  // with every number that was decided by the rows
	Rows    int      `json:"rows"`    // learned from
	Held    int      `json:"held"`    // of them, held out to choose by
	Trials  []Trial  `json:"trials"`  // the candidates
	Members []Member `json:"members"` // what was trained in the end
	Score   float64  `json:"score"`   // mean ln p of held-out rows under the mixture, nats per row
	SE      float64  `json:"se"`      // its standard error
	Partial bool     `json:"partial,omitempty"`

	// Imported says that the network was trained by another program.
	Imported bool `json:"imported,omitempty"`
}

// A Member is one network of the ensemble.
type Member struct {
	Candidate
	Curve []Point `json:"curve"`
	Steps int     `json:"steps"` // of its training
}

// finish joins trained networks to a model.
func (r *run) finish(nets []*model.Model, rep Report, shapes []ResidualMixture) (*Fitted, error) {
	d := r.data
	if w := r.whole; w.Gaps != nil {
		d.X = w.X
		d.Levels = w.Levels
		d.Choices = w.Choices
		d.Gaps = w.Gaps
	}
	for i, n := range nets {
		n, err := grow(n, d)
		if err != nil {
			return nil, err
		}
		nets[i] = n
		setUnseen(n, d, shapes)
		boundNoise(n, d)
		boundCounts(n, d)
	}
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		return nil, err
	}
	f := &Fitted{Inputs: d.X.Width, Targets: d.Outputs(), Classes: d.Classes, Report: rep, Residuals: slices.Clone(shapes), Warps: r.warps, Members: e}
	f.learnInputStats(d)
	f.learnSupport()
	return f, nil
}

// supportDeviations is how many standard deviations of the targets a function is from their mean before a
// row is seen.
const supportDeviations = 3

// learnSupport says what is known of targets, which are encoded with variance 1, far from all rows. Where
// the weights leave less in doubt than targets vary, or hardly more than in training rows, nothing changes.
func (f *Fitted) learnSupport() {
	if f.Counts() {
		return
	}
	usual := max(1, 4*f.InputStats.Doubt*f.InputStats.Doubt)
	for i := range f.Residuals {
		f.Residuals[i].Support = &widths.Support{Usual: usual, Var: supportDeviations * supportDeviations}
	}
}

// OfClasses returns the model of networks that were trained elsewhere to tell classes apart; x are
// some of the rows that they were trained with.
func OfClasses(nets []*model.Model, rep Report, x gauss.Batch[float32], levels []int, classes int) (*Fitted, error) {
	return ofNetworks(nets, rep, Data{Set: data.Set{X: x, Targets: 1, Y: make([]float32, x.Rows)}, Levels: levels, Classes: classes}, nil)
}

// OfNumbers is OfClasses of networks that predict targets with their noise; residuals are those of
// the targets, nil for Normals.
func OfNumbers(nets []*model.Model, rep Report, rows data.Set, levels []int, residuals []ResidualMixture) (*Fitted, error) {
	return ofNetworks(nets, rep, Data{Set: rows, Levels: levels}, residuals)
}

func ofNetworks(nets []*model.Model, rep Report, d Data, residuals []ResidualMixture) (*Fitted, error) {
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		return nil, err
	}
	f := &Fitted{Inputs: d.X.Width, Targets: d.Outputs(), Classes: d.Classes, Report: rep, Residuals: residuals, Members: e}
	if d.Classes == 0 && residuals == nil {
		for range f.Targets {
			f.Residuals = append(f.Residuals, plainResiduals())
		}
	}
	f.learnInputStats(d)
	return f, nil
}
