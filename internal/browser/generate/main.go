// Command generate builds the program that a page with a model inside runs, for builds with the
// tag page: program.gz and wasm_exec.js, in the current folder.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	err := generate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate() error {
	dir, err := os.MkdirTemp("", "utvi-page")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "utvi/internal/browser/program")
	// Whatever else the caller's environment chooses would change the bytes.
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWASM=")
	build.Stderr = os.Stderr
	err = build.Run()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = w.Write(program)
	if err != nil {
		return err
	}
	err = w.Close()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("%s has no glue for browsers: %w", runtime.Version(), err)
	}
	err = os.WriteFile("wasm_exec.js", glue, 0o666)
	if err != nil {
		return err
	}
	return os.WriteFile("program.gz", packed.Bytes(), 0o666)
}
