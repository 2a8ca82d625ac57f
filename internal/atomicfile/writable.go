package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Writable tells whether files can be created in dir, or, where it does not
// exist, whether it could be made. It asks the system by creating and removing
// an empty file in the nearest folder that exists, and leaves nothing behind.
func Writable(dir string) error {
	if err := writable(filepath.Clean(dir)); err != nil {
		return fmt.Errorf("cannot write to the folder %s: %w", dir, err)
	}
	return nil
}

func writable(dir string) error {
	for {
		info, err := os.Stat(dir)
		if err == nil {
			if !info.IsDir() {
				return fmt.Errorf("%s is not a folder", dir)
			}
			break
		}
		if _, err := os.Lstat(dir); err == nil {
			return fmt.Errorf("%s is a link that leads nowhere", dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return bare(err)
		}
		if errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("%s cannot be entered: %w", up, bare(err))
		}
		dir = up
	}
	const probe = "probe"
	f, err := create(dir, probe)
	if err != nil {
		return err
	}
	sweep(f, dir, probe)
	f.Close()
	return bare(os.Remove(f.Name()))
}
