package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"utvi/engine"
	"utvi/internal/atomicfile"
	"utvi/internal/compute"
	"utvi/internal/inputfile"
	"utvi/internal/provenance"
	"utvi/internal/strictjson"
)

// An Outcome is the result of a trial, as its kind returns it.
type Outcome struct {
	Metrics map[string]float64 // finite numbers, averaged over a group
	Data    any                // anything else that has a JSON form
}

// A Result is the file of a finished trial.
type Result struct {
	Format  int                `json:"format"`
	Trial   string             `json:"trial"` // its ID
	Group   string             `json:"group,omitempty"`
	Metrics map[string]float64 `json:"metrics"`
	Data    json.RawMessage    `json:"data,omitempty"`
	Sum     string             `json:"sum"` // SHA-256 of metrics and data

	// Run is the only part in which two runs of one trial may differ.
	Run RunRecord `json:"run"`
}

// A RunRecord says where and when a trial ended.
type RunRecord struct {
	provenance.Record
	Ended   time.Time `json:"ended"`
	Seconds float64   `json:"seconds"` // of the process that ended it
}

// newRunRecord is the record of a run on an engine that began at start and ends now.
func newRunRecord(e engine.Engine[float32], start time.Time) RunRecord {
	r := RunRecord{Record: provenance.Here(), Ended: time.Now().UTC(), Seconds: time.Since(start).Seconds()}
	if e != nil {
		r.Card = e.Abilities().Card
	}
	return r
}

func newResult(t Trial, o Outcome) (*Result, error) {
	r := &Result{Format: planFormat, Trial: t.ID(), Group: t.Group, Metrics: o.Metrics}
	if r.Metrics == nil {
		r.Metrics = map[string]float64{}
	}
	for name, x := range r.Metrics {
		if !compute.Finite(x) {
			return nil, fmt.Errorf("its metric %s is %v", name, x)
		}
	}
	if o.Data != nil {
		b, err := json.Marshal(o.Data)
		if err != nil {
			return nil, err
		}
		r.Data = b
	}
	r.Sum = r.sum()
	return r, nil
}

// sum hashes metrics and data. The JSON of a map is sorted.
func (r *Result) sum() string {
	h := sha256.New()
	b, _ := json.Marshal(r.Metrics)
	h.Write(b)
	h.Write(compact(r.Data))
	return hex.EncodeToString(h.Sum(nil))
}

// Decode reads the result's data.
func (r *Result) Decode(v any) error {
	if err := json.Unmarshal(r.Data, v); err != nil {
		return fmt.Errorf("the result of %s cannot be read: %w", r.Trial, err)
	}
	return nil
}

// ErrMissing says that a trial has no result yet.
var ErrMissing = errors.New("there is no result yet")

// stem begins the paths of all of a trial's files.
func stem(dir string, t Trial) string { return filepath.Join(dir, t.ID()) }

// ResultPath is the file of a trial's result.
func ResultPath(dir string, t Trial) string { return stem(dir, t) + ".result.json" }

// LoadResult reads a trial's result. Without one it returns ErrMissing. A file that is
// damaged or belongs to another trial is another error, which names the file.
func LoadResult(dir string, t Trial) (*Result, error) {
	path := ResultPath(dir, t)
	b, err := inputfile.Read(path, 10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := strictjson.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s is not a result: %w", path, err)
	}
	if r.Format != planFormat || r.Trial != t.ID() || r.Sum != r.sum() {
		return nil, fmt.Errorf("%s is damaged or is not the result of %s", path, t.ID())
	}
	return r, nil
}

func (r *Result) save(dir string, t Trial) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	if err := e.Encode(r); err != nil {
		return err
	}
	return atomicfile.Write(ResultPath(dir, t), func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}
