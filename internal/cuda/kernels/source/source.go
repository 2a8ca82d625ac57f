// Package source says how the kernels are compiled, and whether their PTX is that of
// their source.
package source

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A Target is one text of PTX.
type Target struct {
	PTX, Source   string
	Arch, Version string // of the card and of PTX
}

// Targets are all of them.
var Targets = []Target{
	{"base.ptx", "all.cu", "sm_75", "ptx64"},
	{"tensor.ptx", "tensor.cu", "sm_80", "ptx70"},
	{"formula.ptx", "compiled.cu", "sm_75", "ptx64"},
	{"fused.ptx", "fused.cu", "sm_80", "ptx70"},
	{"chain.ptx", "chain.cu", "sm_90", "ptx78"},
	{"quartet.ptx", "quartet.cu", "sm_90", "ptx80"},
	{"hopper.ptx", "hopper.cu", "sm_90a", "ptx80"},
	{"crowd.ptx", "crowd.cu", "sm_90a", "ptx81"},
	{"sensed.ptx", "sensed.cu", "sm_75", "ptx64"},
}

// Header returns the first lines of a PTX file: the hash of all sources in a folder and
// the hash of the rest of the file.
func Header(folder string, ptx []byte) (string, error) {
	var files []string
	for _, pattern := range []string{"*.cu", "*.h"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	h := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.Base(file), len(text))
		h.Write(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	}
	return fmt.Sprintf("// Compiled from CUDA C++ by go generate. DO NOT EDIT.\n// Sources: %x\n// Text: %x\n", h.Sum(nil), sha256.Sum256(ptx)), nil
}

// Check reports PTX that is older than its source, or was edited.
func Check(folder string, t Target) error {
	text, err := os.ReadFile(filepath.Join(folder, t.PTX))
	if err != nil {
		return err
	}
	rest := text
	for range 3 {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	want, err := Header(folder, rest)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(text, []byte(want)) {
		return fmt.Errorf("%s does not match its source; run go generate ./internal/cuda/kernels", t.PTX)
	}
	return nil
}
