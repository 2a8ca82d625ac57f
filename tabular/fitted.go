package tabular

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"utvi/dist"
	"utvi/internal/strictjson"
	"utvi/likelihood"
	"utvi/model"
)

// Fitted is a tabular model. It does not change: goroutines may share it.
type Fitted struct {
	Inputs, Targets, Classes int // Targets counts numbers; Classes is 0 for regression

	Report     Report
	Residuals  []ResidualMixture // per target; nil for classes
	Warps      []*dist.Warp      // transforms of the targets, nil where there is none; nil: there are none
	InputStats InputStats        // of the training rows
	Members    *model.Ensemble

	// Extra holds the documents of other packages in the same file, by name.
	Extra map[string]json.RawMessage
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
	f := &Fitted{Inputs: d.X.Width, Targets: d.Outputs(), Classes: d.Classes, Report: rep, Residuals: shapes, Warps: r.warps, Members: e}
	f.learnInputStats(d)
	return f, nil
}

// document is the JSON of a Fitted beside its networks.
type document struct {
	Format  int               `json:"format"`
	Targets int               `json:"targets"`
	Classes int               `json:"classes,omitempty"`
	Shapes  []ResidualMixture `json:"shapes,omitempty"`
	Warps   []*dist.Warp      `json:"warps,omitempty"`
	Usual   InputStats        `json:"usual"`
	Report  Report            `json:"report"`
}

const (
	documentName   = "tabular"
	documentFormat = 1
)

// Save writes the model to one file, as a whole or not at all.
func (f *Fitted) Save(path string) error {
	return f.SaveWith(path, f.Extra)
}

// SaveWith is Save with other documents in place of Extra.
func (f *Fitted) SaveWith(path string, extra map[string]json.RawMessage) error {
	doc, err := json.Marshal(document{documentFormat, f.Targets, f.Classes, f.Residuals, f.Warps, f.InputStats, f.Report})
	if err != nil {
		return fmt.Errorf("cannot save the model %s: %w", path, err)
	}
	e := &model.Ensemble{Members: f.Members.Members, Documents: map[string]json.RawMessage{documentName: doc}}
	for name, text := range extra {
		if name == documentName {
			return fmt.Errorf("cannot save the model %s: the document name %q is reserved", path, name)
		}
		e.Documents[name] = text
	}
	return e.Save(path)
}

// Load reads what Save wrote.
func Load(path string) (*Fitted, error) {
	e, err := model.LoadEnsemble(path)
	if err != nil {
		return nil, err
	}
	f, err := FromEnsemble(e)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model %s: %w", path, err)
	}
	return f, nil
}

// ErrNotTabular is the error about a network that was not fitted to a table.
var ErrNotTabular = errors.New("not a tabular model")

// FromEnsemble returns the model of a file that has been read.
func FromEnsemble(e *model.Ensemble) (*Fitted, error) {
	text, ok := e.Documents[documentName]
	if !ok {
		return nil, ErrNotTabular
	}
	var doc document
	if err := strictjson.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("the description of the tabular model cannot be read: %w", err)
	}
	if doc.Format != documentFormat {
		return nil, fmt.Errorf("the description of the tabular model has format %d; this version reads %d", doc.Format, documentFormat)
	}
	f := &Fitted{Inputs: e.Inputs(), Targets: doc.Targets, Classes: doc.Classes, Report: doc.Report, Residuals: doc.Shapes, Warps: doc.Warps, InputStats: doc.Usual}
	f.Members = &model.Ensemble{Members: e.Members}
	f.Extra = maps.Clone(e.Documents)
	delete(f.Extra, documentName)
	return f, f.check()
}

// check reports a file whose parts do not fit together. Networks of old files do not
// say what their outputs mean; the report does.
func (f *Fitted) check() error {
	const mismatch = "the networks do not match the file's description"
	if f.Targets < 1 || f.Classes < 0 || len(f.Report.Members) != len(f.Members.Members) {
		return errors.New(mismatch)
	}
	for i, m := range f.Members.Members {
		if m.Likelihood == nil {
			m.Likelihood = f.Report.Members[i].likelihood(f.Classes > 0)
		}
		reads := likelihood.Describe(m.Likelihood)
		targets, err := likelihood.Inner(m.Likelihood).Targets(m.Outputs())
		if err != nil || reads.Classes != (f.Classes > 0) || reads.Classes && m.Outputs() != f.Classes || targets != f.Targets {
			return errors.New(mismatch)
		}
	}
	for _, m := range f.Members.Members {
		l, counts := likelihood.Inner(m.Likelihood).(likelihood.Count)
		if counts != f.Counts() || counts && (l.Scale == nil || f.Warps != nil) {
			return errors.New(mismatch)
		}
	}
	if f.Classes > 0 && len(f.Residuals) != 0 {
		return errors.New(mismatch)
	}
	if f.Classes == 0 && len(f.Residuals) != f.Targets {
		return fmt.Errorf("the file has noise mixtures for %d targets, not %d", len(f.Residuals), f.Targets)
	}
	if f.Warps != nil && (f.Classes > 0 || len(f.Warps) != f.Targets) {
		return fmt.Errorf("the file has transforms for %d targets, not %d", len(f.Warps), f.Targets)
	}
	for _, w := range f.Warps {
		if w == nil {
			continue
		}
		if err := w.Check(); err != nil {
			return err
		}
	}
	for _, s := range f.Residuals {
		if len(s.W) == 0 || len(s.W) != len(s.R) {
			return errors.New("invalid noise mixture")
		}
		for j := range s.W {
			if !(s.W[j] > 0 && s.R[j] > 0) {
				return errors.New("invalid noise mixture")
			}
		}
		if err := s.Level.Check(); err != nil {
			return err
		}
	}
	return f.InputStats.check(f.Inputs)
}
