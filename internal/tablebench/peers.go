package tablebench

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"utvi/fit"
	"utvi/table"
)

//go:embed peers.py
var peers string

// Export writes the tables that scikit-learn and statsmodels bring to a folder.
func Export(ctx context.Context, python, folder string) error {
	_, err := script(ctx, python, nil, "export", folder)
	return err
}

// script runs peers.py.
func script(ctx context.Context, python string, input []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, python, append([]string{"-c", peers}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	var out, said bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lines := bytes.Split(bytes.TrimSpace(said.Bytes()), []byte("\n"))
		return nil, fmt.Errorf("%s with the peers' script: %w: %s", python, err, lines[len(lines)-1])
	}
	return out.Bytes(), nil
}

// RunPeers is Run of the peers, which a Python with scikit-learn runs.
func (t Table) RunPeers(ctx context.Context, k int, python string) (Result, error) {
	r := Result{Table: t.Name, Task: t.Task, Split: k}
	f, err := fit.ReadTable(t.File, table.Options{})
	if err != nil {
		return r, err
	}
	train, test, err := t.split(f, k)
	if err != nil {
		return r, err
	}
	r.Rows = len(train)
	r.Test = len(test)
	dir, err := os.MkdirTemp("", "utvi-peers-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	files := [2]string{filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv")}
	if err := copyRows(t.File, f.Len(), files, [2][]int{train, test}); err != nil {
		return r, err
	}
	input, err := json.Marshal(struct {
		Table
		Train string `json:"train"`
		Test  string `json:"test"`
		Seed  int    `json:"seed"`
	}{t, files[0], files[1], k})
	if err != nil {
		return r, err
	}
	out, err := script(ctx, python, input, "score")
	if err != nil {
		return r, fmt.Errorf("%s, split %d: %w", t.Name, k, err)
	}
	return r, json.Unmarshal(out, &r.Methods)
}

// copyRows writes rows of a file of comma-separated values to others, as they are.
func copyRows(from string, rows int, to [2]string, which [2][]int) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	records, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		return err
	}
	if len(records) != rows+1 {
		return fmt.Errorf("%s has %d records, but %d rows and a head were read", from, len(records), rows)
	}
	for i, path := range to {
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		err := w.Write(records[0])
		for _, row := range which[i] {
			err = cmp.Or(err, w.Write(records[row+1]))
		}
		w.Flush()
		if err := cmp.Or(err, w.Error(), os.WriteFile(path, out.Bytes(), 0o666)); err != nil {
			return err
		}
	}
	return nil
}
