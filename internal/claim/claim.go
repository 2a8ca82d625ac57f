// Package claim marks folders of checkpoints with the fit that they hold, so that no other continues
// from there.
package claim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"utvi/internal/atomicfile"
	"utvi/internal/compute"
)

// ErrOther is wrapped by the error of a fit whose folder of checkpoints holds another one.
var ErrOther = errors.New("the fit of other rows or settings")

// Folder makes a folder for checkpoints and marks it with the settings of a fit and a digest of
// its rows. If it holds another fit, the error wraps ErrOther. Without a folder nothing is done.
func Folder(dir string, c any, digest string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	settings, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "fit.json")
	mark, err := json.Marshal(struct {
		Settings json.RawMessage `json:"settings"`
		Rows     string          `json:"rows"`
		Kernels  string          `json:"kernels"`
	}{settings, digest, compute.Family()})
	if err != nil {
		return err
	}
	have, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(mark); return err })
	case err != nil:
		return err
	case !bytes.Equal(have, mark):
		return fmt.Errorf("the folder %s holds %w", dir, ErrOther)
	}
	return nil
}
