package pixels

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A File is an image file of a folder.
type File struct {
	Path  string // from the folder on, with slashes
	Class string // the subfolder that it lies in; "": it lies in none
	Test  bool   // it lies in the part that is for testing
}

// Found is what a folder holds.
type Found struct {
	Files  []File // in the order of their paths
	Others int    // files that are no images by their names
	Parted bool   // the folder has parts to train and to test with
}

// extensions are those of image files.
var extensions = []string{".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"}

// The names of subfolders that are parts, not classes.
var (
	trainNames = []string{"train", "training"}
	testNames  = []string{"test", "testing"}
	validNames = []string{"val", "valid", "validation"}
)

// Find lists the image files of a folder. Every subfolder is a class, with all images in it, however
// deep; or the subfolders are parts, train and test (or, without a test, val), with a subfolder for
// each class. A val beside a test is for training: which images choose the networks is drawn by lot.
func Find(folder string) (*Found, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", folder, bare(err))
	}
	var subfolders []string
	for _, e := range entries {
		if isFolder(folder, e) && !hidden(e.Name()) {
			subfolders = append(subfolders, e.Name())
		}
	}
	f := &Found{}
	train := named(subfolders, trainNames)
	test := named(subfolders, testNames)
	valid := named(subfolders, validNames)
	if test == "" {
		test, valid = valid, ""
	}
	if train == "" || test == "" || len(subfolders) > 3 || len(subfolders) == 3 && valid == "" {
		err = f.classes(folder, "", false)
		return f.sorted(), err
	}
	f.Parted = true
	for _, part := range []string{train, valid, test} {
		if part == "" {
			continue
		}
		if err := f.classes(folder, part, part == test); err != nil {
			return nil, err
		}
	}
	return f.sorted(), nil
}

// named is the first of some names, in small letters or large, that is one of others.
func named(some, others []string) string {
	at := slices.IndexFunc(some, func(name string) bool { return slices.Contains(others, strings.ToLower(name)) })
	if at < 0 {
		return ""
	}
	return some[at]
}

// classes adds the images of a part of a folder.
func (f *Found) classes(folder, part string, test bool) error {
	root := filepath.Join(folder, part)
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("cannot read the folder %s: %w", root, bare(err))
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case hidden(name):
		case isFolder(root, e):
			if err := f.class(folder, path.Join(part, name), name, test); err != nil {
				return err
			}
		default:
			f.add(path.Join(part, name), "", test)
		}
	}
	return nil
}

// class adds all images in the folder of a class.
func (f *Found) class(folder, from, name string, test bool) error {
	root := filepath.Join(folder, from)
	real, err := filepath.EvalSymlinks(root) // a walk does not follow links
	if err != nil {
		return fmt.Errorf("cannot read the folder %s: %w", root, bare(err))
	}
	return filepath.WalkDir(real, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("cannot read the folder %s: %w", at, bare(err))
		}
		switch {
		case hidden(e.Name()) && e.IsDir() && at != real:
			return filepath.SkipDir
		case e.IsDir() || hidden(e.Name()):
			return nil
		}
		inside, err := filepath.Rel(real, at)
		if err != nil {
			return err
		}
		f.add(path.Join(from, filepath.ToSlash(inside)), name, test)
		return nil
	})
}

// IsImage reports whether a file is an image by its name.
func IsImage(file string) bool { return slices.Contains(extensions, strings.ToLower(path.Ext(file))) }

func (f *Found) add(file, class string, test bool) {
	if !IsImage(file) {
		f.Others++
		return
	}
	f.Files = append(f.Files, File{Path: file, Class: class, Test: test})
}

func (f *Found) sorted() *Found {
	slices.SortFunc(f.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return f
}

// hidden reports names that file managers make.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__MACOSX" }

// isFolder reports whether an entry is a folder, or a link to one.
func isFolder(root string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(root, e.Name()))
	return err == nil && info.IsDir()
}

// bare takes the operation and the path off an error.
func bare(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}
