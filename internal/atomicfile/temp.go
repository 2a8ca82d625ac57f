package atomicfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleAfter is far longer than a living process leaves its file unwritten.
const staleAfter = time.Hour

const tempDigits = 16

// create opens a new temporary file for name. os.CreateTemp would give 0600,
// and the umask is only ours to apply through open.
func create(dir, name string) (*os.File, error) {
	for {
		temp := fmt.Sprintf("%s%0*x", tempPrefix(name), tempDigits, rand.Uint64())
		var f *os.File
		err := call("create", func() (err error) {
			f, err = os.OpenFile(filepath.Join(dir, temp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			return err
		})
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err == nil:
			return f, nil
		}
		if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
			return nil, missingFolder(dir)
		}
		return nil, bare(err)
	}
}

// missingFolder is the error about a folder that does not exist: an fs.ErrNotExist.
type missingFolder string

func (dir missingFolder) Error() string { return "the folder " + string(dir) + " does not exist" }
func (missingFolder) Unwrap() error     { return fs.ErrNotExist }

func tempPrefix(name string) string { return "." + name + ".tmp-" }

// isTemp reports whether file is a temporary file of name, and not of some
// other file whose name begins alike.
func isTemp(file, name string) bool {
	digits, ok := strings.CutPrefix(file, tempPrefix(name))
	_, err := hex.DecodeString(digits)
	return ok && len(digits) == tempDigits && err == nil
}

// sweep removes stale temporary files of name. Age is counted from the time of
// the newborn tmp: a file server's clock need not be ours. Failing is no harm.
func sweep(tmp *os.File, dir, name string) {
	now, err := tmp.Stat()
	if err != nil {
		return
	}
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if !f.Type().IsRegular() || !isTemp(f.Name(), name) {
			continue
		}
		if info, err := f.Info(); err == nil && now.ModTime().Sub(info.ModTime()) > staleAfter {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
