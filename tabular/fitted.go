package tabular

import (
	"encoding/json"
	"errors"
	"fmt"

	"utvi/internal/strictjson"
	"utvi/model"
)

// Fitted is a table's model. It does not change: goroutines may share it.
type Fitted struct {
	Inputs, Targets, Classes int // Targets counts numbers; Classes is 0 for regression

	Report  Report
	Shapes  []Shape  // per target; nil for classes
	Usual   Familiar // what the training rows' inputs are like
	Members *model.Ensemble

	// Extra is what others keep in the same file, by name.
	Extra map[string]json.RawMessage
}

// A Report tells what was chosen, and why.
type Report struct {
	Config  Config   `json:"config"`  // with every number that was decided by the rows
	Rows    int      `json:"rows"`    // learned from
	Held    int      `json:"held"`    // of them, held out to choose by
	Trials  []Trial  `json:"trials"`  // the candidates
	Members []Member `json:"members"` // what was trained in the end
	Score   float64  `json:"score"`   // mean ln p of held-out rows under the mixture, nats a row
	SE      float64  `json:"se"`      // its standard error
	Partial bool     `json:"partial,omitempty"`
}

// A Member is one network of the ensemble.
type Member struct {
	Candidate
	Curve []Point `json:"curve"`
	Steps int     `json:"steps"` // it was trained for
}

// finish joins trained networks to a model.
func (r *run) finish(nets []*model.Model, rep Report, shapes []Shape) (*Fitted, error) {
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		return nil, err
	}
	f := &Fitted{Inputs: r.data.X.Width, Targets: r.data.targets(), Classes: r.data.Classes, Report: rep, Shapes: shapes, Members: e}
	f.learnUsual(r.data)
	return f, nil
}

// document is the JSON of a Fitted beside its networks.
type document struct {
	Format  int      `json:"format"`
	Targets int      `json:"targets"`
	Classes int      `json:"classes,omitempty"`
	Shapes  []Shape  `json:"shapes,omitempty"`
	Usual   Familiar `json:"usual"`
	Report  Report   `json:"report"`
}

const (
	documentName   = "tabular"
	documentFormat = 1
)

// Save writes the model to one file, which is replaced whole or not at all.
func (f *Fitted) Save(path string) error {
	doc, err := json.Marshal(document{documentFormat, f.Targets, f.Classes, f.Shapes, f.Usual, f.Report})
	if err != nil {
		return fmt.Errorf("cannot save the model %s: %w", path, err)
	}
	e := &model.Ensemble{Members: f.Members.Members, Documents: map[string]json.RawMessage{documentName: doc}}
	for name, text := range f.Extra {
		if name == documentName {
			return fmt.Errorf("cannot save the model %s: the document %q is the model's own", path, name)
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
	f, err := decode(e)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model %s: %w", path, err)
	}
	return f, nil
}

func decode(e *model.Ensemble) (*Fitted, error) {
	text, ok := e.Documents[documentName]
	if !ok {
		return nil, errors.New("it is a network, but not one of a table")
	}
	var doc document
	if err := strictjson.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("what it says of its table cannot be read: %w", err)
	}
	if doc.Format != documentFormat {
		return nil, fmt.Errorf("what it says of its table has format %d; this version reads %d", doc.Format, documentFormat)
	}
	f := &Fitted{Inputs: e.Inputs(), Targets: doc.Targets, Classes: doc.Classes, Report: doc.Report, Shapes: doc.Shapes, Usual: doc.Usual, Members: e}
	delete(e.Documents, documentName)
	f.Extra, e.Documents = e.Documents, nil
	return f, f.check()
}

// check reports a file whose parts do not fit together.
func (f *Fitted) check() error {
	want := f.Targets
	switch {
	case f.Classes > 0:
		want = f.Classes
	case f.noise() == Heteroscedastic:
		want = 2 * f.Targets
	}
	if f.Targets < 1 || f.Classes < 0 || want != f.Members.Outputs() || len(f.Report.Members) != len(f.Members.Members) {
		return errors.New("its networks are not those that it describes")
	}
	if f.Classes == 0 && len(f.Shapes) != f.Targets {
		return fmt.Errorf("it has %d shapes for %d targets", len(f.Shapes), f.Targets)
	}
	for _, s := range f.Shapes {
		if len(s.W) == 0 || len(s.W) != len(s.R) {
			return errors.New("the shape of its noise is none")
		}
		for j := range s.W {
			if !(s.W[j] > 0 && s.R[j] > 0) {
				return errors.New("the shape of its noise is none")
			}
		}
	}
	return f.Usual.check(f.Inputs)
}

// noise is the members' model of the noise.
func (f *Fitted) noise() string {
	if len(f.Report.Members) == 0 {
		return ""
	}
	return f.Report.Members[0].Noise
}
