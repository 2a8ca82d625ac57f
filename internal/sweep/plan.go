package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"utvi/internal/atomicfile"
	"utvi/internal/inputfile"
	"utvi/internal/strictjson"
)

// planFormat is raised when older programs would misread a plan.
const planFormat = 1

// A Plan is a list of trials. A trial's Index is its place in it.
type Plan struct {
	Format int     `json:"format"`
	Name   string  `json:"name"`
	Trials []Trial `json:"trials"`
}

// A Trial is one independent piece of work.
type Trial struct {
	Index int             `json:"index"`
	Name  string          `json:"name"`            // letters, digits and ._-, unique within a plan
	Kind  string          `json:"kind"`            // who runs it
	Group string          `json:"group,omitempty"` // what it shares with its replicates
	Cost  float64         `json:"cost,omitempty"`  // relative, to estimate the time left; 0 stands for 1
	Alone bool            `json:"alone,omitempty"` // it measures time: nothing runs at the same time
	Spec  json.RawMessage `json:"spec"`

	// Beside is how many trials of its kind the plan has that may run side by side; NewPlan
	// counts them. An engine may choose its arithmetic by it, whatever is left to do and
	// whoever runs the trial; 0: the plan was made by a program that did not count.
	Beside int `json:"beside,omitempty"`
}

// NewTrial returns a trial whose specification is the JSON of spec.
func NewTrial(kind, name, group string, cost float64, spec any) Trial {
	b, err := json.Marshal(spec)
	if err != nil {
		panic("sweep: the specification has no JSON")
	}
	return Trial{Name: name, Kind: kind, Group: group, Cost: cost, Spec: b}
}

// Weight is the cost of the trial relative to others: 1 if nobody has said.
func (t Trial) Weight() float64 {
	if t.Cost > 0 {
		return t.Cost
	}
	return 1
}

// ID names the trial's files: its name and the beginning of a hash of its kind and
// specification. So trials of different specifications never share files, in any plan.
func (t Trial) ID() string {
	h := sha256.New()
	io.WriteString(h, t.Kind+"\x00")
	h.Write(compact(t.Spec))
	return t.Name + "-" + hex.EncodeToString(h.Sum(nil)[:4])
}

// compact is the specification without white space, which editors may add.
func compact(spec json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, spec) != nil {
		return spec
	}
	return b.Bytes()
}

// NewPlan numbers trials, and counts those of each kind. A trial that is listed twice is done
// once.
func NewPlan(name string, trials ...Trial) (*Plan, error) {
	p := &Plan{Format: planFormat, Name: name}
	seen, kinds := map[string]bool{}, map[string]int{}
	for _, t := range trials {
		if seen[t.ID()] {
			continue
		}
		seen[t.ID()] = true
		t.Index = len(p.Trials)
		p.Trials = append(p.Trials, t)
		if !t.Alone {
			kinds[t.Kind]++
		}
	}
	for i := range p.Trials {
		if t := &p.Trials[i]; !t.Alone {
			t.Beside = kinds[t.Kind]
		}
	}
	return p, p.Check()
}

// maxTrials bounds what a plan file can ask for.
const maxTrials = 1_000_000

// Check returns an error for an invalid plan.
func (p *Plan) Check() error {
	switch {
	case p.Format != planFormat:
		return fmt.Errorf("the plan has format %d; this program reads format %d", p.Format, planFormat)
	case len(p.Trials) == 0:
		return errors.New("the plan has no trials")
	case len(p.Trials) > maxTrials:
		return fmt.Errorf("the plan has %d trials; at most %d are allowed", len(p.Trials), maxTrials)
	}
	names := map[string]int{}
	for i, t := range p.Trials {
		if t.Index != i {
			return fmt.Errorf("trial %d of the plan has index %d; trials must be numbered from 0 in order", i, t.Index)
		}
		if !isName(t.Name) {
			return fmt.Errorf("trial %d is named %q; a name has 1 to 100 letters, digits, dots, underscores and hyphens, and begins with a letter or digit", i, t.Name)
		}
		if j, ok := names[t.Name]; ok {
			return fmt.Errorf("trials %d and %d are both named %q; names must differ", j, i, t.Name)
		}
		names[t.Name] = i
		if t.Beside < 0 {
			return fmt.Errorf("trial %d, %s, runs beside %d trials; beside must be at least 0", i, t.Name, t.Beside)
		}
		if t.Kind == "" || !json.Valid(t.Spec) {
			return fmt.Errorf("trial %d, %s, has no kind or no specification", i, t.Name)
		}
	}
	return nil
}

// isName reports whether s can begin a file's name everywhere.
func isName(s string) bool {
	if s == "" || len(s) > 100 {
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return true
}

// Save writes the plan to a file.
func (p *Plan) Save(path string) error {
	return atomicfile.Write(path, p.Write)
}

// Write writes the plan as JSON, one trial per line.
func (p *Plan) Write(w io.Writer) error {
	name, err := json.Marshal(p.Name)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"format\": %d, \"name\": %s, \"trials\": [", p.Format, name); err != nil {
		return err
	}
	for i, t := range p.Trials {
		b, err := json.Marshal(t)
		if err != nil {
			return err
		}
		sep := ",\n  "
		if i == 0 {
			sep = "\n  "
		}
		if _, err := fmt.Fprintf(w, "%s%s", sep, b); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "\n]}\n")
	return err
}

// LoadPlan reads what Save wrote.
func LoadPlan(path string) (*Plan, error) {
	b, err := inputfile.Read(path, 10)
	if err != nil {
		return nil, err
	}
	if text := bytes.TrimSpace(b); len(text) > 0 && text[0] != '{' {
		return nil, fmt.Errorf("%s is not a plan; if it is a spec, make a plan of it: sweep plan %s -o plan.json", path, path)
	}
	p := &Plan{}
	if err := strictjson.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("%s is not a plan: %w", path, err)
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
