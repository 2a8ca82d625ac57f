package fitkind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"

	"utvi/fit"
	"utvi/internal/atomicfile"
	"utvi/internal/compute"
	"utvi/internal/localization"
	"utvi/internal/predictions"
	"utvi/internal/strictjson"
	"utvi/internal/sweep"
	"utvi/model"
	"utvi/predict"
	"utvi/table"
)

// A Prediction is a trial of kind "predict": rows of a table, predicted and written beside the result.
type Prediction struct {
	Model    string `json:"model"`
	ModelSum string `json:"model_sum,omitempty"` // SHA-256 of the model's file; "": any
	Table    string `json:"table"`
	Bytes    int64  `json:"table_bytes,omitempty"` // size of the table's file; 0: any
	From     int    `json:"from,omitempty"`        // rows before the first
	Rows     int    `json:"rows,omitempty"`        // 0: all that follow
	Into     string `json:"into,omitempty"`        // file that Join puts the rows into; "": the trial's name
	Strict   bool   `json:"strict,omitempty"`      // stop at a cell that cannot be read

	// How the table is read; what is left out is detected.
	Header    table.HeaderRow `json:"header,omitempty"`
	Delimiter string          `json:"delimiter,omitempty"`
	Decimal   string          `json:"decimal,omitempty"`
	Encoding  table.Encoding  `json:"encoding,omitempty"`

	predict.Options
	predictions.Output
}

// A piece is what a trial of kind "predict" has found: the sum of the file that it wrote, and what to
// know of its rows.
type piece struct {
	Sum string `json:"sum"` // SHA-256
	predictions.Summary
}

func readPrediction(spec json.RawMessage) (p Prediction, err error) {
	if err := strictjson.Unmarshal(spec, &p); err != nil {
		return p, err
	}
	return p, p.check()
}

func (p Prediction) check() error {
	switch {
	case p.Model == "" || p.Table == "":
		return errors.New("the settings model and table are needed: the file of a model, and that of the table to predict")
	case p.From < 0 || p.Rows < 0:
		return fmt.Errorf("from is %d and rows %d; both must be at least 0", p.From, p.Rows)
	case len(p.Delimiter) > 1 || len(p.Decimal) > 1:
		return errors.New("delimiter and decimal have one character each")
	case p.Format == predictions.Parquet:
		return errors.New("the rows of trials are put together as text; choose the format csv, tsv or json, not parquet")
	}
	return p.Output.Check()
}

// reading is how the table is read.
func (p Prediction) reading(pool *compute.Pool) table.Options {
	o := table.Options{Header: p.Header, Encoding: p.Encoding, Pool: pool}
	if p.Delimiter != "" {
		o.Delimiter = p.Delimiter[0]
	}
	if p.Decimal != "" {
		o.Decimal = p.Decimal[0]
	}
	return o
}

// ending is that of files in a format.
func (p Prediction) ending() string {
	switch p.Format {
	case predictions.TSV:
		return ".tsv"
	case predictions.JSON:
		return ".jsonl"
	}
	return ".csv"
}

// predictor loads the model.
func (p Prediction) predictor(j sweep.Job) (*predict.Predictor, error) {
	if p.ModelSum != "" {
		sum, err := sumOf(p.Model)
		if err != nil {
			return nil, err
		}
		if sum != p.ModelSum {
			return nil, fmt.Errorf("%s is another model than the one that the plan was made for; make the plan again", p.Model)
		}
	}
	m, err := fit.Load(p.Model, model.WithMaps(localization.Family, localization.FromNumbers))
	if err != nil {
		return nil, err
	}
	if j.Engine != nil {
		if err := m.Use(j.Engine); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Model, err)
		}
	}
	p.SetAside = !p.Strict
	return m.NewPredictor(p.Options)
}

// runPrediction writes the predictions of its rows to a file beside the result.
func runPrediction(ctx context.Context, j sweep.Job) (sweep.Outcome, error) {
	p, err := readPrediction(j.Spec)
	if err != nil {
		return sweep.Outcome{}, err
	}
	if err := p.sameTable(); err != nil {
		return sweep.Outcome{}, err
	}
	by, err := p.predictor(j)
	if err != nil {
		return sweep.Outcome{}, err
	}
	pool := compute.NewPool(j.Workers)
	defer pool.Close()
	file, err := table.Open(p.Table, p.reading(pool))
	if err != nil {
		return sweep.Outcome{}, err
	}
	defer file.Close()
	rows := newSpan(file, p.From, p.Rows)
	rows.tell = func(done int) { j.Tell(done, max(done, p.Rows), math.NaN()) }
	p.Continues = p.From > 0
	found := piece{}
	hash := sha256.New()
	err = atomicfile.Write(j.Stem+p.ending(), func(w io.Writer) (err error) {
		found.Summary, err = predictions.Write(ctx, by, rows, io.MultiWriter(w, hash), p.Output, pool)
		if err == nil && found.Rows < max(p.Rows, 1) {
			err = fmt.Errorf("%s has %d rows from row %d on, not %d; make the plan again", p.Table, found.Rows, p.From+1, p.Rows)
		}
		return err
	})
	if err != nil {
		return sweep.Outcome{}, err
	}
	found.Sum = hex.EncodeToString(hash.Sum(nil))
	return sweep.Outcome{Data: found, Metrics: map[string]float64{
		"rows": float64(found.Rows), "far": float64(found.Far), "abstained": float64(found.Abstained),
		"not_finite": float64(found.NotFinite), "unread": float64(found.Unread)}}, nil
}

// sameTable reports a table that has changed since the plan was made, as far as its size shows it.
func (p Prediction) sameTable() error {
	if p.Bytes == 0 {
		return nil
	}
	info, err := os.Stat(p.Table)
	if err != nil {
		return err
	}
	if info.Size() != p.Bytes {
		return fmt.Errorf("%s has %d bytes and had %d when the plan was made; make the plan again", p.Table, info.Size(), p.Bytes)
	}
	return nil
}

// sumOf is the SHA-256 of a file.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// A span is some successive rows of a table.
type span struct {
	table.Source
	skip int // rows still to be left out
	left int // rows still to come; below 0: all
	tell func(done int)
	done atomic.Int64
}

func newSpan(rows table.Source, from, n int) *span {
	if n == 0 {
		n = -1
	}
	return &span{Source: rows, skip: from, left: n, tell: func(int) {}}
}

func (s *span) Next() (*table.Chunk, error) {
	for s.left != 0 {
		c, err := s.Source.Next()
		if err != nil {
			return nil, err
		}
		to := c.Rows()
		from := min(s.skip, to)
		s.skip -= from
		if s.left >= 0 {
			to = min(to, from+s.left)
			s.left -= to - from
		}
		if from < to {
			return c.Keep(func(row int) bool { return from <= row && row < to }), nil
		}
	}
	return nil, io.EOF
}

// Done counts rows that are predicted.
func (s *span) Done(rows int) { s.tell(int(s.done.Add(int64(rows)))) }
