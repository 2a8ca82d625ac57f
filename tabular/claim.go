package tabular

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"utvi/internal/atomicfile"
	"utvi/internal/compute"
)

// ErrOtherFit is wrapped by the error of a fit whose folder of checkpoints holds another one.
var ErrOtherFit = errors.New("the fit of other rows or settings")

// claim makes the folder and marks it with the rows and settings whose fit it
// holds, so that no other continues from there.
func claim(dir string, c Config, d Data) error {
	if dir == "" {
		return nil // without the cost of a digest
	}
	return ClaimFolder(dir, c, d.digest())
}

// ClaimFolder makes a folder for checkpoints and marks it with the settings of a fit and a digest of
// its rows. If it holds another fit, the error wraps ErrOtherFit. Without a folder nothing is done.
func ClaimFolder(dir string, c any, digest string) error {
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
		return fmt.Errorf("the folder %s holds %w", dir, ErrOtherFit)
	}
	return nil
}

// digest is different for different data.
func (d Data) digest() string {
	h := sha256.New()
	put := func(x any) { binary.Write(h, binary.LittleEndian, x) } // a hash takes everything
	put([]int64{int64(d.X.Rows), int64(d.X.Width), int64(d.Outputs()), int64(d.Classes), int64(len(d.X.Var)), int64(len(d.Weights)), int64(len(d.Groups))})
	put(d.Ordered)
	for _, x := range [][]float32{d.X.Mean, d.X.Var, d.Y, d.Weights} {
		for part := range slices.Chunk(x, 1<<12) { // binary.Write makes a copy
			put(part)
		}
	}
	put(d.Groups)
	put(d.Zero)
	put(d.Step)
	for _, n := range d.Levels {
		put(int64(n))
	}
	return hex.EncodeToString(h.Sum(nil))
}
