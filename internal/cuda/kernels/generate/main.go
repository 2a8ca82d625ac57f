// Command generate compiles the kernels to PTX with clang 19 (clang++-19, or the
// compiler that CLANG names).
package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"

	"utvi/internal/cuda/kernels/source"
)

func main() {
	for _, t := range source.Targets {
		if err := compile(t); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}

func compile(t source.Target) error {
	args := append([]string{"-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-std=c++20",
		"-O3", "-ffp-contract=off", "-fno-exceptions", "-S", "-o", "-",
		"--cuda-gpu-arch=" + t.Arch, "-Xclang", "-target-feature", "-Xclang", "+" + t.Version}, t.Source)
	cmd := exec.Command(cmp.Or(os.Getenv("CLANG"), "clang++-19"), args...)
	cmd.Stderr = os.Stderr
	ptx, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", t.Source, err)
	}
	head, err := source.Header(".", ptx)
	if err != nil {
		return err
	}
	return os.WriteFile(t.PTX, append([]byte(head), ptx...), 0o644)
}
