package tabular

import (
	"errors"
	"fmt"

	"utvi/dist"
	"utvi/internal/modelfile"
	"utvi/likelihood"
	"utvi/model"
)

// document is what a model file holds about a Fitted beside its networks.
type document = modelfile.Tabular[ResidualMixture, *dist.Warp, InputStats, Report]

// Save writes the model to one file, as a whole or not at all.
func (f *Fitted) Save(path string) error {
	e, err := f.Ensemble()
	if err != nil {
		return fmt.Errorf("cannot save the model %s: %w", path, err)
	}
	return e.Save(path)
}

// Ensemble returns the networks with the document that makes FromEnsemble return f.
func (f *Fitted) Ensemble() (*model.Ensemble, error) {
	e := &model.Ensemble{Members: f.Members.Members, Documents: modelfile.Documents{}}
	err := e.Documents.Put(&document{Targets: f.Targets, Classes: f.Classes, Shapes: f.Residuals, Warps: f.Warps, Usual: f.InputStats, Report: f.Report})
	return e, err
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
	var doc document
	found, err := e.Documents.Get(&doc)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrNotTabular
	}
	f := &Fitted{Inputs: e.Inputs(), Targets: doc.Targets, Classes: doc.Classes, Report: doc.Report, Residuals: doc.Shapes, Warps: doc.Warps, InputStats: doc.Usual}
	f.Members = &model.Ensemble{Members: e.Members}
	return f, f.check()
}

var errMismatch = errors.New("the networks do not match the file's description")

// check reports a file whose parts do not fit together.
func (f *Fitted) check() error {
	if f.Targets < 1 || f.Classes < 0 || len(f.Report.Members) != len(f.Members.Members) {
		return errMismatch
	}
	f.nameLikelihoods()
	for _, check := range []func() error{f.checkNetworks, f.checkResiduals, f.checkWarps} {
		if err := check(); err != nil {
			return err
		}
	}
	return f.InputStats.check(f.Inputs)
}

// nameLikelihoods says what the outputs of networks mean. Networks of old files do not; the
// report does.
func (f *Fitted) nameLikelihoods() {
	for i, m := range f.Members.Members {
		if m.Likelihood == nil {
			m.Likelihood = f.Report.Members[i].likelihood(f.Classes > 0)
		}
	}
}

// checkNetworks compares what the networks predict with the targets.
func (f *Fitted) checkNetworks() error {
	classes := f.Classes > 0
	for _, m := range f.Members.Members {
		targets, err := likelihood.Inner(m.Likelihood).Targets(m.Outputs())
		if err != nil || targets != f.Targets {
			return errMismatch
		}
		if likelihood.Describe(m.Likelihood).Classes != classes || classes && m.Outputs() != f.Classes {
			return errMismatch
		}
	}
	for _, m := range f.Members.Members {
		l, counts := likelihood.Inner(m.Likelihood).(likelihood.Count)
		if counts != f.Counts() || counts && (l.Scale == nil || f.Warps != nil) {
			return errMismatch
		}
	}
	return nil
}

func (f *Fitted) checkResiduals() error {
	if f.Classes > 0 {
		if len(f.Residuals) != 0 {
			return errMismatch
		}
		return nil
	}
	if len(f.Residuals) != f.Targets {
		return fmt.Errorf("the file has noise mixtures for %d targets, not %d", len(f.Residuals), f.Targets)
	}
	for _, s := range f.Residuals {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// check reports a mixture that is none.
func (s ResidualMixture) check() error {
	if len(s.W) == 0 || len(s.W) != len(s.R) {
		return errors.New("invalid noise mixture")
	}
	if !(s.Apart >= 0 && s.Apart <= mostApart) {
		return errors.New("the disagreement of the networks must count a few times")
	}
	for j := range s.W {
		if !(s.W[j] > 0 && s.R[j] > 0) {
			return errors.New("invalid noise mixture")
		}
	}
	return errors.Join(s.Level.Check(), s.Support.Check())
}

func (f *Fitted) checkWarps() error {
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
	return nil
}
