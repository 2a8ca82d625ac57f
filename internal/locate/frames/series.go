package frames

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// expand replaces folders by their files, and adds the files that Micro-Manager splits off.
func expand(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			all = append(all, path)
			continue
		}
		files, err := folder(path)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	if len(paths) != 1 || len(all) != 1 {
		return all, nil
	}
	return append(all, splits(all[0])...), nil
}

// folder lists the TIFF files of a folder in the order of the numbers in their names.
func folder(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && isTIFF(e.Name()) && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no .tif or .tiff file in this folder", dir)
	}
	slices.SortFunc(files, natural)
	return files, nil
}

// Stacks are the stacks that a path stands for: itself, if it is a file; those in a folder and in the
// folders in it. A folder with one frame in each file is one stack, and so are the files of a series that
// Micro-Manager has split.
func Stacks(path string) (all []string, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // what is wrong with it is found when it is opened
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return natural(a.Name(), b.Name()) })
	more := map[string]bool{} // behind the first file of a series
	single := 0               // files with one frame
	for _, e := range entries {
		in := filepath.Join(path, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			deeper, err := Stacks(in)
			if err != nil {
				return nil, err
			}
			all = append(all, deeper...)
		case isStack(e.Name()) && !more[in]:
			for _, m := range splits(in) {
				more[m] = true
			}
			if oneFrame(in) {
				single++
			}
			all = append(all, in)
		}
	}
	if single > 1 {
		all = slices.DeleteFunc(all, func(p string) bool { return filepath.Dir(p) == path && isTIFF(p) })
		all = append(all, path)
	}
	return all, nil
}

// oneFrame reports whether a file is a TIFF with one frame, of which a folder makes a stack.
func oneFrame(path string) bool {
	if !isTIFF(path) {
		return false
	}
	l, _, err := inspect(path)
	return err == nil && l.frames() == 1
}

func isStack(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return isTIFF(name) || ext == ".raw" || ext == ".npy"
}

func isTIFF(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".tif" || ext == ".tiff"
}

// natural compares names so that img2 comes before img10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, restA := digits(a)
		y, restB := digits(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
		if c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) (number, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

// splits finds the files that continue a stack of Micro-Manager, which begins another file every
// 4 GB: a.ome.tif, a_1.ome.tif, a_2.ome.tif …, and likewise a_NDTiffStack.tif.
func splits(path string) (more []string) {
	for _, end := range []string{".ome.tif", "NDTiffStack.tif"} {
		stem, ok := strings.CutSuffix(path, end)
		if !ok {
			continue
		}
		if end != ".ome.tif" {
			stem += strings.TrimSuffix(end, ".tif")
			end = ".tif"
		}
		for i := 1; ; i++ {
			next := fmt.Sprintf("%s_%d%s", stem, i, end)
			if _, err := os.Stat(next); err != nil {
				return more
			}
			more = append(more, next)
		}
	}
	return nil
}
