package fitkind

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"utvi/internal/atomicfile"
	"utvi/internal/compute"
	"utvi/internal/predictions"
	"utvi/internal/sweep"
	"utvi/table"
)

// Predictions are the trials that predict tables, at most that many rows each. The tables are read once,
// to count their rows and to find what the model could not predict.
func Predictions(of Prediction, tables []string, most int) ([]sweep.Trial, error) {
	sum, err := sumOf(of.Model)
	if err != nil {
		return nil, err
	}
	of.ModelSum = sum
	by, err := of.predictor(sweep.Job{})
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	pool := compute.NewPool(compute.Workers(0))
	defer pool.Close()
	var trials []sweep.Trial
	for _, path := range tables {
		p := of
		p.Table = path
		if err := p.check(); err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		p.Bytes = info.Size()
		rows, err := p.count(pool, func(h *table.Header) error {
			if by.Model().Schema == nil {
				return nil
			}
			_, err := by.Model().Schema.Bind(h)
			return err
		})
		if err != nil {
			return nil, err
		}
		p.Into = nameOf(path, taken)
		pieces := (rows + most - 1) / most
		digits := len(fmt.Sprint(max(pieces-1, 1)))
		for k := range pieces {
			p.From = k * most
			p.Rows = min(most, rows-p.From)
			trials = append(trials, sweep.NewTrial("predict", fmt.Sprintf("%s_%0*d", p.Into, digits, k), p.Into, float64(p.Rows), p))
		}
	}
	return trials, nil
}

// count reads the table and returns the number of its rows.
func (p Prediction) count(pool *compute.Pool, bind func(*table.Header) error) (rows int, err error) {
	f, err := table.Open(p.Table, p.reading(pool))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := bind(f.Header()); err != nil {
		return 0, err
	}
	for _, name := range p.Keep {
		if f.Header().Column(name) < 0 {
			return 0, fmt.Errorf("%s has no column %s to keep", p.Table, name)
		}
	}
	err = table.Each(f, func(c *table.Chunk) error {
		rows += c.Rows()
		return nil
	})
	return rows, err
}

// nameOf is the name of a file without its ending, as names of trials may be, and as no other is.
func nameOf(path string, taken map[string]bool) string {
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	stem = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, stem)
	const most = 80
	stem = stem[:min(len(stem), most)]
	if strings.Trim(stem, "-") == "" || stem[0] == '-' {
		stem = "table" + stem
	}
	free := stem
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", stem, i)
	}
	taken[free] = true
	return free
}

// Joined are the predictions of a table that stand in one file.
type Joined struct {
	File        string
	Rows        int
	Unread      int // rows with a cell that could not be read
	FirstUnread string
	NotFinite   int // rows without a finite prediction
}

// Join puts what trials of kind "predict" wrote together, a file in a folder for each table whose
// trials are all done. left counts the other tables.
func Join(dir, to string, all []sweep.TrialStatus) (joined []Joined, left int, err error) {
	var order []string
	of := map[string][]sweep.TrialStatus{}
	specs := map[string]Prediction{}
	for _, x := range all {
		if x.Trial.Kind != "predict" {
			continue
		}
		p, err := readPrediction(x.Trial.Spec)
		if err != nil {
			return nil, 0, fmt.Errorf("trial %d, %s: %w", x.Trial.Index, x.Trial.Name, err)
		}
		into := p.Into
		if into == "" {
			into = strings.TrimSuffix(x.Trial.Name, p.ending())
		}
		if of[into] == nil {
			order = append(order, into)
			specs[into] = p
		}
		of[into] = append(of[into], x)
	}
	for _, into := range order {
		done := true
		for _, x := range of[into] {
			done = done && x.State == sweep.Done
		}
		if !done {
			left++
			continue
		}
		j, err := join(dir, filepath.Join(to, into+specs[into].ending()), of[into])
		if err != nil {
			return joined, left, err
		}
		joined = append(joined, j)
	}
	return joined, left, nil
}

// join writes a file of all pieces, whole or not at all.
func join(dir, path string, pieces []sweep.TrialStatus) (Joined, error) {
	j := Joined{File: path}
	err := atomicfile.Write(path, func(w io.Writer) error {
		for _, x := range pieces {
			p, err := readPrediction(x.Trial.Spec)
			if err != nil {
				return err
			}
			if p.From > 0 && p.From != j.Rows {
				return fmt.Errorf("%s begins at row %d, and %d rows stand before it; make the plan again", x.Trial.Name, p.From+1, j.Rows)
			}
			s, err := copyPiece(w, dir, p, x)
			if err != nil {
				return err
			}
			j.Rows += s.Rows
			j.NotFinite += s.NotFinite
			if j.Unread == 0 {
				j.FirstUnread = s.FirstUnread
			}
			j.Unread += s.Unread
		}
		return nil
	})
	return j, err
}

// copyPiece writes what a trial wrote, and compares it with the sum of its result.
func copyPiece(w io.Writer, dir string, p Prediction, x sweep.TrialStatus) (predictions.Summary, error) {
	var found piece
	if err := x.Result.Decode(&found); err != nil {
		return found.Summary, err
	}
	path := filepath.Join(dir, x.Trial.ID()+p.ending())
	again := fmt.Sprintf("remove %s and run the plan again", sweep.ResultPath(dir, x.Trial))
	f, err := os.Open(path)
	if err != nil {
		return found.Summary, fmt.Errorf("%w; %s", err, again)
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, hash), f); err != nil {
		return found.Summary, err
	}
	if hex.EncodeToString(hash.Sum(nil)) != found.Sum {
		return found.Summary, fmt.Errorf("%s is not what its trial wrote; %s", path, again)
	}
	return found.Summary, nil
}
