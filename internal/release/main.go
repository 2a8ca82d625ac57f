// Command release builds what people install: for each system an archive with the program, its
// licences, completions, manual pages and a list of its modules; Python wheels with the program
// inside; Debian packages; an image for containers; and the checksums of them all.
//
//	go run ./internal/release -o out
//
// It runs in a clone without changes, and the same commit and version of Go give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("o", "out/release", "folder to write to")
	only := flag.String("only", "", "names of platforms to build for, with commas between them (default all)")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unexpected argument %q; release takes only flags", flag.Arg(0)))
	}
	if err := release(*out, *only); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "release:", err)
	os.Exit(1)
}

// release builds everything for the chosen platforms.
func release(out, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	c, err := readCommit()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "utvi-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	err = generatePage()
	if err != nil {
		return fmt.Errorf("the program of pages: %w", err)
	}
	common, err := commonFiles(c, work)
	if err != nil {
		return err
	}
	var made []file
	var programs []program
	for _, p := range chosen {
		fmt.Fprintln(os.Stderr, "building for", p.name)
		b, err := build(c, p, work)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		programs = append(programs, b)
		packages, err := pack(c, b, common)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		made = append(made, packages...)
	}
	image, err := ociImage(c, programs)
	if err != nil {
		return err
	}
	made = append(made, image...)
	return write(out, append(made, checksums(made)))
}

// pack makes all packages of one platform.
func pack(c commit, b program, common []file) ([]file, error) {
	a, err := archive(c, b, common)
	if err != nil {
		return nil, err
	}
	w, err := wheel(c, b)
	if err != nil {
		return nil, err
	}
	made := []file{a, w}
	if b.debian != "" {
		d, err := debian(c, b, common)
		if err != nil {
			return nil, err
		}
		made = append(made, d)
	}
	return made, nil
}

// write fills the folder, and tells the sizes.
func write(out string, made []file) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for _, f := range made {
		if err := os.WriteFile(filepath.Join(out, f.name), f.data, 0o666); err != nil {
			return err
		}
		fmt.Printf("%8.2f MB  %s\n", float64(len(f.data))/1e6, f.name)
	}
	return nil
}

// choose returns the platforms of that name.
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var chosen []platform
	var names []string
	wanted := strings.Split(only, ",")
	for _, p := range platforms {
		names = append(names, p.name)
		for _, w := range wanted {
			if w == p.name {
				chosen = append(chosen, p)
			}
		}
	}
	if len(chosen) != len(wanted) {
		return nil, fmt.Errorf("-only is %q; the platforms are %s", only, strings.Join(names, ", "))
	}
	return chosen, nil
}
